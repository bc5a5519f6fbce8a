/** Conversations in SQLite. What was appended is on disk before the call returns. */
import type { AgentEvent } from "../core/events.ts";
import type { Message } from "../core/messages.ts";
import type { NewSession, Store, StoredSession } from "../core/ports.ts";
import { Blobs } from "./blobs.ts";
import { SqliteCheckpoints } from "./checkpoints.ts";
import type { Database } from "./database.ts";
import { decodePayload, encodePayload } from "./payload.ts";
import { UnfinishedWrites } from "./writes.ts";

/** Where a session's logs go on; one engine writes a session at a time. */
interface Ends {
  event: number;
  message: number;
  turn: number;
}

export class SqliteStore implements Store {
  readonly blobs: Blobs;
  readonly writes: UnfinishedWrites;
  readonly checkpoints: SqliteCheckpoints;
  readonly #database: Database;
  readonly #ends = new Map<string, Ends>();

  constructor(database: Database) {
    this.#database = database;
    this.blobs = new Blobs(database);
    this.checkpoints = new SqliteCheckpoints(database, this.blobs);
    this.writes = new UnfinishedWrites(database);
  }

  createSession({ id, root, model, parent }: NewSession): void {
    const now = Date.now();
    this.#database.run(
      "INSERT INTO sessions (id, root, model, parent, created, updated) VALUES (?, ?, ?, ?, ?, ?)",
      id,
      root,
      model,
      parent ?? null,
      now,
      now,
    );
  }

  session(id: string): StoredSession | undefined {
    const row = this.#database.get("SELECT * FROM sessions WHERE id = ?", id);
    return row === undefined ? undefined : storedSession(row);
  }

  turn(session: string): number {
    return this.#endsOf(session).turn;
  }

  appendEvent(session: string, event: AgentEvent): void {
    this.#database.transaction(() => {
      const ends = this.#endsOf(session);
      const turn = event.type === "turn_started" ? ends.turn + 1 : ends.turn;
      const now = Date.now();
      this.#database.run(
        "INSERT INTO events (session, seq, turn, kind, payload, time) VALUES (?, ?, ?, ?, ?, ?)",
        session,
        ends.event + 1,
        turn,
        event.type,
        encodePayload(event, this.blobs),
        now,
      );
      if (turn !== ends.turn) {
        this.#database.run("UPDATE sessions SET turns = ?, updated = ? WHERE id = ?", turn, now, session);
      }
      this.#ends.set(session, { ...ends, event: ends.event + 1, turn });
    });
  }

  events(session: string): readonly AgentEvent[] {
    return this.#database.all("SELECT payload FROM events WHERE session = ? ORDER BY seq", session)
      .map(({ payload }) => decodePayload(String(payload), this.blobs) as AgentEvent);
  }

  appendMessage(session: string, message: Message): void {
    this.#database.transaction(() => {
      const ends = this.#endsOf(session);
      this.#database.run(
        "INSERT INTO messages (session, seq, turn, role, payload) VALUES (?, ?, ?, ?, ?)",
        session,
        ends.message + 1,
        ends.turn,
        message.role,
        encodePayload(message, this.blobs),
      );
      this.#ends.set(session, { ...ends, message: ends.message + 1 });
    });
  }

  messages(session: string): readonly Message[] {
    return this.#database.all("SELECT payload FROM messages WHERE session = ? ORDER BY seq", session)
      .map(({ payload }) => decodePayload(String(payload), this.blobs) as Message);
  }

  #endsOf(session: string): Ends {
    const known = this.#ends.get(session);
    if (known !== undefined) return known;
    const row = this.#database.get(
      "SELECT turns, (SELECT max(seq) FROM events WHERE session = sessions.id) AS event, " +
        "(SELECT max(seq) FROM messages WHERE session = sessions.id) AS message FROM sessions WHERE id = ?",
      session,
    );
    if (row === undefined) throw new Error(`no session ${session}`);
    const ends = {
      event: Number(row.event ?? 0),
      message: Number(row.message ?? 0),
      turn: Number(row.turns),
    };
    this.#ends.set(session, ends);
    return ends;
  }
}

function storedSession(row: Readonly<Record<string, unknown>>): StoredSession {
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
