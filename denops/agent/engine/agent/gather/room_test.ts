/** Long sessions in small windows: never over it, and what matters stays. */
import assert from "node:assert/strict";
import {
  bytes,
  BYTES_A_TOKEN,
  longRun,
  readFiles,
  reading,
  sentShare,
  SUMMARY,
} from "../../../../../tests/support/long_run.ts";
import type { TurnEnd } from "../turn/runner.ts";
import {
  END_TURN,
  type EngineOptions,
  type RunningEngine,
  startEngine,
} from "../../../../../tests/support/engine_session.ts";
import type { RecordedRequest } from "../../../../../tests/model/model_server.ts";
import { transcript } from "../../../../../tests/model/model_messages.ts";
import { storeWork } from "../../../../../tests/support/stored_work.ts";
import { IS_FULL, sample } from "../../../../../tests/support/sample.ts";
import { SqliteStore } from "../../store/sqlite.ts";
import { SqliteUsage } from "../../store/usage.ts";
import { WIRES } from "../../../protocol/providers.ts";
import { bytesOf } from "../../context/estimate.ts";

// No small one: see `SMALL_WINDOW`.
const WINDOW = 17_000;
/** Long enough to be folded several times. */
const ROUNDS = IS_FULL ? 200 : 60;

function isForSummary(request: RecordedRequest): boolean {
  return request.text.includes("Stop here for a moment");
}

function text(request: RecordedRequest | undefined): string {
  return request === undefined ? "" : transcript(request.wire, request.body).join("\n");
}

function notices({ events }: RunningEngine): readonly string[] {
  return events.flatMap((event) => event.type === "notice" ? [event.text] : []);
}

for (const wire of sample(WIRES, 2)) {
  Deno.test(`${wire}: ${ROUNDS} rounds in a small window: never over it, at most half of the bytes, and what matters stays`, async () => {
    await using engine = await longRun({ rounds: ROUNDS, window: WINDOW, wire });
    const { requests, problems } = engine.server;
    assert.deepEqual(problems, []);
    assert.ok(requests.length > ROUNDS);
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
    // The question for a summary goes on from the request before, which the provider has in its cache.
    const asked = requests.flatMap((one, at) => isForSummary(one) ? [[one, requests[at - 1]] as const] : []);
    assert.ok(asked.length > 0);
    for (const [question, before] of asked) {
      assert.deepEqual(question.body.tools, before?.body.tools);
      const lines = before === undefined ? [] : transcript(wire, before.body);
      assert.deepEqual(transcript(wire, question.body).slice(0, lines.length), lines);
    }
    assert.ok(sentShare(engine) <= 0.5, `${sentShare(engine)} of the bytes`);
    assert.equal(notices(engine).length, folds.length, "each is told");
  });
}

Deno.test("room is made before a result is cut: each is stored whole", async () => {
  await using engine = await longRun({ rounds: IS_FULL ? 200 : 40, window: 24_000, size: 4_000 });
  assert.deepEqual(engine.server.problems, []);
  const cut = engine.results().filter((text) => text.includes("left out"));
  assert.deepEqual(cut, []);
  assert.ok(engine.store.folds("s1").length > 3);
  const largest = Math.max(...engine.server.requests.map(bytes));
  assert.ok(largest <= 24_000 * BYTES_A_TOKEN, `${largest / BYTES_A_TOKEN} tokens`);
});

const PRICE = { input: 3, output: 15, cached_read: 0.3, cached_write: 3.75 };

/** What was sent cost, by the price: what begins as the request before did comes from the cache. */
function costOf({ server: { requests } }: RunningEngine): number {
  const lines = requests.map(({ wire, body }) => [JSON.stringify(body.tools), ...transcript(wire, body)]);
  return lines.reduce((cost, now, at) => {
    const before = lines[at - 1] ?? [];
    const end = now.findIndex((line, index) => line !== before[index]);
    const kept = now.slice(0, end < 0 ? now.length : end).join("").length;
    return cost + kept * PRICE.cached_read + (now.join("").length - kept) * PRICE.cached_write;
  }, 0);
}

Deno.test("in a large window old results are masked as soon as sending them costs more than a broken prefix", async () => {
  const run = { rounds: IS_FULL ? 200 : 100, window: 128_000, size: 1_500 };
  await using priced = await longRun({ ...run, price: PRICE });
  await using unpriced = await longRun(run);
  for (const { server } of [priced, unpriced]) assert.deepEqual(server.problems, []);
  assert.ok(costOf(priced) < costOf(unpriced) * 0.9, `${costOf(priced)}, ${costOf(unpriced)}`);
  const types = priced.store.folds("s1").map(({ type }) => type);
  assert.deepEqual(new Set(types), new Set(["masking"]));
  if (IS_FULL) assert.ok(sentShare(priced) <= 0.5, `${sentShare(priced)} of the bytes`);
  // Each prefix that is broken pays: few are.
  assert.ok(types.length <= run.rounds / 30, `${types.length} masks`);
  // The last ten results are as they were.
  const ends = [priced, unpriced].map(({ server }) => text(server.requests.at(-1)).split("\n").slice(-20));
  assert.deepEqual(ends[0], ends[1]);
});

/** A session whose one turn has read so many files, in a window that holds them. */
async function read(rounds: number, more = "", config: EngineOptions["config"] = {}): Promise<RunningEngine> {
  const engine = await startEngine({
    script: [SUMMARY, reading(rounds), ...more === "" ? [] : [more]].join("\n---\n"),
    files: readFiles(),
    config: { title: false, context_window: 1_000_000, max_iterations: 1_000, ...config },
  });
  await engine.prompt("TASK: read");
  return engine;
}

const FULL = 'status 400 {"error": {"message": "This model\'s maximum context length is 17000 tokens.", ' +
  '"code": "context_length_exceeded"}}';

Deno.test("a refusal for length folds once and goes on; a second one ends the turn", async () => {
  await using engine = await read(20, `${FULL}\n---\nnew-history\nsay Went on.\n---\n${FULL}\n---\n${FULL}`);
  assert.deepEqual(await engine.prompt("And now?"), END_TURN);
  assert.deepEqual(engine.server.problems, []);
  const last = engine.server.requests.at(-1);
  assert.ok(text(last).includes("PROMISE: no new libraries") && text(last).includes("And now?"));
  const end = await engine.prompt("Once more");
  assert.equal(end.type === "failed" ? end.error.kind : end.reason, "window_full");
});

Deno.test("compact: asked for, with what matters; taken back; the same after a restart", async () => {
  await using engine = await read(
    12,
    ["Compacted.", "Back.", "Again."].map((said) => `new-history\nsay ${said}`).join("\n---\n"),
  );
  const { session, server } = engine;
  await session.compact("the names of the files");
  assert.ok(text(server.requests.at(-1)).includes("What matters most to the user: the names of the files"));
  await engine.prompt("Go on");
  const compacted = text(server.requests.at(-1));
  assert.ok(compacted.includes("PROMISE: no new libraries") && compacted.includes("TASK: read"));
  assert.ok(!compacted.includes("// file 7\\n"));
  await assert.rejects(() => session.compact(undefined), {
    message: "Nothing to fold: the session is short.",
  });
  const again = engine.again();
  await again.prompt([{ type: "text", text: "And on" }]);
  assert.ok(text(server.requests.at(-1)).includes("PROMISE: no new libraries"), "after a restart");
  again.unfold();
  await again.prompt([{ type: "text", text: "And now?" }]);
  await again.close();
  const whole = text(server.requests.at(-1));
  assert.ok(whole.includes("// file 7") && !whole.includes("PROMISE: no new libraries"), "taken back");
  assert.throws(() => again.unfold(), { message: "Nothing is folded." });
  assert.deepEqual(server.problems, []);
  assert.match(
    notices(engine)[0] ?? "",
    /^Made room, \d+ % → \d+ % of the model's window: a summary stands for \d+ messages\. :Agent compact undo takes it back\.$/,
  );
});

Deno.test("where no model gives a summary the engine makes one: task, files and answers", async () => {
  await using engine = await read(12, "new-history\nsay Went on.");
  engine.server.play(
    "when Stop here for a moment\nnew-history\nsay \nrepeat\n---\nnew-history\nsay Went on.",
  );
  await engine.session.compact("everything");
  await engine.prompt("Go on");
  const sent = text(engine.server.requests.at(-1));
  for (const kept of ["TASK: read", "# Files involved", "- f7.ts", "# Work completed"]) {
    assert.ok(sent.includes(kept), kept);
  }
});

Deno.test("a stored session that is longer than the window, as another model had a larger one", async () => {
  await using engine = await startEngine({
    script: `${SUMMARY}\n---\nsay Went on.`,
    config: { title: false, context_window: WINDOW },
    store(database) {
      const store = new SqliteStore(database);
      const usage = new SqliteUsage(database);
      storeWork({ database, store, usage }, { id: "s1", root: "/project", turns: 40, calls: 10 });
      return store;
    },
  });
  assert.deepEqual(await engine.prompt("Go on"), END_TURN);
  assert.deepEqual(engine.server.problems, []);
  const largest = Math.max(...engine.server.requests.map(bytes));
  assert.ok(largest <= WINDOW * BYTES_A_TOKEN, `${largest / BYTES_A_TOKEN} tokens of ${WINDOW}`);
  assert.equal(notices(engine).length, 2, "turns are left out, and others folded");
});

Deno.test("what was taken back is not folded again at once", async () => {
  const answers = ["One.", "Two."].map((said) => `new-history\nsay ${said}`).join("\n---\n");
  await using engine = await read(12, answers, { context_window: 18_000 });
  const folds = engine.store.folds("s1").length;
  assert.ok(folds > 0);
  for (let left = folds; left > 0; left--) engine.session.unfold();
  assert.deepEqual(await engine.prompt("And now?"), END_TURN);
  assert.equal(engine.store.folds("s1").length, 2 * folds);
  assert.deepEqual(engine.server.problems, []);
});

for (const compaction of ["auto", 0.5, 0.9] as const) {
  Deno.test(`compaction ${compaction}: the context tells where a fold begins, and the message that exceeds it folds`, async () => {
    await using engine = await startEngine({
      script: `${SUMMARY}\n---\n${"new-history\nsay Well.\n---\n".repeat(40)}say End.`,
      config: { title: false, context_window: WINDOW, compaction },
    });
    const message = "The quick brown fox jumps over the lazy dog. ".repeat(45);
    let before;
    do {
      before = engine.session.context();
      const { tokens, folds_above: limit = 0 } = before;
      assert.ok(tokens <= limit, `${tokens} tokens are not folded, above ${limit}`);
      assert.deepEqual(await engine.prompt(message), END_TURN);
    } while (engine.store.folds("s1").length === 0);
    const { tokens, folds_above: limit = 0 } = before;
    if (compaction !== "auto") assert.equal(limit, Math.floor(compaction * WINDOW));
    assert.ok(tokens + bytesOf(message) / 2 > limit, `${tokens} tokens are folded, below ${limit}`);
    for (const _ of engine.store.folds("s1")) engine.session.unfold();
    assert.equal(engine.session.context().folds_above, Math.floor(0.95 * WINDOW), "once it was taken back");
  });
}

const WINDOW_IS_FULL = "Cannot continue: the model's window is full, and sessions.compaction is false. " +
  "Run :Agent compact, or :Agent new.";

function failure(end: TurnEnd): string {
  return end.type === "failed" ? end.error.message : end.reason;
}

Deno.test("compaction off: nothing is folded, the full window ends the turn with one line, and it can be asked for", async () => {
  const config = { context_window: WINDOW, compaction: false, price: PRICE } as const;
  await using engine = await startEngine({
    script: [SUMMARY, reading(60)].join("\n---\n"),
    files: readFiles(),
    config: { title: false, max_iterations: 1_000, ...config },
  });
  assert.equal(failure(await engine.prompt("TASK: read")), WINDOW_IS_FULL);
  const { requests, problems } = engine.server;
  const lines = requests.map(({ wire, body }) => transcript(wire, body));
  for (const [at, before] of lines.slice(0, -1).entries()) {
    assert.deepEqual(lines[at + 1]?.slice(0, before.length), before, "all is sent as it was");
  }
  assert.ok(Math.max(...requests.map(bytes)) > 0.8 * WINDOW * BYTES_A_TOKEN);
  const { window, folds_above } = engine.session.context();
  assert.deepEqual([window, folds_above], [WINDOW, undefined]);
  assert.equal(failure(await engine.prompt("And now?")), WINDOW_IS_FULL);
  assert.deepEqual([engine.store.folds("s1"), notices(engine)], [[], []]);

  await engine.session.compact("all");
  engine.server.play("new-history\nsay Went on.");
  assert.deepEqual(await engine.prompt("Go on"), END_TURN);
  assert.deepEqual(problems, []);
});

Deno.test("compaction off: a refusal for length, and an answer that ends there, end the turn with the same line", async () => {
  for (const answer of [FULL, "say Half\nstop =model_context_window_exceeded"]) {
    await using engine = await startEngine({
      wire: "anthropic_messages",
      script: `say Hello.\n---\n${answer}`,
      config: { title: false, compaction: false },
    });
    assert.deepEqual(await engine.prompt("Hello"), END_TURN);
    assert.equal(failure(await engine.prompt("And now?")), WINDOW_IS_FULL);
  }
});

Deno.test("another model writes the summary where the user has set one", async () => {
  await using engine = await read(12, "", { summary_model: "small" });
  await engine.session.compact("everything");
  assert.deepEqual(engine.server.requests.slice(-2).map(({ body }) => body.model), ["model-1", "small"]);
  assert.deepEqual(engine.usage.report("s1").models.map(({ name }) => name), ["test/small", "test/model-1"]);
  assert.deepEqual(engine.store.folds("s1").map(({ type }) => type), ["compaction"]);
});

Deno.test("a result takes at most half of the room that is left", async () => {
  await using engine = await startEngine({
    script: 'call read_file {"path": "big.txt"}\ncall read_file {"path": "big2.txt"}\n---\nsay Done.',
    files: { "big.txt": "1234567 9\n".repeat(4_000), "big2.txt": "1234567 9\n".repeat(4_000) },
    config: { title: false, context_window: WINDOW },
  });
  assert.deepEqual(await engine.prompt("Read"), END_TURN);
  const [first = "", second = ""] = engine.results();
  assert.match(first, /characters left out: the window has no more room/);
  assert.ok(second.length < first.length * 0.6, `${first.length}, ${second.length}`);
  assert.ok(bytes(engine.server.requests.at(-1) as RecordedRequest) < WINDOW * BYTES_A_TOKEN);
});

Deno.test("a cancel while a summary is written folds nothing", async () => {
  await using engine = await read(12);
  engine.server.play("new-history\nwait here\nsay never");
  const folding = engine.session.compact("everything");
  await engine.server.reached("here");
  engine.session.cancel();
  await folding;
  assert.deepEqual(engine.store.folds("s1"), []);
  engine.server.play("new-history\nsay Fine.");
  assert.deepEqual(await engine.prompt("Go on"), END_TURN);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("a summary that was refused, or that repeats itself, is none: what is known stands in its place", async () => {
  const loop = `say ${"All is well with the file, and all is well. ".repeat(200)}\nwait never`;
  for (const answer of ["say I can't\nstop content_filter", loop]) {
    await using engine = await read(12);
    engine.server.play(`new-history\n${answer}`);
    await engine.session.compact("everything");
    const [fold] = engine.store.folds("s1");
    assert.ok(fold?.type === "compaction");
    assert.equal(fold.by, "engine");
    assert.doesNotMatch(fold.summary, /I can't|All is well/);
  }
});
