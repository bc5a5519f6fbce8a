/** Sessions in SQLite. What was appended is on disk before the call returns. */
import type { RecordedChange } from "../core/checkpoints.ts";
import { messageOf } from "../core/errors.ts";
import type { AgentEvent } from "../core/events.ts";
import { INTERRUPTED, type Message } from "../core/messages.ts";
import type {
  Entries,
  NewSession,
  Remembered,
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
import { rangesOf } from "./lineage.ts";
import { SessionMemory } from "./memory.ts";
import { encodePayload } from "./payload.ts";
import { SqliteReviews } from "./reviews.ts";
import { saving } from "./saving.ts";
import { addText } from "./search.ts";
import { storedSession } from "./sessions.ts";
import { type Entry, MESSAGE, type NewEntry, TurnLog, type Wanted } from "./turn_log.ts";
import { UnfinishedWrites } from "./writes.ts";

/** Where a session's log goes on; one engine writes a session at a time. */
interface End {
  readonly turn: number;
  /** Of the last entry of this turn. */
  readonly seq: number;
}

/** Characters of a question in the list of turns. */
const LONGEST_ASKED = 300;

/** Characters that an image counts for: about what it takes of a model's window. */
const IMAGE_SIZE = 8_000;

export class SqliteStore implements Store {
  readonly blobs: Blobs;
  readonly writes: UnfinishedWrites;
  readonly checkpoints: SqliteCheckpoints;
  readonly reviews: SqliteReviews;
  readonly #database: Database;
  readonly #log: TurnLog;
  readonly #memory: SessionMemory;
  readonly #ends = new Map<string, End>();
  /** The state folder was deleted, which was said. */
  #isGone = false;

  /** @param recorded is told of the changes of a checkpoint, in the transaction that records them */
  constructor(database: Database, recorded?: (changes: readonly RecordedChange[]) => void) {
    this.#database = database;
    this.blobs = new Blobs(database);
    this.checkpoints = new SqliteCheckpoints(database, this.blobs, recorded);
    this.writes = new UnfinishedWrites(database);
    this.#log = new TurnLog(database, this.blobs);
    this.reviews = new SqliteReviews(database, this.blobs, this.#log);
    this.#memory = new SessionMemory(database, this.blobs);
  }

  async ensure(): Promise<string | undefined> {
    if (this.#isGone) return undefined;
    try {
      if (await this.#database.ensure() === "there") return undefined;
      return "The folder with your sessions was deleted. It was made again; nothing is lost.";
    } catch (error) {
      this.#isGone = true;
      return `The folder with your sessions was deleted, and cannot be made again (${messageOf(error)}). ` +
        "Keep this one with :Agent export FILE, and start Neovim again.";
    }
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
    const row = this.#database.get("SELECT * FROM sessions WHERE id = ? AND deleted = 0", id);
    return row === undefined ? undefined : storedSession(row);
  }

  reopen(id: string): void {
    this.#ends.delete(id);
  }

  turn(session: string): number {
    return this.#endOf(session).turn;
  }

  turnsBegun(session: string): readonly TurnBegun[] {
    const sql =
      "SELECT turn, asked, time FROM turns WHERE session = ? AND turn BETWEEN ? AND ? ORDER BY turn";
    return rangesOf(this.#database, session, 1, this.turn(session)).flatMap(({ session, first, last }) =>
      this.#database.all(sql, session, first, last).map(({ turn, asked, time }) => ({
        turn: Number(turn),
        text: String(asked),
        time: Number(time),
      }))
    );
  }

  append(session: string, { messages = [], events = [], memory = [] }: Entries): void {
    const before = this.#endOf(session);
    try {
      saving(() =>
        this.#database.transaction(() => {
          for (const message of messages) this.#appendMessage(session, message);
          for (const event of events) this.#appendEvent(session, event);
          for (const one of memory) this.#memory.put(session, one);
        })
      );
    } catch (error) {
      this.#ends.set(session, before);
      throw error;
    }
  }

  #appendEvent(session: string, event: AgentEvent): void {
    const time = Date.now();
    if (event.type === "turn_started") this.#beginTurn(session, event.text, time);
    const { turn } = this.#add({
      session,
      time,
      kind: event.type,
      payload: this.#encode(session, event),
      size: 0,
    });
    switch (event.type) {
      case "turn_started":
        return this.#addText(session, "user", event.text);
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
        return this.#seal(session);
    }
  }

  #beginTurn(session: string, text: string, time: number): void {
    // One that has no end, and what came after the end of the last one.
    this.#seal(session);
    const turn = this.#endOf(session).turn + 1;
    this.#ends.set(session, { turn, seq: 0 });
    const [asked = ""] = text.trimStart().split("\n");
    this.#log.begin(session, turn, time, asked.slice(0, LONGEST_ASKED).toWellFormed());
    this.#database.run(
      "UPDATE sessions SET turns = ?, updated = ?, title = CASE title WHEN '' THEN ? ELSE title END WHERE id = ?",
      turn,
      time,
      firstTitle(text),
      session,
    );
  }

  #seal(session: string): void {
    this.#log.seal(session, (event) => this.#encode(session, event));
  }

  #appendMessage(session: string, message: Message): void {
    const payload = this.#encode(session, message);
    this.#add({ session, time: Date.now(), kind: MESSAGE, payload, size: sizeOf(message) });
    // The user's own words stand in the event that begins the turn; other messages in this role are the loop's.
    if (message.role !== "user") this.#addText(session, message.role, message.text.replace(INTERRUPTED, ""));
  }

  #add(entry: Omit<NewEntry, "turn" | "seq">): End {
    const { turn, seq } = this.#endOf(entry.session);
    const end = { turn, seq: seq + 1 };
    this.#log.add({ ...entry, ...end });
    this.#ends.set(entry.session, end);
    return end;
  }

  #addText(session: string, role: "user" | "assistant" | "tool", text: string): void {
    addText(this.#database, { session, ...this.#endOf(session), role, text });
  }

  events(session: string, which: WhichEvents = {}): readonly StoredEvent[] {
    const without: ReadonlySet<string> = new Set([...which.without ?? [], MESSAGE]);
    const wanted = { kind: (kind: string) => !without.has(kind), bareDiffs: which.bareDiffs };
    return this.#entries(session, which, wanted).flatMap(({ turn, time, event }) =>
      event === undefined ? [] : [{ turn, time, event }]
    );
  }

  messages(session: string, first = 0, last?: number): readonly Message[] {
    const which = { first, ...(last === undefined ? {} : { last }) };
    const wanted = { kind: (kind: string) => kind === MESSAGE };
    return this.#entries(session, which, wanted).flatMap(({ message }) => message ?? []);
  }

  #entries(
    session: string,
    { first = 0, last = Number.MAX_SAFE_INTEGER }: WhichEvents,
    wanted: Wanted,
  ): readonly Entry[] {
    return rangesOf(this.#database, session, first, last).flatMap((
      range,
    ) => [...this.#log.read(range, wanted)]);
  }

  sizes(session: string, first: number): ReadonlyMap<number, number> {
    const sql = "SELECT turn, size FROM turns WHERE session = ? AND turn BETWEEN ? AND ? ORDER BY turn";
    const sizes = rangesOf(this.#database, session, first, this.turn(session)).flatMap((
      { session, first, last },
    ) => this.#database.all(sql, session, first, last));
    return new Map(sizes.map(({ turn, size }) => [Number(turn), Number(size)]));
  }

  remembered(session: string): readonly Remembered[] {
    return this.#memory.all(session);
  }

  retitle(session: string, known: string, title: string): boolean {
    const sql = "UPDATE sessions SET title = ? WHERE id = ? AND title = ?";
    return saving(() => this.#database.run(sql, title, session, known)).changes > 0;
  }

  /** Long texts go into contents, which the session then names. */
  #encode(session: string, value: unknown): string {
    const name = (blob: string) => {
      const sql = "INSERT OR IGNORE INTO payload_blobs (session, blob) VALUES (?, ?)";
      this.#database.run(sql, session, blob);
      return blob;
    };
    return encodePayload(value, {
      putText: (text) => name(this.blobs.putText(text)),
      findText: (text) => {
        const blob = this.blobs.findText(text);
        return blob === undefined ? undefined : name(blob);
      },
    });
  }

  #endOf(session: string): End {
    const known = this.#ends.get(session);
    if (known !== undefined) return known;
    const row = this.#database.get("SELECT turns FROM sessions WHERE id = ?", session);
    if (row === undefined) throw new Error(`no session ${session}`);
    const turn = Number(row.turns);
    const end = { turn, seq: this.#log.lastSeq(session, turn) };
    this.#ends.set(session, end);
    return end;
  }
}

function sizeOf(message: Message): number {
  switch (message.role) {
    case "user":
      return message.text.length;
    case "assistant":
      return message.calls.reduce((sum, call) => sum + call.arguments.length, message.text.length);
    case "tool":
      return message.text.length + IMAGE_SIZE * (message.images?.length ?? 0);
  }
}
