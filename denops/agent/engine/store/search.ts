/** The full-text search over all conversations of a project. */
import type { Database } from "./database.ts";

/** Characters of one text that can be found: a tool's output may be a whole file. */
const MOST_SAID = 50_000;
const MOST_OUTPUT = 4_000;

/** Words around what was found. */
const EXCERPT_WORDS = 24;

export interface SearchText {
  readonly session: string;
  readonly turn: number;
  readonly role: "user" | "assistant" | "tool";
  readonly time: number;
  readonly text: string;
}

export interface Hit {
  readonly sessionId: string;
  readonly title: string;
  readonly turn: number;
  readonly role: string;
  /** One line around what was found. */
  readonly text: string;
  readonly time: number;
}

export function addText(database: Database, { session, turn, role, time, text }: SearchText): void {
  const found = text.slice(0, role === "tool" ? MOST_OUTPUT : MOST_SAID).trim();
  if (found === "") return;
  database.run(
    "INSERT INTO search_texts (session, turn, role, time, text) VALUES (?, ?, ?, ?, ?)",
    session,
    turn,
    role,
    time,
    found,
  );
}

/** Texts that have all words of the query, the last one as the beginning of a word; the best first. */
export function search(database: Database, query: string, limit: number): readonly Hit[] {
  const match = matchOf(query);
  if (match === "") return [];
  return database.all(
    `SELECT session, turn, role, time, title, snippet(search, 0, '', '', '…', ${EXCERPT_WORDS}) AS excerpt
     FROM search JOIN search_texts ON search_texts.id = search.rowid JOIN sessions ON sessions.id = session
     WHERE search MATCH ? ORDER BY rank, search_texts.id DESC LIMIT ?`,
    match,
    limit,
  ).map(({ session, turn, role, time, title, excerpt }) => ({
    sessionId: String(session),
    title: String(title),
    turn: Number(turn),
    role: String(role),
    text: String(excerpt).replace(/\s+/g, " ").trim(),
    time: Number(time),
  }));
}

/** In quotes no word means anything to FTS5. */
function matchOf(query: string): string {
  const words = query.split(/\s+/).filter((word) => /[\p{L}\p{N}_]/u.test(word))
    .map((word) => `"${word.replaceAll("\0", "").replaceAll('"', '""')}"`);
  return words.length === 0 ? "" : `${words.join(" ")}*`;
}
