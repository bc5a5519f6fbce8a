/** Long sessions in small windows: never over it, and what matters stays. */
import assert from "node:assert/strict";
import { END_TURN, type RunningEngine, startEngine } from "../../../../tests/support/engine_session.ts";
import type { RecordedRequest } from "../../../../tests/model/model_server.ts";
import { transcript } from "../../../../tests/model/model_messages.ts";
import { WIRES } from "../../protocol/providers.ts";

const WINDOW = 16_000;
/** Bytes of a request that the scripted model counts as a token. */
const BYTES_A_TOKEN = 4;

const SUMMARY =
  "when Stop here for a moment\nnew-history\nsay # Promises made\nsay \nsay PROMISE: no new libraries.\nrepeat";

const FILES = Object.fromEntries(
  Array.from({ length: 20 }, (_, at) => [`f${at}.ts`, `// file ${at}\n`.padEnd(3_000, "const line = 1;\n")]),
);

function bytes({ body }: RecordedRequest): number {
  return JSON.stringify(body).length;
}

function isForSummary(request: RecordedRequest): boolean {
  return request.text.includes("Stop here for a moment");
}

function text(request: RecordedRequest | undefined): string {
  return request === undefined ? "" : transcript(request.wire, request.body).join("\n");
}

/** Reads, in one turn, and says Done. */
function reading(rounds: number): string {
  const answers = Array.from(
    { length: rounds },
    (_, at) =>
      `new-history\nthink Hm\ncall read_file {"path": "f${at * 7 % 20}.ts", "start_line": ${at % 9 + 1}}`,
  );
  return [...answers, "new-history\nsay Done."].join("\n---\n");
}

function notices({ events }: RunningEngine): readonly string[] {
  return events.flatMap((event) => event.type === "notice" ? [event.text] : []);
}

async function longRun(wire: typeof WIRES[number], window: number): Promise<RunningEngine> {
  const plan = 'call update_plan {"steps": [{"step": "PLAN: read everything", "status": "in_progress"}]}';
  const engine = await startEngine({
    wire,
    script: [SUMMARY, plan, reading(200)].join("\n---\n"),
    files: FILES,
    config: { title: false, context_window: window, max_iterations: 1_000 },
  });
  assert.deepEqual(await engine.prompt("TASK: read all files and keep the names as they are"), END_TURN);
  return engine;
}

for (const wire of WIRES) {
  Deno.test(`${wire}: 200 rounds in a small window: never over it, at most half of the bytes, and what matters stays`, async () => {
    await using engine = await longRun(wire, WINDOW);
    const { requests, problems } = engine.server;
    assert.deepEqual(problems, []);
    assert.ok(requests.length > 200);
    const largest = Math.max(...requests.map(bytes));
    assert.ok(largest <= WINDOW * BYTES_A_TOKEN, `${largest / BYTES_A_TOKEN} tokens of ${WINDOW}`);
    const folds = engine.store.folds("s1");
    assert.ok(folds.length > 3, "it was folded");
    const last = text(requests.at(-1));
    for (const kept of ["TASK: read all files", "PLAN: read everything", "PROMISE: no new libraries"]) {
      assert.ok(last.includes(kept), kept);
    }
    // The prefix breaks with a fold and with nothing else; the question for a summary is in no history.
    const own = requests.filter((request) => !isForSummary(request)).map((one) => transcript(wire, one.body));
    const broken = own.filter((now, at) => at > 0 && own[at - 1]?.some((line, index) => now[index] !== line));
    assert.ok(broken.length <= folds.length, `${broken.length} breaks, ${folds.length} folds`);
    const all = requests.reduce((sum, request) => sum + bytes(request), 0);
    const fixed = requests.length * bytes(requests[0] as RecordedRequest);
    console.log(
      wire,
      folds.length,
      broken.length,
      all,
      fixed,
      largest / BYTES_A_TOKEN,
      folds.map((f) => f.type).join(" "),
    );
    assert.equal(notices(engine).length, folds.length, "each is told");
  });
}
