/** Conversations in SQLite. What was appended is on disk before the call returns. */
import type { RecordedChange } from "../core/checkpoints.ts";
import { messageOf, TurnError } from "../core/errors.ts";
import type { AgentEvent } from "../core/events.ts";
import { INTERRUPTED, type Message } from "../core/messages.ts";
import type {
  Entries,
  NewSession,
  Store,
  StoredEvent,
  StoredSession,
  TurnBegun,
  WhichEvents,
} from "../core/ports.ts";
import { firstTitle } from "../core/title.ts";
import { Blobs } from "./blobs.ts";
import { SqliteCheckpoints } from "./checkpoints.ts";
import type { Database } from "./database.ts";
import { runsOf } from "./merge.ts";
import { decodePayload, encodePayload } from "./payload.ts";
import { SqliteReviews } from "./reviews.ts";
import { addText } from "./search.ts";
import { storedSession } from "./sessions.ts";
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
  readonly reviews: SqliteReviews;
  readonly #database: Database;
  readonly #ends = new Map<string, Ends>();

  /** @param recorded is told of the changes of a checkpoint, in the transaction that records them */
  constructor(database: Database, recorded?: (changes: readonly RecordedChange[]) => void) {
    this.#database = database;
    this.blobs = new Blobs(database);
    this.checkpoints = new SqliteCheckpoints(database, this.blobs, recorded);
    this.reviews = new SqliteReviews(database, this.blobs);
    this.writes = new UnfinishedWrites(database);
  }

  createSession({ id, root, model, parent, branch }: NewSession): void {
    const now = Date.now();
    saving(() =>
      this.#database.run(
        "INSERT INTO sessions (id, root, model, parent, branch, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?)",
        id,
        root,
        model,
        parent ?? null,
        branch ?? null,
        now,
        now,
      )
    );
  }

  session(id: string): StoredSession | undefined {
    const row = this.#database.get("SELECT * FROM sessions WHERE id = ?", id);
    return row === undefined ? undefined : storedSession(row);
  }

  reopen(id: string): void {
    this.#ends.delete(id);
  }

  turn(session: string): number {
    return this.#endsOf(session).turn;
  }

  turnsBegun(session: string): readonly TurnBegun[] {
    const sql =
      "SELECT turn, payload, time FROM events WHERE session = ? AND kind = 'turn_started' ORDER BY seq";
    return this.#database.all(sql, session).map(({ turn, payload, time }) => {
      const event = this.#event(payload);
      return {
        turn: Number(turn),
        text: event.type === "turn_started" ? event.text : "",
        time: Number(time),
      };
    });
  }

  append(session: string, { messages = [], events = [], memory }: Entries): void {
    const before = this.#endsOf(session);
    try {
      saving(() =>
        this.#database.transaction(() => {
          for (const message of messages) this.#appendMessage(session, message);
          for (const event of events) this.#appendEvent(session, event);
          if (memory !== undefined) this.#remember(session, memory);
        })
      );
    } catch (error) {
      this.#ends.set(session, before);
      throw error;
    }
  }

  #appendEvent(session: string, event: AgentEvent): void {
    const ends = this.#endsOf(session);
    const seq = ends.event + 1;
    const turn = event.type === "turn_started" ? ends.turn + 1 : ends.turn;
    const time = Date.now();
    this.#database.run(
      "INSERT INTO events (session, seq, turn, kind, payload, time) VALUES (?, ?, ?, ?, ?, ?)",
      session,
      seq,
      turn,
      event.type,
      this.#encode(session, event),
      time,
    );
    this.#ends.set(session, { ...ends, event: seq, turn });
    switch (event.type) {
      case "turn_started":
        this.#database.run(
          "UPDATE sessions SET turns = ?, updated = ?, title = CASE title WHEN '' THEN ? ELSE title END WHERE id = ?",
          turn,
          time,
          firstTitle(event.text),
          session,
        );
        return addText(this.#database, { session, turn, role: "user", time, text: event.text });
      case "approval_answered":
        return void this.#database.run(
          "INSERT INTO approvals (session, turn, tool_call, answer, rule, time) VALUES (?, ?, ?, ?, ?, ?)",
          session,
          turn,
          event.id,
          event.answer,
          event.rule,
          time,
        );
      case "turn_done":
      case "turn_failed":
        this.#database.run("UPDATE sessions SET updated = ? WHERE id = ?", time, session);
        return this.#mergePieces(session, turn);
    }
  }

  /** The pieces of each text of a turn become one row, so that a log stays small. */
  #mergePieces(session: string, turn: number): void {
    const rows = this.#database.all(
      "SELECT seq, kind, payload FROM events WHERE session = ? AND turn = ? ORDER BY seq",
      session,
      turn,
    );
    const isPiece = (kind: unknown) => kind === "token" || kind === "thought";
    const log = rows.map(({ seq, kind, payload }) => ({
      place: Number(seq),
      // What stands between the pieces only parts them.
      event: isPiece(kind) ? this.#event(payload) : { type: "plan", steps: [] } as const,
    }));
    const at = "WHERE session = ? AND turn = ? AND seq = ?";
    for (const { place, event, others } of runsOf(log)) {
      const payload = this.#encode(session, event);
      this.#database.run(`UPDATE events SET payload = ? ${at}`, payload, session, turn, place);
      for (const other of others) this.#database.run(`DELETE FROM events ${at}`, session, turn, other);
    }
  }

  events(session: string, which: WhichEvents = {}): readonly StoredEvent[] {
    const { first = 0, last = Number.MAX_SAFE_INTEGER, without = [] } = which;
    return this.#database.all(
      `SELECT turn, time, payload FROM events WHERE session = ? AND turn BETWEEN ? AND ?
       AND kind NOT IN (SELECT value FROM json_each(?)) ORDER BY turn, seq`,
      session,
      first,
      last,
      JSON.stringify(without),
    ).map(({ turn, time, payload }) => ({
      turn: Number(turn),
      time: Number(time),
      event: this.#event(payload),
    }));
  }

  #event(payload: unknown): AgentEvent {
    return decodePayload(String(payload), this.blobs) as AgentEvent;
  }

  #appendMessage(session: string, message: Message): void {
    const ends = this.#endsOf(session);
    const seq = ends.message + 1;
    this.#database.run(
      "INSERT INTO messages (session, seq, turn, role, payload) VALUES (?, ?, ?, ?, ?)",
      session,
      seq,
      ends.turn,
      message.role,
      this.#encode(session, message),
    );
    this.#ends.set(session, { ...ends, message: seq });
    // The user's own words stand in the event that begins the turn; other messages in this role are the loop's.
    if (message.role === "user") return;
    const text = message.text.replace(INTERRUPTED, "");
    addText(this.#database, { session, turn: ends.turn, role: message.role, time: Date.now(), text });
  }

  messages(session: string): readonly Message[] {
    return this.#database.all("SELECT payload FROM messages WHERE session = ? ORDER BY turn, seq", session)
      .map(({ payload }) => decodePayload(String(payload), this.blobs) as Message);
  }

  countMessages(session: string, turn: number): number {
    const sql = "SELECT count(*) AS count FROM messages WHERE session = ? AND turn = ?";
    return Number(this.#database.get(sql, session, turn)?.count ?? 0);
  }

  #remember(session: string, memory: unknown): void {
    const text = this.#encode(session, memory);
    this.#database.run("UPDATE sessions SET memory = ? WHERE id = ?", text, session);
  }

  memory(session: string): unknown {
    const row = this.#database.get("SELECT memory FROM sessions WHERE id = ?", session);
    return decodePayload(String(row?.memory ?? "{}"), this.blobs);
  }

  retitle(session: string, known: string, title: string): boolean {
    const sql = "UPDATE sessions SET title = ? WHERE id = ? AND title = ?";
    return saving(() => this.#database.run(sql, title, session, known)).changes > 0;
  }

  /** Long texts go into contents, which the session then names. */
  #encode(session: string, value: unknown): string {
    return encodePayload(value, {
      putText: (text) => {
        const sha256 = this.blobs.putText(text);
        const sql = "INSERT OR IGNORE INTO payload_blobs (session, blob) VALUES (?, ?)";
        this.#database.run(sql, session, sha256);
        return sha256;
      },
    });
  }

  #endsOf(session: string): Ends {
    const known = this.#ends.get(session);
    if (known !== undefined) return known;
    const last = (table: "events" | "messages") =>
      `(SELECT seq FROM ${table} WHERE session = sessions.id ORDER BY turn DESC, seq DESC LIMIT 1)`;
    const sql = `SELECT turns, ${last("events")} AS event, ${
      last("messages")
    } AS message FROM sessions WHERE id = ?`;
    const row = this.#database.get(sql, session);
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

/** What goes wrong with the disk is not the program's fault. @throws {TurnError} one line */
export function saving<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const why = /full|readonly|disk I\/O|locked|unable to open/i.exec(messageOf(error));
    if (why === null) throw error;
    throw new TurnError(
      "store",
      `Cannot save the conversation: ${messageOf(error)}.`,
      "Free some space on the disk, or look whether its state folder can be written.",
    );
  }
}
