/** Sessions in SQLite. Appended entries are on disk when the call returns. */
import type { RecordedChange } from "../log/checkpoints.ts";
import { messageOf } from "../../shared/errors.ts";
import { type FoldEntry, type LogEntry, type MessageEntry, wordsOf } from "../log/entries.ts";
import { isEvent, isEventType, isFold, isFoldType, isMessage, isMessageType } from "../log/entry_kinds.ts";
import type { UserMessage } from "../log/events.ts";
import type {
  Entries,
  NewSession,
  Remembered,
  Store,
  Stored,
  StoredSession,
  StoredSubagent,
  TurnBegun,
  WhichEntries,
} from "../ports/store.ts";
import { firstTitle } from "../log/title.ts";
import { Blobs } from "./blobs.ts";
import { SqliteCheckpoints } from "./checkpoints.ts";
import type { Database } from "./database.ts";
import { sizeOf } from "./log/entry_size.ts";
import { rangesOf } from "./lineage.ts";
import { SessionMemory } from "./memory.ts";
import { encodePayload, namedBlobs } from "./log/payload.ts";
import { SqliteReviews } from "./reviews.ts";
import { saving } from "./saving.ts";
import { addText, searchable } from "./search/search.ts";
import { storedSession } from "./sessions.ts";
import { TurnLog } from "./log/turn_log.ts";
import { UnfinishedWrites } from "./writes.ts";

/** The end of a session's log; one engine writes a session at a time. */
interface End {
  readonly turn: number;
  /** The number of the last entry of this turn. */
  readonly seq: number;
}

/** Characters of a message in the list of turns. */
const LONGEST_ASKED = 300;

/** Replaces unreadable entries, for the user and the model. */
const UNREADABLE = {
  type: "notice",
  severity: "warning",
  text: "A part of this turn cannot be read: it is broken, or a newer version has stored it.",
} as const;
const UNREADABLE_NOTE = {
  type: "control_note",
  reason: "unreadable",
  text: "[Something that was said or done here can no longer be read.]",
} as const;

export class SqliteStore implements Store {
  readonly blobs: Blobs;
  readonly writes: UnfinishedWrites;
  readonly checkpoints: SqliteCheckpoints;
  readonly reviews: SqliteReviews;
  readonly #database: Database;
  readonly #log: TurnLog;
  readonly #memory: SessionMemory;
  readonly #ends = new Map<string, End>();
  /** The state folder was deleted, and the user notified. */
  #isGone = false;

  /** @param recorded receives a checkpoint's changes, in the transaction that records them */
  constructor(database: Database, recorded?: (changes: readonly RecordedChange[]) => void) {
    this.#database = database;
    this.blobs = new Blobs(database);
    this.checkpoints = new SqliteCheckpoints(database, this.blobs, recorded);
    this.writes = new UnfinishedWrites(database);
    this.#log = new TurnLog(database, this.blobs);
    this.reviews = new SqliteReviews(database, this.blobs, this.#log);
    this.#memory = new SessionMemory(database, this.blobs);
  }

  get folder(): string | undefined {
    return this.#database.folder;
  }

  async ensure(): Promise<string | undefined> {
    if (this.#isGone) return undefined;
    try {
      if (await this.#database.ensure() === "there") return this.#database.takeNotice();
      return "The folder with your sessions was deleted. It was made again; nothing is lost.";
    } catch (error) {
      this.#isGone = true;
      return `The folder with your sessions was deleted, and cannot be made again (${messageOf(error)}). ` +
        "Keep this one with :Agent session export FILE, and start Neovim again.";
    }
  }

  createSession({ id, root, model, mode = "agent", title = "", parent, call, branch }: NewSession): void {
    const now = Date.now();
    saving(() =>
      this.#database.run(
        `INSERT INTO sessions (id, root, model, mode, title, parent, call, branch, created, updated)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[id, root, model, mode, title, parent ?? null, call ?? null, branch ?? null, now, now],
      )
    );
  }

  session(id: string): StoredSession | undefined {
    const row = this.#database.get("SELECT * FROM sessions WHERE id = ? AND deleted = 0", id);
    return row === undefined ? undefined : storedSession(row);
  }

  scratchOwner(session: string): string {
    return rangesOf(this.#database, session, 0, 0)[0]?.session ?? session;
  }

  scratchUsed(owner: string): number | undefined {
    const row = this.#database.get(
      `WITH RECURSIVE family(id) AS (
         SELECT ? UNION SELECT sessions.id FROM sessions JOIN family ON parent = family.id WHERE shared > 0)
       SELECT max(updated) AS used FROM sessions JOIN family USING (id) WHERE deleted = 0`,
      owner,
    );
    return typeof row?.used === "number" ? row.used : undefined;
  }

  subagents(parent: string): readonly StoredSubagent[] {
    return this.#database.all(
      `SELECT sessions.*, total(input + output) AS tokens, sum(cost) AS cost
       FROM sessions LEFT JOIN usage ON usage.agent = sessions.id
       WHERE parent = ? AND call IS NOT NULL GROUP BY sessions.id ORDER BY created DESC, sessions.id`,
      parent,
    ).map((row) => ({
      ...storedSession(row),
      tokens: Number(row.tokens),
      ...(typeof row.cost === "number" ? { cost: row.cost } : {}),
    }));
  }

  reopen(id: string): void {
    this.#ends.delete(id);
  }

  turn(session: string): number {
    return this.#endOf(session).turn;
  }

  turnsBegun(session: string, from = 1, to = this.turn(session)): readonly TurnBegun[] {
    const sql =
      "SELECT turn, asked, time FROM turns WHERE session = ? AND turn BETWEEN ? AND ? ORDER BY turn";
    return rangesOf(this.#database, session, from, to).flatMap(({ session, first, last }) =>
      this.#database.all(sql, session, first, last).map(({ turn, asked: firstLine, time }) => ({
        turn: Number(turn),
        text: String(firstLine),
        time: Number(time),
      }))
    );
  }

  append(session: string, { entries = [], memory = [] }: Entries): void {
    const before = this.#endOf(session);
    try {
      saving(() =>
        this.#database.transaction(() => {
          this.#ends.set(session, before);
          for (const entry of entries) this.#append(session, entry, Date.now());
          for (const one of memory) this.#memory.put(session, one);
        })
      );
    } catch (error) {
      this.#ends.set(session, before);
      throw error;
    }
  }

  #append(session: string, entry: LogEntry, time: number): void {
    if (entry.type === "user_message") this.#beginTurn(session, entry, time);
    const { turn, seq } = this.#endOf(session);
    const end = { turn, seq: seq + 1 };
    const payload = this.#encode(session, entry);
    this.#log.add({ session, ...end, time, kind: entry.type, payload, size: sizeOf(entry) });
    this.#ends.set(session, end);
    const content = searchable(entry);
    if (content !== undefined) addText(this.#database, { session, ...end, ...content });
    switch (entry.type) {
      case "assistant_message":
        for (const { id } of entry.calls) {
          const sql = "INSERT OR IGNORE INTO calls (session, id, turn) VALUES (?, ?, ?)";
          this.#database.run(sql, session, id, turn);
        }
        return;
      case "approval_answered":
        return void this.#database.run(
          "INSERT INTO approvals (session, turn, tool_call, answer, rule, time) VALUES (?, ?, ?, ?, ?, ?)",
          ...[session, turn, entry.id, entry.answer, entry.rule, time],
        );
      case "turn_done":
      case "turn_failed":
        this.#database.run(
          "UPDATE sessions SET updated = ?, ended = ? WHERE id = ?",
          ...[time, entry.type === "turn_done" ? entry.reason : "failed", session],
        );
        return this.#seal(session);
    }
  }

  #beginTurn(session: string, message: UserMessage, time: number): void {
    // Seals an interrupted turn, and entries after the last turn's end.
    this.#seal(session);
    const turn = this.#endOf(session).turn + 1;
    this.#ends.set(session, { turn, seq: 0 });
    const words = wordsOf(message);
    const [firstLine = ""] = words.trimStart().split("\n");
    this.#log.begin(session, turn, time, firstLine.slice(0, LONGEST_ASKED).toWellFormed());
    this.#database.run(
      "UPDATE sessions SET turns = ?, ended = NULL, updated = ?, title = CASE title WHEN '' THEN ? ELSE title END WHERE id = ?",
      ...[turn, time, firstTitle(words), session],
    );
  }

  #seal(session: string): void {
    this.#log.seal(session, (event) => this.#encode(session, event));
  }

  entries(session: string, which?: WhichEntries): readonly Stored<LogEntry>[] {
    return this.#read(session, which, () => true, UNREADABLE);
  }

  events(session: string, which?: WhichEntries): readonly Stored[] {
    return this.#read(session, which, isEventType, UNREADABLE)
      .flatMap(({ entry, ...place }) => isEvent(entry) ? [{ ...place, entry }] : []);
  }

  messages(session: string, which?: WhichEntries): readonly MessageEntry[] {
    return this.#read(session, which, isMessageType, UNREADABLE_NOTE)
      .flatMap(({ entry }) => isMessage(entry) ? [entry] : []);
  }

  folds(session: string): readonly FoldEntry[] {
    const ranges = rangesOf(this.#database, session, 1, this.turn(session));
    return ranges.flatMap((range, at) => {
      // Later folds in the last common turn belong to the original session only.
      const fork = ranges[at + 1];
      const until = fork === undefined ? Infinity : this.session(fork.session)?.created ?? Infinity;
      return this.#log.folded(range)
        .flatMap((turn) => [...this.#log.read({ ...range, first: turn, last: turn }, { kind: isFoldType })])
        .flatMap(({ entry, time }) => entry !== undefined && isFold(entry) && time <= until ? [entry] : []);
    });
  }

  /** @param lost replaces the unreadable entries of a turn, once */
  #read(
    session: string,
    { first = 0, last = Number.MAX_SAFE_INTEGER, without = [], bareDiffs }: WhichEntries = {},
    isOf: (type: string) => boolean,
    lost: LogEntry,
  ): readonly Stored<LogEntry>[] {
    const left: ReadonlySet<string> = new Set(without);
    const wanted = { kind: (kind: string) => isOf(kind) && !left.has(kind), bareDiffs };
    let reportedTurn: number | undefined;
    return rangesOf(this.#database, session, first, last).flatMap((range) =>
      [...this.#log.read(range, wanted)].flatMap(({ turn, time, entry }) => {
        if (entry !== undefined) return [{ turn, time, entry }];
        if (reportedTurn === turn) return [];
        reportedTurn = turn;
        return [{ turn, time, entry: lost }];
      })
    );
  }

  hasCall(session: string, id: string): boolean {
    const sql = "SELECT 1 FROM calls WHERE session = ? AND id = ? AND turn BETWEEN ? AND ?";
    return rangesOf(this.#database, session, 0, this.turn(session)).some(({ session, first, last }) =>
      this.#database.get(sql, session, id, first, last) !== undefined
    );
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

  /** Long texts become contents that the session references. */
  #encode(session: string, value: unknown): string {
    return encodePayload(value, namedBlobs(this.#database, this.blobs, session));
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
