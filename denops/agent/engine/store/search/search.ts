/**
 * Full-text search over a project's sessions. The index only knows which entries contain a word; the texts are in the
 * turns.
 */
import { type LogEntry, wordsOf } from "../../log/entries.ts";
import type { TurnLog } from "../log/turn_log.ts";
import type { Sql } from "../sql.ts";

/** Searchable characters of one text, because a tool's output may be a whole file. */
const MOST_SAID = 50_000;
const MOST_OUTPUT = 2_000;

/** Words of an excerpt, and places of one text that are compared. */
const EXCERPT_WORDS = 24;
const MOST_PLACES = 100;

interface SearchText {
  readonly session: string;
  readonly turn: number;
  /** The number of the entry that has the text. */
  readonly seq: number;
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
}

export interface Hit {
  readonly sessionId: string;
  readonly title: string;
  readonly turn: number;
  readonly role: string;
  /** One line around the match. */
  readonly text: string;
  readonly time: number;
}

export function addText(database: Sql, { session, turn, seq, role, text }: SearchText): void {
  const found = searched(role, text);
  if (found === "") return;
  const { changes, lastInsertRowid } = database.run(
    "INSERT INTO search_texts (turn, seq) SELECT id, ? FROM turns WHERE session = ? AND turn = ?",
    seq,
    session,
    turn,
  );
  if (changes > 0) database.run("INSERT INTO search (rowid, text) VALUES (?, ?)", lastInsertRowid, found);
}

/** Texts that have all words of the query, the last one as the beginning of a word; the best first. */
export function search(database: Sql, log: TurnLog, query: string, limit: number): readonly Hit[] {
  const match = matchOf(query);
  if (match === "") return [];
  const rows = database.all(
    `SELECT session, turns.turn AS turn, seq
     FROM search JOIN search_texts ON search_texts.id = search.rowid JOIN turns ON turns.id = search_texts.turn
     WHERE search MATCH ? ORDER BY rank, search_texts.id DESC LIMIT ?`,
    match,
    limit,
  );
  const terms = termsOf(query);
  return rows.flatMap((row): Hit[] => {
    const [session, turn] = [String(row.session), Number(row.turn)];
    const entry = log.entry(session, turn, Number(row.seq));
    const content = searchable(entry?.entry);
    if (entry === undefined || content === undefined) return [];
    const { role, text } = content;
    const found = { role, text: excerpt(searched(role, text), terms), time: entry.time };
    const parent = parentOf(database, session) ?? { session, turn };
    return ownersOf(database, parent.session, parent.turn)
      .map((owner) => ({ ...owner, turn: parent.turn, ...found }));
  }).slice(0, limit);
}

/** For a sub-agent's session: the place where it was started. */
function parentOf(database: Sql, session: string): Pick<SearchText, "session" | "turn"> | undefined {
  const row = database.get(
    `SELECT parent, calls.turn AS turn FROM sessions JOIN calls ON calls.session = parent AND calls.id = call
     WHERE sessions.id = ?`,
    session,
  );
  return row && { session: String(row.parent), turn: Number(row.turn) };
}

/** The session and the forks that share the turn. */
function ownersOf(
  database: Sql,
  session: string,
  turn: number,
): readonly Pick<Hit, "sessionId" | "title">[] {
  return database.all(
    `WITH RECURSIVE owners(id) AS (
       SELECT ?1 UNION SELECT sessions.id FROM sessions JOIN owners ON parent = owners.id WHERE shared >= ?2
     )
     SELECT id, title FROM owners JOIN sessions USING (id) WHERE deleted = 0 ORDER BY created, id`,
    session,
    turn,
  ).map(({ id, title }) => ({ sessionId: String(id), title: String(title) }));
}

/** Types of searchable entries. */
export const SEARCHED: ReadonlySet<string> = new Set([
  ...["user_message", "steered", "assistant_message", "tool_result"] satisfies LogEntry["type"][],
]);

/** The searchable text of an entry: the user's or the model's words, or a call's result. */
export function searchable(entry: LogEntry | undefined): Pick<SearchText, "role" | "text"> | undefined {
  switch (entry?.type) {
    case "user_message":
      return { role: "user", text: wordsOf(entry) };
    case "steered":
      return { role: "user", text: entry.text };
    case "assistant_message":
      return { role: "assistant", text: entry.text };
    case "tool_result":
      return { role: "tool", text: entry.text };
    default:
      return undefined;
  }
}

function searched(role: string, text: string): string {
  return text.slice(0, role === "tool" ? MOST_OUTPUT : MOST_SAID).trim();
}

/** Quoted, so that FTS5 interprets nothing. */
function matchOf(query: string): string {
  const words = query.split(/\s+/).filter((word) => /[\p{L}\p{N}_]/u.test(word))
    .map((word) => `"${word.replaceAll("\0", "").replaceAll('"', '""')}"`);
  return words.length === 0 ? "" : `${words.join(" ")}*`;
}

/** Approximates FTS5's words. */
const WORD = /[\p{L}\p{N}\p{Co}_]+/gu;

function termsOf(query: string): readonly string[] {
  return [...query.matchAll(WORD)].map(([word]) => folded(word));
}

function folded(word: string): string {
  return word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** One line around the earliest place with the most terms. */
function excerpt(text: string, terms: readonly string[]): string {
  const words = [...text.matchAll(WORD)];
  const last = terms.at(-1) ?? "";
  const hits = words.flatMap(([word], at) => {
    const known = folded(word);
    const term = terms.find((one) => one === known) ?? (known.startsWith(last) ? last : undefined);
    return term === undefined ? [] : [{ at, term }];
  }).slice(0, MOST_PLACES);
  const found = hits.map(({ at }) => {
    const around = hits.filter((other) => other.at >= at && other.at < at + EXCERPT_WORDS);
    return { at, terms: new Set(around.map(({ term }) => term)).size };
  });
  const best = found.reduce((most, one) => one.terms > most.terms ? one : most, { at: 0, terms: 0 });
  // A few words of context before it.
  const first = Math.max(0, Math.min(best.at - EXCERPT_WORDS / 4, words.length - EXCERPT_WORDS));
  const from = first === 0 ? 0 : words[first]?.index ?? 0;
  const to = words[first + EXCERPT_WORDS]?.index;
  const part = text.slice(from, to).replace(/\s+/g, " ").trim();
  return `${from === 0 ? "" : "…"}${part}${to === undefined ? "" : "…"}`;
}
