/**
 * The entries of turns. A running turn's entries are rows; at its end they become one deflated text: JSON, [seq, time,
 * kind, version, payload] each. So the cost of a turn does not depend on others, and repeated text is stored once.
 * Entries are checked when read; an unreadable entry does not affect others.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { ENTRY_VERSION, LogEntry } from "../../log/entries.ts";
import { FOLD_TYPES, isFoldType, isMessageType } from "../../log/entry_kinds.ts";
import type { AgentEvent } from "../../log/events.ts";
import type { Blobs } from "../blobs.ts";
import { runsOf } from "./merge.ts";
import { decodeValue } from "./payload.ts";
import type { Sql } from "../sql.ts";

/** Deflate level; the end of a turn waits for it. */
const LEVEL = 4;

interface Entry {
  readonly turn: number;
  /** Rises within a turn. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Undefined if unreadable. */
  readonly entry: LogEntry | undefined;
}

interface NewEntry {
  readonly session: string;
  readonly turn: number;
  readonly seq: number;
  readonly time: number;
  /** The entry's type. */
  readonly kind: string;
  /** JSON. */
  readonly payload: string;
  /** Characters of a message. */
  readonly size: number;
}

interface Wanted {
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
  readonly #database: Sql;
  readonly #blobs: Blobs;

  constructor(database: Sql, blobs: Blobs) {
    this.#database = database;
    this.#blobs = blobs;
  }

  /** @param firstLine of the user's message */
  begin(session: string, turn: number, time: number, firstLine: string): void {
    const sql = "INSERT OR IGNORE INTO turns (session, turn, time, asked) VALUES (?, ?, ?, ?)";
    this.#database.run(sql, session, turn, time, firstLine);
  }

  add({ session, turn, seq, time, kind, payload, size }: NewEntry): void {
    this.#database.run(
      "INSERT INTO log (session, turn, seq, time, kind, version, payload, size) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      ...[session, turn, seq, time, kind, ENTRY_VERSION, payload, size],
    );
  }

  /** The last seq of the turn; 0 without entries. */
  lastSeq(session: string, turn: number): number {
    const sql = `SELECT max(
      ifnull((SELECT max(seq) FROM log WHERE session = ?1 AND turn = ?2), 0),
      ifnull((SELECT last FROM turns WHERE session = ?1 AND turn = ?2), 0)) AS last`;
    return Number(this.#database.get(sql, session, turn)?.last ?? 0);
  }

  /** Packs rows into one text for each turn and merges streamed pieces. @param encode turns an event into JSON */
  seal(session: string, encode: (event: AgentEvent) => string): void {
    for (const { turn } of this.#database.all("SELECT DISTINCT turn FROM log WHERE session = ?", session)) {
      this.#seal(session, Number(turn), encode);
    }
  }

  #seal(session: string, turn: number, encode: (event: AgentEvent) => string): void {
    const sealed = this.#sealed(session, turn);
    // Broken data stays.
    if (sealed === "") return;
    const rows = this.#database.all(
      "SELECT seq, time, kind, version, payload, size FROM log WHERE session = ? AND turn = ? ORDER BY seq",
      session,
      turn,
    ).map(({ seq, time, kind, version, payload, size }) => ({
      ...{ seq: Number(seq), time: Number(time), kind: String(kind), version: Number(version) },
      ...{ payload: String(payload), size: Number(size) },
    }));
    const isPiece = (kind: string) => kind === "token" || kind === "thought";
    const runs = runsOf(
      rows.filter(({ kind }) => !isMessageType(kind) && !isFoldType(kind)).map((
        { seq, kind, version, payload },
      ) => ({
        place: seq,
        // Entries between pieces only separate them.
        entry: isPiece(kind) ? this.#entry(version, parsed(payload)) : undefined,
      })),
    );
    const merged = new Map(runs.map(({ place, event }) => [place, encode(event)]));
    const gone = new Set(runs.flatMap(({ others }) => others));
    const packed = rows.filter(({ seq }) => !gone.has(seq)).map(({ seq, time, kind, version, payload }) =>
      `[${seq},${time},${JSON.stringify(kind)},${version},${merged.get(seq) ?? payload}]`
    );
    const text = `[${[...sealed === undefined ? [] : [sealed.slice(1, -1)], ...packed].join(",")}]`;
    this.begin(session, turn, rows[0]?.time ?? 0, "");
    this.#database.run(
      "UPDATE turns SET planned = max(planned, ?), folded = max(folded, ?), size = size + ?, last = ?, log = ? WHERE session = ? AND turn = ?",
      rows.some(({ kind }) => kind === "plan") ? 1 : 0,
      rows.some(({ kind }) => isFoldType(kind)) ? 1 : 0,
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

  /** Turns of this range with folds. */
  folded({ session, first, last }: Range): readonly number[] {
    return this.#database.all(
      `SELECT turn FROM turns WHERE session = ?1 AND turn BETWEEN ?2 AND ?3 AND folded = 1
       UNION SELECT turn FROM log WHERE session = ?1 AND turn BETWEEN ?2 AND ?3
       AND kind IN (SELECT value FROM json_each(?4)) ORDER BY turn`,
      ...[session, first, last, JSON.stringify(FOLD_TYPES)],
    ).map(({ turn }) => Number(turn));
  }

  /** Undefined if it does not exist. */
  entry(session: string, turn: number, seq: number): Entry | undefined {
    return this.#turn(session, turn, { kind: () => true }).find((entry) => entry.seq === seq);
  }

  *#turn(session: string, turn: number, wanted: Wanted): Generator<Entry> {
    const sealed = this.#sealed(session, turn);
    const packed = sealed === undefined ? [] : parsed(sealed) as Packed[] | undefined;
    if (packed === undefined) yield { turn, seq: 0, time: 0, entry: undefined };
    const rows = this.#database.all(
      "SELECT seq, time, kind, version, payload FROM log WHERE session = ? AND turn = ? ORDER BY seq",
      session,
      turn,
    ).values().map(({ seq, time, kind, version, payload }): Packed => [
      ...[Number(seq), Number(time)] as const,
      ...[String(kind), Number(version), parsed(String(payload))] as const,
    ]);
    for (const [seq, time, kind, version, payload] of [...packed ?? [], ...rows]) {
      if (!wanted.kind(kind)) continue;
      yield { turn, seq, time, entry: this.#entry(version, payload, wanted.bareDiffs) };
    }
  }

  /** Undefined if a later version stored it, or it is damaged. */
  #entry(version: number, payload: unknown, bareDiffs = false): LogEntry | undefined {
    if (version > ENTRY_VERSION) return undefined;
    try {
      if (bareDiffs) emptyDiff(payload);
      return LogEntry.parse(decodeValue(payload, this.#blobs));
    } catch {
      return undefined;
    }
  }

  /** The packed entries of an ended turn as JSON; empty if they are broken. */
  #sealed(session: string, turn: number): string | undefined {
    const sql = "SELECT log FROM turns WHERE session = ? AND turn = ?";
    const log = this.#database.get(sql, session, turn)?.log;
    if (!(log instanceof Uint8Array)) return undefined;
    try {
      return new TextDecoder().decode(inflateRawSync(log));
    } catch {
      return "";
    }
  }
}

type Packed = readonly [seq: number, time: number, kind: string, version: number, payload: unknown];

/** Undefined for invalid JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

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
