/** What a long session costs, for bench.ts: a generated one of 2,000 turns with 20 calls each, and a short one. */
import { join } from "node:path";
import { Reviews } from "../denops/agent/engine/checkpoint/reviews.ts";
import { Database, DATABASE_FILE } from "../denops/agent/engine/store/database.ts";
import { StoredSessions } from "../denops/agent/engine/store/sessions.ts";
import { SqliteStore } from "../denops/agent/engine/store/sqlite.ts";
import { sweep } from "../denops/agent/engine/store/sweep.ts";
import { SqliteUsage } from "../denops/agent/engine/store/usage.ts";
import { ModelServer } from "../tests/model/model_server.ts";
import { startEngine as startProcess } from "../tests/support/acp.ts";
import { startEngine } from "../tests/support/engine_session.ts";
import { scratch } from "../tests/support/project.ts";
import { storeWork } from "../tests/support/stored_work.ts";

const TURNS = 2_000;
const FEW_TURNS = 10;
const CALLS = 20;

/** The id that the harness of a session gives it. */
const ID = "s1";

const RUNS = 7;
/** Turns on screen when a session is opened. */
const SHOWN = 20;

const EDIT = 'call read_file {"path": "a.txt"}\n---\n' +
  'call edit_file {"path": "a.txt", "old_str": "X", "new_str": "XX"}\n---\nsay Done.';

export async function benchStore(): Promise<void> {
  await using few = await scratch();
  await using many = await scratch();
  generate(few.root, FEW_TURNS);
  const generated = performance.now();
  generate(many.root, TURNS);
  console.log(`${TURNS} turns of ${CALLS} calls, generated in ${seconds(performance.now() - generated)}`);
  row("the database", megabytes(many.root), 100, "MB");
  const floor = await opening(few.root);
  const whole = await opening(many.root);
  row("start of the engine", whole.start, 300, "ms", floor.start);
  row("resume, with the newest turns", whole.resume, 500, "ms", floor.resume);
  row("memory after it", whole.memory, 150, "MB", floor.memory);
  row("fork", whole.fork, 500, "ms", floor.fork);
  row("a whole turn, without its model", whole.turn, 50, "ms", floor.turn);
  row("end of a turn", await endOfTurn(many.root), 15, "ms", await endOfTurn(few.root));
  await deletion(many.root);
}

function row(what: string, value: number, limit: number, unit: string, floor?: number): void {
  const verdict = value <= limit ? "" : "  OVER";
  const short = floor === undefined ? "" : `with ${FEW_TURNS} turns: ${floor.toFixed(1)} ${unit}`;
  console.log(
    `${what.padEnd(44)} ${
      value.toFixed(2).padStart(8)
    } ${unit}   limit ${limit} ${unit}   ${short}${verdict}`,
  );
}

function generate(folder: string, turns: number): void {
  using database = Database.openIn(folder).database;
  const store: SqliteStore = new SqliteStore(database, (changes) => reviews.recorded(changes));
  const reviews = new Reviews(store.reviews, store.blobs, ["/project"]);
  const usage = new SqliteUsage(database);
  storeWork({ database, store, usage }, { id: ID, root: "/project", turns, calls: CALLS });
  database.get("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** A real engine over a copy of the database, started anew each time. Medians. */
async function opening(source: string) {
  const found = { start: [], resume: [], memory: [], fork: [], turn: [] } as Record<string, number[]>;
  await using server = await ModelServer.start("say Done.\nrepeat", { titles: "say A title" });
  for (let run = 0; run < RUNS; run++) {
    await using project = await scratch();
    await using state = await scratch();
    await Deno.copyFile(join(source, DATABASE_FILE), state.path(DATABASE_FILE));
    const began = performance.now();
    await using engine = await startProcess({ script: "", beside: { server, project, state } });
    await engine.initialize();
    found.start?.push(performance.now() - began);
    const resuming = performance.now();
    await engine.resume(ID);
    await engine.ask("session_history", { sessionId: ID, turns: SHOWN });
    found.resume?.push(performance.now() - resuming);
    found.memory?.push(await residentMegabytes(engine.process.pid));
    const forking = performance.now();
    await engine.ask("session_fork", { sessionId: ID });
    found.fork?.push(performance.now() - forking);
    await engine.prompt(ID, "One more");
    const prompting = performance.now();
    await engine.prompt(ID, "And one more");
    found.turn?.push(performance.now() - prompting);
  }
  const { start, resume, memory, fork, turn } = found;
  return {
    ...{ start: median(start), resume: median(resume), memory: median(memory) },
    ...{ fork: median(fork), turn: median(turn) },
  };
}

/** Milliseconds from the model's last word until the turn has ended, of turns that edit a file. */
async function endOfTurn(source: string): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    await using state = await scratch();
    await Deno.copyFile(join(source, DATABASE_FILE), state.path(DATABASE_FILE));
    let answered = 0;
    await using engine = await startEngine({
      script: `${EDIT}\n---\n${EDIT}`,
      files: { "a.txt": "X\n".padEnd(8_000, "line\n") },
      config: { title: false },
      database: Database.openIn(state.root).database,
      publish(event) {
        if (event.type === "usage") answered = performance.now();
        if (event.type === "turn_done") times.push(performance.now() - answered);
      },
    });
    await engine.prompt("Edit it");
    await engine.prompt("And again");
  }
  return median(times);
}

async function deletion(folder: string): Promise<void> {
  using database = Database.openIn(folder).database;
  const began = performance.now();
  const sessions = new StoredSessions(database);
  sessions.remove(ID);
  const removed = performance.now();
  await sweep(database, -1);
  database.get("PRAGMA wal_checkpoint(TRUNCATE)");
  row("deleting it", removed - began, 2_000, "ms");
  console.log(`the sweep after it took ${seconds(performance.now() - removed)}`);
  row("the database after that", megabytes(folder), 5, "MB");
}

/** With what waits to be written into it. */
function megabytes(folder: string): number {
  return Deno.readDirSync(folder).filter(({ isFile }) => isFile)
    .reduce((sum, { name }) => sum + Deno.statSync(join(folder, name)).size, 0) / 1e6;
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? NaN) / 1_000;
}

function median(values: readonly number[] = []): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
