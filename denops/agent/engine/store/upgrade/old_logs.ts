/** Converts the logs and the memory of earlier schemas: see old_entries.ts. */
import { inflateRawSync } from "node:zlib";
import type { LogEntry } from "../../log/entries.ts";
import { Blobs } from "../blobs.ts";
import { sizeOf } from "../log/entry_size.ts";
import { SessionMemory } from "../memory.ts";
import { converted, type DatedEntry, isEnd, type OldEntry, wordsOf, woven } from "./old_entries.ts";
import { decodeValue, encodePayload, namedBlobs } from "../log/payload.ts";
import type { RowSource, SourceRow } from "../rows.ts";
import { TurnLog } from "../log/turn_log.ts";
import type { Sql } from "../sql.ts";

interface OldTurn {
  readonly time: number;
  readonly entries: readonly OldEntry[];
}

/** Session → turn → its content. */
type OldTurns = Map<string, Map<number, OldTurn>>;

export class OldLogs {
  readonly #source: RowSource;
  readonly #database: Sql;
  readonly #blobs: Blobs;
  readonly #log: TurnLog;

  constructor(source: RowSource, database: Sql) {
    this.#source = source;
    this.#database = database;
    this.#blobs = new Blobs(database);
    this.#log = new TurnLog(database, this.#blobs);
  }

  /** Whether `convert` fills the table, instead of copied rows. */
  has(table: string): boolean {
    return this.#isPacked && (table === "turns" || table === "log");
  }

  get #isPacked(): boolean {
    const log = this.#source.tables.get("log");
    return log !== undefined && !log.includes("version");
  }

  /** Call it after all other rows were copied. */
  convert(): void {
    if (this.#isPacked) this.#store(this.#packed());
    if (this.#source.tables.has("events")) this.#store(this.#apart());
    if (this.#source.tables.get("sessions")?.includes("memory") === true) this.#remember();
  }

  #store(turns: OldTurns): void {
    for (const [session, ofSession] of turns) {
      const last = Math.max(...ofSession.keys());
      for (const [turn, { time, entries }] of [...ofSession].sort(([one], [other]) => one - other)) {
        const [firstLine = ""] = (wordsOf(entries) ?? "").trimStart().split("\n");
        this.#log.begin(session, turn, time, firstLine.slice(0, 300).toWellFormed());
        for (const [at, entry] of converted(entries).entries()) this.#add(session, turn, at + 1, entry);
        const end = entries.findLast(isEnd);
        if (end !== undefined || turn < last) {
          this.#log.seal(session, (event) => this.#encode(session, event));
        }
        if (end !== undefined && turn === last) {
          this.#database.run("UPDATE sessions SET ended = ? WHERE id = ?", reasonOf(end), session);
        }
      }
    }
  }

  #add(session: string, turn: number, seq: number, { time, kind, entry }: DatedEntry): void {
    const payload = entry === undefined ? "null" : this.#encode(session, entry);
    const size = entry === undefined ? 0 : sizeOf(entry);
    this.#log.add({ session, turn, seq, time, kind, payload, size });
    if (entry?.type !== "assistant_message") return;
    const sql = "INSERT OR IGNORE INTO calls (session, id, turn) VALUES (?, ?, ?)";
    for (const { id } of entry.calls) this.#database.run(sql, session, id, turn);
  }

  #encode(session: string, entry: LogEntry): string {
    return encodePayload(entry, namedBlobs(this.#database, this.#blobs, session));
  }

  /** From a table of events and a table of messages. */
  #apart(): OldTurns {
    const events = this.#grouped("events");
    const messages = this.#grouped("messages");
    const turns: OldTurns = new Map();
    for (
      const [session, turn] of [...events, ...messages].map(([, { session, turn }]) =>
        [session, turn] as const
      )
    ) {
      const key = `${session} ${turn}`;
      const own = events.get(key)?.entries ?? [];
      const entries = woven(own, messages.get(key)?.entries ?? []);
      put(turns, session, turn, { time: own[0]?.time ?? 0, entries });
    }
    return turns;
  }

  #grouped(table: string) {
    const rows = [...this.#source.tables.has(table) ? this.#source.rows(table) : []]
      .sort((one, other) => Number(one.seq) - Number(other.seq));
    return new Map(
      [...Map.groupBy(rows, ({ session, turn }) => `${session} ${turn}`)].map(([key, rows]) => {
        const [first] = rows;
        const entries = rows.map(({ kind, payload, time }) => ({
          kind: typeof kind === "string" ? kind : "message",
          time: Number(time ?? 0),
          value: this.#decoded(() => JSON.parse(String(payload))),
        }));
        return [key, { session: String(first?.session), turn: Number(first?.turn), entries }];
      }),
    );
  }

  /** From a log without versions: entries of ended turns are packed. */
  #packed(): OldTurns {
    const turns: OldTurns = new Map();
    const open = [...this.#source.rows("log")].sort((one, other) => Number(one.seq) - Number(other.seq));
    for (const row of this.#source.rows("turns")) {
      const own = open.filter(({ session, turn }) => session === row.session && turn === row.turn);
      const entries = [...this.#unpacked(row), ...own.map((entry) => this.#entry(entry))];
      put(turns, String(row.session), Number(row.turn), { time: Number(row.time), entries });
    }
    return turns;
  }

  #unpacked({ log, time }: SourceRow): readonly OldEntry[] {
    if (!(log instanceof Uint8Array)) return [];
    const packed = this.#decoded(() => JSON.parse(new TextDecoder().decode(inflateRawSync(log))));
    if (!Array.isArray(packed)) return [{ kind: "notice", time: Number(time), value: undefined }];
    return packed.map(([, time, kind, value]) => ({ kind, time, value }));
  }

  #entry({ kind, time, payload }: SourceRow): OldEntry {
    return {
      kind: String(kind),
      time: Number(time),
      value: this.#decoded(() => JSON.parse(String(payload))),
    };
  }

  /** Undefined if it cannot be read, or its content is lost. */
  #decoded(parse: () => unknown): unknown {
    try {
      return decodeValue(parse(), this.#blobs);
    } catch {
      return undefined;
    }
  }

  /** Files that the model had read are left out: it reads them again. */
  #remember(): void {
    const memory = new SessionMemory(this.#database, this.#blobs);
    for (const { id, memory: payload } of this.#source.rows("sessions")) {
      const old = this.#decoded(() => JSON.parse(String(payload)));
      if (typeof old !== "object" || old === null) continue;
      const { tools, ...facts } = old as { readonly tools?: Readonly<Record<string, unknown>> };
      for (const topic of ["folder", "plan", "titled", "spent"]) {
        const value = (facts as Readonly<Record<string, unknown>>)[topic];
        if (value !== undefined) memory.put(String(id), { topic, name: "", value });
      }
      for (const [name, value] of Object.entries(tools ?? {})) {
        memory.put(String(id), { topic: "tool", name, value });
      }
    }
  }
}

function put(turns: OldTurns, session: string, turn: number, old: OldTurn): void {
  const ofSession = turns.get(session) ?? new Map<number, OldTurn>();
  turns.set(session, ofSession.set(turn, old));
}

function reasonOf({ kind, value }: OldEntry): string {
  const { reason = "end_turn" } = (value ?? {}) as { readonly reason?: string };
  return kind === "turn_failed" ? "failed" : reason;
}
