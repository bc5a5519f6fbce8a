/** What a long session costs: a generated one of 2,000 turns with 20 calls each, against one of 10. */
import { join } from "node:path";
import { Reviews } from "../../denops/agent/engine/checkpoint/review/reviews.ts";
import { Database, DATABASE_FILE } from "../../denops/agent/engine/store/database.ts";
import { StoredSessions } from "../../denops/agent/engine/store/sessions.ts";
import { SqliteStore } from "../../denops/agent/engine/store/sqlite.ts";
import { sweep } from "../../denops/agent/engine/store/sweep.ts";
import { SqliteUsage } from "../../denops/agent/engine/store/usage.ts";
import { ModelServer } from "../../tests/model/model_server.ts";
import { startEngine as startProcess } from "../../tests/support/acp.ts";
import { startEngine } from "../../tests/support/engine_session.ts";
import { type Scratch, scratch } from "../../tests/support/project.ts";
import { storeWork } from "../../tests/support/stored_work.ts";
import { atMost, group, growthRow, median, row } from "./row.ts";

const TURNS = 2_000;
const FEW_TURNS = 10;
const CALLS = 20;

/** The id that the harness of a session gives it. */
const ID = "s1";

const RUNS = 7;
/** Turns on screen when a session is opened. */
const SHOWN = 20;

const EDIT = 'call read {"path": "a.txt"}\n---\n' +
  'call edit {"path": "a.txt", "old_str": "X", "new_str": "XX"}\n---\nsay Done.';

export const turnEnd = group(["end_of_turn_2000"], async () => {
  await using few = await stored(FEW_TURNS);
  await using many = await stored(TURNS);
  const short = await endOfTurn(few.root);
  return { end_of_turn_2000: growthRow("ms", await endOfTurn(many.root), atMost(15), short) };
});

export const longSession = group(
  [
    "turn_2000",
    "engine_start_2000",
    "resume_2000",
    "fork_2000",
    "engine_memory_2000",
    "delete_2000",
    "database_2000",
    "database_deleted",
  ],
  async () => {
    await using few = await stored(FEW_TURNS);
    await using many = await stored(TURNS);
    const size = megabytes(many.root);
    const short = await opening(few.root);
    const long = await opening(many.root);
    const deleted = await deletion(many.root);
    return {
      turn_2000: growthRow("ms", long.turn, atMost(50), short.turn),
      engine_start_2000: growthRow("ms", long.start, atMost(300), short.start),
      resume_2000: growthRow("ms", long.resume, atMost(500), short.resume),
      fork_2000: growthRow("ms", long.fork, atMost(500), short.fork),
      engine_memory_2000: growthRow("MB", long.memory, atMost(150), short.memory),
      delete_2000: row("ms", deleted, atMost(2_000)),
      database_2000: row("MB", size, atMost(100)),
      database_deleted: row("MB", megabytes(many.root), atMost(5)),
    };
  },
);

/** A folder with a database that holds a session of so many turns. */
async function stored(turns: number): Promise<Scratch> {
  const folder = await scratch();
  await generate(folder.root, turns);
  return folder;
}

async function generate(folder: string, turns: number): Promise<void> {
  using database = await Database.openIn(folder);
  const store: SqliteStore = new SqliteStore(database, (changes) => reviews.recorded(changes));
  const reviews = new Reviews(store.reviews, store.blobs, ["/project"]);
  const usage = new SqliteUsage(database);
  storeWork({ database, store, usage }, { id: ID, root: "/project", turns, calls: CALLS });
  database.get("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** A real engine over a copy of the database, started anew each time. Medians. */
async function opening(source: string) {
  const found: Record<"start" | "resume" | "memory" | "fork" | "turn", number[]> = {
    ...{ start: [], resume: [], memory: [], fork: [], turn: [] },
  };
  await using server = await ModelServer.start("say Done.\nrepeat", { titles: "say A title" });
  for (let run = 0; run < RUNS; run++) {
    await using project = await scratch();
    await using state = await scratch();
    await Deno.copyFile(join(source, DATABASE_FILE), state.path(DATABASE_FILE));
    const began = performance.now();
    await using engine = await startProcess({ script: "", beside: { server, project, state } });
    await engine.initialize();
    found.start.push(performance.now() - began);
    const resuming = performance.now();
    await engine.resume(ID);
    await engine.ask("session_history", { sessionId: ID, turns: SHOWN });
    found.resume.push(performance.now() - resuming);
    found.memory.push(await residentMegabytes(engine.process.pid));
    const forking = performance.now();
    await engine.ask("session_fork", { sessionId: ID });
    found.fork.push(performance.now() - forking);
    await engine.prompt(ID, "One more");
    const prompting = performance.now();
    await engine.prompt(ID, "And one more");
    found.turn.push(performance.now() - prompting);
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
      database: await Database.openIn(state.root),
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

/** Milliseconds; what nothing needs any more is swept away after it. */
async function deletion(folder: string): Promise<number> {
  using database = await Database.openIn(folder);
  const began = performance.now();
  new StoredSessions(database).remove(ID);
  const removed = performance.now();
  await sweep(database, -1);
  database.get("PRAGMA wal_checkpoint(TRUNCATE)");
  return removed - began;
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
