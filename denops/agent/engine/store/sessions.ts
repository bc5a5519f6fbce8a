/** The stored conversations as a list: what there is, and what the user does with one as a whole. */
import { z } from "../../deps/zod.ts";
import { ToolError } from "../core/errors.ts";
import type { StoredSession } from "../core/ports.ts";
import type { Database } from "./database.ts";
import { type Hit, search } from "./search.ts";
import { leaveContents } from "./unnamed.ts";

export interface SessionSummary extends StoredSession {
  /** Files that its tools and commands have changed. */
  readonly files: number;
  /** Of all its requests. */
  readonly tokens: number;
}

/** Where a page of the list ends; the next one begins behind it. */
export interface Place {
  readonly updated: number;
  readonly id: string;
}

/** Turns begun: a conversation without any is nothing that a user has seen. */
const BEGUN = "turns > 0";

export class StoredSessions {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The newest first. */
  list(archived: boolean): readonly SessionSummary[] {
    return this.#database.all(
      `SELECT *,
         (SELECT count(DISTINCT path) FROM checkpoints JOIN checkpoint_files ON checkpoint = checkpoints.id
          WHERE session = sessions.id AND checkpoints.kind IN ('tool', 'command')) AS files,
         (SELECT total(input + output) FROM usage WHERE session = sessions.id) AS tokens
       FROM sessions WHERE ${BEGUN} AND archived = ? ORDER BY updated DESC, id`,
      archived ? 1 : 0,
    ).map((row) => ({ ...storedSession(row), files: Number(row.files), tokens: Number(row.tokens) }));
  }

  /** Those that are not archived, the newest first, from behind `after` on. */
  page(after: Place | undefined, most: number): readonly StoredSession[] {
    const { updated, id } = after ?? { updated: Number.MAX_SAFE_INTEGER, id: "" };
    return this.#database.all(
      `SELECT * FROM sessions WHERE ${BEGUN} AND archived = 0 AND (updated < ? OR (updated = ? AND id > ?))
       ORDER BY updated DESC, id LIMIT ?`,
      updated,
      updated,
      id,
      most,
    ).map(storedSession);
  }

  /** @throws {ToolError} if there is no such session */
  get(id: string): StoredSession {
    const row = this.#database.get(`SELECT * FROM sessions WHERE id = ? AND ${BEGUN}`, id);
    if (row === undefined) throw notThere();
    return storedSession(row);
  }

  /** @throws {ToolError} if there is no such session */
  rename(id: string, title: string): void {
    this.#change(id, "title = ?", title);
  }

  /** @throws {ToolError} if there is no such session */
  archive(id: string, archived: boolean): void {
    this.#change(id, "archived = ?", archived ? 1 : 0);
  }

  #change(id: string, what: string, value: string | number): void {
    const { changes } = this.#database.run(
      `UPDATE sessions SET ${what} WHERE id = ? AND ${BEGUN}`,
      value,
      id,
    );
    if (changes === 0) throw notThere();
  }

  /** With all that belongs to it; what it has cost stays. Nothing if there is none. */
  remove(id: string): void {
    this.#database.transaction(() => {
      leaveContents(this.#database, id);
      this.#database.run("DELETE FROM search_texts WHERE session = ?", id);
      this.#database.run("DELETE FROM sessions WHERE id = ?", id);
    });
  }

  /** Those that are not archived and that nothing was added to since `time`, milliseconds since 1970. */
  untouchedSince(time: number): readonly string[] {
    return this.#database.all("SELECT id FROM sessions WHERE archived = 0 AND updated < ?", time)
      .map(({ id }) => String(id));
  }

  /**
   * A new session with everything up to the end of `turn`, or up to now; a turn that is going on ends there.
   * Its files stay the first one's to take back.
   * @throws {ToolError} if there is no such session or turn
   */
  fork(id: string, turn?: number): StoredSession {
    return this.#database.transaction(() => {
      const source = this.get(id);
      const last = turn ?? source.turns;
      if (last > source.turns) throw new ToolError(`The conversation has ${source.turns} turns only.`);
      const copy = crypto.randomUUID();
      const now = Date.now();
      this.#database.run(
        `INSERT INTO sessions (id, title, root, mode, model, parent, branch, created, updated, turns, memory)
         SELECT ?, ?, root, mode, model, id, branch, ?, ?, ?, ? FROM sessions WHERE id = ?`,
        copy,
        `${source.title} (fork)`,
        now,
        now,
        last,
        this.#memoryAt(id, last, source.turns),
        id,
      );
      for (const [table, columns] of COPIED) {
        const sql =
          `INSERT INTO ${table} (session, ${columns}) SELECT ?, ${columns} FROM ${table} WHERE session = ?`;
        if (table === "payload_blobs") this.#database.run(sql, copy, id);
        else this.#database.run(`${sql} AND turn <= ? ORDER BY turn`, copy, id, last);
      }
      return this.get(copy);
    });
  }

  /**
   * What the session remembered at the end of a turn, as it is stored. What the model had read by then is known for
   * the last turn only: before that it reads again.
   */
  #memoryAt(id: string, turn: number, turns: number): string {
    const row = this.#database.get("SELECT memory FROM sessions WHERE id = ?", id);
    const memory = Stored.parse(JSON.parse(String(row?.memory)));
    const own = { spent: undefined, titled: true };
    if (turn === turns) return JSON.stringify({ ...memory, ...own });
    const plan = this.#database.get(
      "SELECT payload FROM events WHERE session = ? AND turn <= ? AND kind = 'plan' ORDER BY turn DESC, seq DESC LIMIT 1",
      id,
      turn,
    );
    const steps = plan === undefined ? {} : { plan: Stored.parse(JSON.parse(String(plan.payload))).steps };
    return JSON.stringify({ tools: memory.tools, ...steps, ...own });
  }

  search(query: string, limit: number): readonly Hit[] {
    return search(this.#database, query, limit);
  }
}

/** Any object as it is stored. */
const Stored = z.record(z.string(), z.unknown());

/** What a fork takes over, by table: the columns beside the session. */
const COPIED = [
  ["events", "seq, turn, kind, payload, time"],
  ["messages", "seq, turn, role, payload"],
  ["search_texts", "turn, role, time, text"],
  ["payload_blobs", "blob"],
] as const;

function notThere(): ToolError {
  return new ToolError("This conversation is not stored any more: it was deleted.");
}

export function storedSession(row: Readonly<Record<string, unknown>>): StoredSession {
  return {
    id: String(row.id),
    title: String(row.title),
    root: String(row.root),
    model: String(row.model),
    created: Number(row.created),
    updated: Number(row.updated),
    archived: row.archived === 1,
    turns: Number(row.turns),
    ...(typeof row.parent === "string" ? { parent: row.parent } : {}),
    ...(typeof row.branch === "string" ? { branch: row.branch } : {}),
  };
}
