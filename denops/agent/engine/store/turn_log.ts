/**
 * The entries of turns. Those of a turn that goes on are rows; when it ends they become one deflated text with the
 * turn: JSON, [seq, time, kind, payload] each. So every turn costs the same to end, to read and to keep, and what its
 * events and its messages both say is stored once.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { AgentEvent } from "../core/events.ts";
import type { Message } from "../core/messages.ts";
import type { Blobs } from "./blobs.ts";
import type { Database } from "./database.ts";
import { runsOf } from "./merge.ts";
import { decodePayload, decodeValue } from "./payload.ts";

/** Of deflate: a turn's end waits for it. */
const LEVEL = 4;

export interface Entry {
  readonly turn: number;
  /** Rises within a turn. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly event?: AgentEvent;
  readonly message?: Message;
}

/** The kind of a message; of an event it is its type. */
export const MESSAGE = "message";

export interface NewEntry {
  readonly session: string;
  readonly turn: number;
  readonly seq: number;
  readonly time: number;
  readonly kind: string;
  /** JSON. */
  readonly payload: string;
  /** Of a message: its characters. */
  readonly size: number;
}

export interface Wanted {
  /** Others are not decoded. */
  kind(kind: string): boolean;
  readonly bareDiffs?: boolean | undefined;
}

/** Turns of one session, both included. */
export interface Range {
  readonly session: string;
  readonly first: number;
  readonly last: number;
}

export class TurnLog {
  readonly #database: Database;
  readonly #blobs: Blobs;

  constructor(database: Database, blobs: Blobs) {
    this.#database = database;
    this.#blobs = blobs;
  }

  /** @param asked the first line of what the user has asked */
  begin(session: string, turn: number, time: number, asked: string): void {
    const sql = "INSERT OR IGNORE INTO turns (session, turn, time, asked) VALUES (?, ?, ?, ?)";
    this.#database.run(sql, session, turn, time, asked);
  }

  add({ session, turn, seq, time, kind, payload, size }: NewEntry): void {
    this.#database.run(
      "INSERT INTO log (session, turn, seq, time, kind, payload, size) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ...[session, turn, seq, time, kind, payload, size],
    );
  }

  /** The seq of the turn's last entry; 0 if it has none. */
  lastSeq(session: string, turn: number): number {
    const sql = `SELECT max(
      ifnull((SELECT max(seq) FROM log WHERE session = ?1 AND turn = ?2), 0),
      ifnull((SELECT last FROM turns WHERE session = ?1 AND turn = ?2), 0)) AS last`;
    return Number(this.#database.get(sql, session, turn)?.last ?? 0);
  }

  /**
   * What is in rows becomes one text for each turn; the pieces in which texts streamed in are put together.
   * @param encode makes JSON of an event
   */
  seal(session: string, encode: (event: AgentEvent) => string): void {
    for (const { turn } of this.#database.all("SELECT DISTINCT turn FROM log WHERE session = ?", session)) {
      this.#seal(session, Number(turn), encode);
    }
  }

  #seal(session: string, turn: number, encode: (event: AgentEvent) => string): void {
    const rows = this.#database.all(
      "SELECT seq, time, kind, payload, size FROM log WHERE session = ? AND turn = ? ORDER BY seq",
      session,
      turn,
    ).map(({ seq, time, kind, payload, size }) => ({
      ...{ seq: Number(seq), time: Number(time), kind: String(kind), payload: String(payload) },
      size: Number(size),
    }));
    const isPiece = (kind: string) => kind === "token" || kind === "thought";
    const runs = runsOf(
      rows.filter(({ kind }) => kind !== MESSAGE).map(({ seq, kind, payload }) => ({
        place: seq,
        // What stands between the pieces only parts them.
        event: isPiece(kind) ? this.#event(payload) : { type: "plan", steps: [] } as const,
      })),
    );
    const merged = new Map(runs.map(({ place, event }) => [place, encode(event)]));
    const gone = new Set(runs.flatMap(({ others }) => others));
    const packed = rows.filter(({ seq }) => !gone.has(seq)).map(({ seq, time, kind, payload }) =>
      `[${seq},${time},${JSON.stringify(kind)},${merged.get(seq) ?? payload}]`
    );
    const before = this.#sealed(this.#row(session, turn)?.log)?.slice(1, -1);
    const text = `[${[...before === undefined ? [] : [before], ...packed].join(",")}]`;
    this.begin(session, turn, rows[0]?.time ?? 0, "");
    this.#database.run(
      "UPDATE turns SET planned = max(planned, ?), size = size + ?, last = ?, log = ? WHERE session = ? AND turn = ?",
      rows.some(({ kind }) => kind === "plan") ? 1 : 0,
      rows.reduce((sum, { size }) => sum + size, 0),
      rows.at(-1)?.seq ?? 0,
      deflateRawSync(new TextEncoder().encode(text), { level: LEVEL }),
      session,
      turn,
    );
    this.#database.run("DELETE FROM log WHERE session = ? AND turn = ?", session, turn);
  }

  /** The entries of these turns, in order. */
  *read({ session, first, last }: Range, wanted: Wanted): Generator<Entry> {
    const turns = this.#database.all(
      `SELECT turn FROM turns WHERE session = ?1 AND turn BETWEEN ?2 AND ?3
       UNION SELECT turn FROM log WHERE session = ?1 AND turn BETWEEN ?2 AND ?3 ORDER BY turn`,
      session,
      first,
      last,
    );
    for (const { turn } of turns) yield* this.#turn(session, Number(turn), wanted);
  }

  /** Undefined if there is none. */
  entry(session: string, turn: number, seq: number): Entry | undefined {
    return this.#turn(session, turn, { kind: () => true }).find((entry) => entry.seq === seq);
  }

  *#turn(session: string, turn: number, wanted: Wanted): Generator<Entry> {
    const entry = ([seq, time, kind, payload]: Packed): Entry => {
      if (wanted.bareDiffs === true) emptyDiff(payload);
      const value = decodeValue(payload, this.#blobs);
      return kind === MESSAGE
        ? { turn, seq, time, message: value as Message }
        : { turn, seq, time, event: value as AgentEvent };
    };
    const sealed = this.#sealed(this.#row(session, turn)?.log);
    for (const packed of sealed === undefined ? [] : JSON.parse(sealed) as Packed[]) {
      if (wanted.kind(packed[2])) yield entry(packed);
    }
    const rows = this.#database.all(
      "SELECT seq, time, kind, payload FROM log WHERE session = ? AND turn = ? ORDER BY seq",
      session,
      turn,
    );
    for (const { seq, time, kind, payload } of rows) {
      if (!wanted.kind(String(kind))) continue;
      yield entry([Number(seq), Number(time), String(kind), JSON.parse(String(payload))]);
    }
  }

  #row(session: string, turn: number) {
    return this.#database.get("SELECT log FROM turns WHERE session = ? AND turn = ?", session, turn);
  }

  #sealed(log: unknown): string | undefined {
    return log instanceof Uint8Array ? new TextDecoder().decode(inflateRawSync(log)) : undefined;
  }

  #event(payload: string): AgentEvent {
    return decodePayload(payload, this.#blobs) as AgentEvent;
  }
}

type Packed = readonly [seq: number, time: number, kind: string, payload: unknown];

/** In place. */
function emptyDiff(payload: unknown): void {
  const { diff } = payload as { diff?: BareDiff };
  if (diff === undefined) return;
  for (const one of [diff, ...diff.others ?? []]) {
    one.after = "";
    if (one.before !== undefined) one.before = "";
  }
}

interface BareDiff {
  before?: unknown;
  after: unknown;
  others?: readonly BareDiff[];
}
