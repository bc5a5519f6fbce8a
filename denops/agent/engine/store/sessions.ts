/** The list of stored sessions, and operations on whole sessions. */
import { ToolError } from "../../shared/errors.ts";
import type { StoredSession } from "../ports/store.ts";
import { Blobs } from "./blobs.ts";
import type { Database } from "./database.ts";
import { rangesOf } from "./lineage.ts";
import { SessionMemory } from "./memory.ts";
import { type Hit, search } from "./search/search.ts";
import { TurnLog } from "./log/turn_log.ts";

interface SessionSummary extends StoredSession {
  /** Files that its tools and commands changed. */
  readonly files: number;
  /** Tokens of all its requests. */
  readonly tokens: number;
}

/** The end of a page; the next one continues there. */
export interface Place {
  readonly updated: number;
  readonly id: string;
}

/** No engine takes a day to end. */
const WITHDRAWN_MS = 24 * 60 * 60 * 1_000;

/** A session without turns was never visible. */
const BEGUN = "turns > 0 AND deleted = 0";
/** Sub-agents' sessions are listed under their parents. */
const LISTED = `${BEGUN} AND call IS NULL`;

export class StoredSessions {
  readonly #database: Database;
  readonly #log: TurnLog;

  constructor(database: Database) {
    this.#database = database;
    this.#log = new TurnLog(database, new Blobs(database));
  }

  /** Newest first. */
  list(archived: boolean): readonly SessionSummary[] {
    return this.#database.all(
      `SELECT *,
         (SELECT count(DISTINCT path) FROM checkpoints JOIN checkpoint_files ON checkpoint = checkpoints.id
          WHERE session = sessions.id AND checkpoints.kind IN ('tool', 'command')) AS files,
         (SELECT total(input + output) FROM usage WHERE session = sessions.id) AS tokens
       FROM sessions WHERE ${LISTED} AND archived = ? ORDER BY updated DESC, id`,
      archived ? 1 : 0,
    ).map((row) => ({ ...storedSession(row), files: Number(row.files), tokens: Number(row.tokens) }));
  }

  /** Sessions that are not archived, newest first, after `after`. */
  page(after: Place | undefined, most: number): readonly StoredSession[] {
    const { updated, id } = after ?? { updated: Number.MAX_SAFE_INTEGER, id: "" };
    return this.#database.all(
      `SELECT * FROM sessions WHERE ${LISTED} AND archived = 0 AND (updated < ? OR (updated = ? AND id > ?))
       ORDER BY updated DESC, id LIMIT ?`,
      updated,
      updated,
      id,
      most,
    ).map(storedSession);
  }

  /** Includes archived ones, newest first. */
  newest(most: number): readonly StoredSession[] {
    const sql = `SELECT * FROM sessions WHERE ${LISTED} ORDER BY updated DESC, id LIMIT ?`;
    return this.#database.all(sql, most).map(storedSession);
  }

  /** @throws {ToolError} if the session does not exist */
  get(id: string): StoredSession {
    const row = this.#database.get(`SELECT * FROM sessions WHERE id = ? AND ${BEGUN}`, id);
    if (row === undefined) throw notThere();
    return storedSession(row);
  }

  /** @throws {ToolError} if the session does not exist */
  rename(id: string, title: string): void {
    this.#change(id, "title = ?", title);
  }

  /** @throws {ToolError} if the session does not exist */
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

  /** The ids of its sub-agents' sessions. */
  subagents(id: string): readonly string[] {
    return this.#database.all("SELECT id FROM sessions WHERE parent = ? AND call IS NOT NULL", id)
      .map((row) => String(row.id));
  }

  /**
   * Prevents engines from logging these messages later. @param now milliseconds since 1970 @returns ids that a session
   * has already logged
   */
  withdrawUnlogged(ids: readonly string[], now: number): readonly string[] {
    return this.#database.transaction(() => {
      // Uses the key of `memory`: one lookup for each session.
      const logged = this.#database.all(
        `SELECT DISTINCT name FROM sessions CROSS JOIN memory
         WHERE memory.session = sessions.id AND topic = 'message' AND name IN (SELECT value FROM json_each(?))`,
        JSON.stringify(ids),
      ).map(({ name }) => String(name));
      this.#database.run("DELETE FROM withdrawn_messages WHERE time < ?", now - WITHDRAWN_MS);
      for (const id of ids.filter((id) => !logged.includes(id))) {
        this.#database.run("INSERT OR REPLACE INTO withdrawn_messages (id, time) VALUES (?, ?)", id, now);
      }
      return logged;
    });
  }

  /**
   * Deletes a session with its sub-agents. Its cost and turns shared with forks stay. Does nothing if it does not
   * exist.
   */
  remove(id: string): void {
    this.#database.transaction(() => this.#remove(id));
  }

  #remove(id: string): void {
    const row = this.#database.get("SELECT parent FROM sessions WHERE id = ?", id);
    if (row === undefined) return;
    for (const agent of this.subagents(id)) this.#remove(agent);
    const forks = "SELECT max(shared) AS shared FROM sessions WHERE parent = ?";
    const shared = Number(this.#database.get(forks, id)?.shared ?? 0);
    if (shared > 0) {
      this.#database.run("UPDATE sessions SET deleted = 1, title = '' WHERE id = ?", id);
      for (const table of ["turns", "log", "calls"]) {
        this.#database.run(`DELETE FROM ${table} WHERE session = ? AND turn > ?`, id, shared);
      }
      for (const table of ["memory", "checkpoints", "reviews", "approvals"]) {
        this.#database.run(`DELETE FROM ${table} WHERE session = ?`, id);
      }
      return;
    }
    this.#database.run("DELETE FROM sessions WHERE id = ?", id);
    // The parent may have stayed for this fork only.
    const parent = this.#database.get(
      "SELECT id FROM sessions WHERE id = ? AND deleted = 1",
      String(row.parent),
    );
    if (parent !== undefined) this.#remove(String(parent.id));
  }

  /** Sessions that are not archived and unchanged since `time`, in milliseconds since 1970. */
  untouchedSince(time: number): readonly string[] {
    return this.#database.all(
      "SELECT id FROM sessions WHERE archived = 0 AND deleted = 0 AND call IS NULL AND updated < ?",
      time,
    )
      .map(({ id }) => String(id));
  }

  /**
   * A new session with all turns up to `turn`, default: the last; a running turn ends there. Only the original session
   * can undo its changes. @throws {ToolError} if the session or turn does not exist
   */
  fork(id: string, turn?: number): StoredSession {
    return this.#database.transaction(() => {
      const source = this.get(id);
      const last = turn ?? source.turns;
      if (last > source.turns) throw new ToolError(`The session has ${source.turns} turns only.`);
      const ended = "SELECT 1 FROM turns WHERE session = ? AND turn = ? AND log IS NULL";
      const goesOn = this.#database.get(ended, id, last) !== undefined;
      const copy = crypto.randomUUID();
      const now = Date.now();
      this.#database.run(
        `INSERT INTO sessions (id, title, root, mode, model, parent, shared, branch, created, updated, turns)
         SELECT ?, ?, root, mode, model, id, ?, branch, ?, ?, ? FROM sessions WHERE id = ?`,
        copy,
        `${source.title} (fork)`,
        goesOn ? last - 1 : last,
        now,
        now,
        last,
        id,
      );
      if (goesOn) this.#copyTurn(id, copy, last);
      this.#copyMemory(id, copy, last, source.turns);
      return this.get(copy);
    });
  }

  /** A running turn will differ between both. */
  #copyTurn(id: string, copy: string, turn: number): void {
    for (const [table, columns] of TURN_TABLES) {
      const sql =
        `INSERT INTO ${table} (session, ${columns}) SELECT ?, ${columns} FROM ${table} WHERE session = ?`;
      if (table === "payload_blobs") this.#database.run(sql, copy, id);
      else this.#database.run(`${sql} AND turn = ?`, copy, id, turn);
    }
  }

  /**
   * Copies the session's memory at the end of a turn. The files that the model has read are only known for the last
   * turn; for an earlier one it reads them again.
   */
  #copyMemory(id: string, copy: string, turn: number, turns: number): void {
    const atEnd = turn === turns;
    this.#database.run(
      `INSERT INTO memory (session, topic, name, value, blob)
       SELECT ?, topic, name, value, blob FROM memory WHERE session = ? AND topic NOT IN (SELECT value FROM json_each(?))`,
      copy,
      id,
      JSON.stringify(atEnd ? OWN : [...OWN, ...OF_THE_END]),
    );
    const memory = new SessionMemory(this.#database, new Blobs(this.#database));
    memory.put(copy, { topic: "titled", name: "", value: true });
    if (atEnd) return;
    const plan = this.#planAt(id, turn);
    if (plan !== undefined) memory.put(copy, { topic: "plan", name: "", value: plan });
  }

  #planAt(id: string, turn: number): unknown {
    const sql =
      "SELECT max(turn) AS turn FROM turns WHERE session = ? AND turn BETWEEN ? AND ? AND planned = 1";
    for (const { session, first, last } of rangesOf(this.#database, id, 1, turn).toReversed()) {
      const found = Number(this.#database.get(sql, session, first, last)?.turn ?? 0);
      if (found === 0) continue;
      const events = this.#log.read({ session, first: found, last: found }, {
        kind: (kind) => kind === "plan",
      });
      const event = [...events].at(-1)?.entry;
      return event?.type === "plan" ? event.steps : undefined;
    }
  }

  search(query: string, limit: number): readonly Hit[] {
    return search(this.#database, this.#log, query, limit);
  }
}

/** Facts that a fork does not inherit, or only from the last turn. */
const OWN = ["spent", "titled", "agents", "message"];
const OF_THE_END = ["folder", "plan", "known", "first"];

/** Tables of a running turn: the columns beside the session. */
const TURN_TABLES = [
  ["turns", "turn, time, asked"],
  ["log", "turn, seq, time, kind, version, payload, size"],
  ["calls", "turn, id"],
  ["payload_blobs", "blob"],
] as const;

function notThere(): ToolError {
  return new ToolError("This session is not stored any more: it was deleted.");
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
    mode: String(row.mode),
    turns: Number(row.turns),
    ...(typeof row.ended === "string" ? { ended: row.ended } : {}),
    ...(typeof row.call === "string" ? { call: row.call } : {}),
    ...(typeof row.parent === "string" ? { parent: row.parent } : {}),
    ...(typeof row.branch === "string" ? { branch: row.branch } : {}),
  };
}
