/** The stored conversations as a list: what there is, and what the user does with one as a whole. */
import { ToolError } from "../core/errors.ts";
import type { StoredSession } from "../core/ports.ts";
import type { Database } from "./database.ts";

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
    if (row === undefined) throw new ToolError(`There is no conversation ${id}.`);
    return storedSession(row);
  }
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
  };
}
