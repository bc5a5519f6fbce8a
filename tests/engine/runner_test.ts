/** A session does not know what runs its turns: what another runner does is stored, shown, taken back like the loop's. */
import assert from "node:assert/strict";
import { history } from "../../denops/agent/engine/acp/history.ts";
import type { Runner } from "../../denops/agent/engine/agent/turn/runner.ts";
import { Reviews } from "../../denops/agent/engine/checkpoint/review/reviews.ts";
import { TurnError } from "../../denops/agent/shared/errors.ts";
import { SqliteStore } from "../../denops/agent/engine/store/sqlite.ts";
import {
  CANCELLED,
  checkEvents,
  END_TURN,
  type EngineOptions,
  startEngine,
} from "../support/engine_session.ts";
import { scriptedRunner } from "../support/scripted_runner.ts";

const FILES = { "a.txt": "alpha\n", ".env": "KEY=1\n" };

async function start(runner: Runner, options: Partial<EngineOptions> = {}) {
  return await startEngine({ script: "", files: FILES, runner, ...options });
}

Deno.test("a foreign runner: its turn is stored as it was shown, goes on after a restart, is undone and reviewed", async () => {
  const reviews: Reviews[] = [];
  await using engine = await start(
    scriptedRunner(async (turn, prompt) => {
      turn.say(`I was asked: ${prompt}`);
      await turn.write("w1", "a.txt", "omega\n");
      await turn.write("w2", ".env", "KEY=2\n");
      turn.use(100, 10);
    }),
    {
      store(database) {
        const store: SqliteStore = new SqliteStore(
          database,
          (changes) => reviews.forEach((one) => one.recorded(changes)),
        );
        reviews.push(new Reviews(store.reviews, store.blobs, []));
        return store;
      },
    },
  );
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  checkEvents(engine.events);
  assert.deepEqual(engine.asked.map(({ reason, call }) => [call.title, reason]), [
    ["write .env", ".env needs your approval (matches **/.env*)"],
  ]);
  const published = engine.events.filter(({ type }) => type !== "title");
  assert.deepEqual(engine.stored(), published);
  assert.deepEqual(engine.events.flatMap((event) => event.type === "usage" ? [event.usage.input] : []), [
    100,
  ]);
  assert.deepEqual(engine.usage.report("s1").models.map(({ name }) => name), ["other/other-1"]);
  const [review] = reviews;
  const paths = (await review?.list(undefined, false) ?? []).map(({ path }) => path).toSorted();
  assert.deepEqual(paths, [".env", "a.txt"].map((name) => engine.project.path(name)));

  const again = engine.again();
  assert.deepEqual(await again.prompt([{ type: "text", text: "And again" }]), END_TURN);
  const texts = engine.messages().map(({ text }) => text);
  assert.deepEqual(texts, ["Go", "I was asked: Go", "And again", "I was asked: And again"]);
  await again.takeBack({ kind: "restore", turn: 1 });
  assert.equal(await engine.project.read("a.txt"), FILES["a.txt"]);
  assert.equal(await engine.project.read(".env"), FILES[".env"]);
});

Deno.test("a foreign runner: what the user refuses is not written", async () => {
  await using engine = await start(
    scriptedRunner(async (turn) => turn.say(String(await turn.write("w", ".env", "KEY=2\n")))),
    { ask: () => ({ answer: "reject" }) },
  );
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  assert.equal(await engine.project.read(".env"), FILES[".env"]);
  assert.equal(engine.messages().at(-1)?.text, "false");
});

Deno.test("a foreign runner: what is open when the turn ends, ends with it", async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  await using engine = await start(scriptedRunner(async (turn, prompt) => {
    turn.start(prompt, "look around");
    if (prompt === "Fail") return { type: "failed", error: new TurnError("network", "It is gone.") };
    begin();
    await new Promise((resolve) => turn.signal.addEventListener("abort", resolve, { once: true }));
    return { type: "stopped", reason: "cancelled" };
  }));
  const turn = engine.prompt("Wait");
  await begun;
  engine.session.cancel();
  assert.deepEqual(await turn, CANCELLED);
  const end = await engine.prompt("Fail");
  assert.equal(end.type === "failed" && end.error.message, "It is gone.");
  checkEvents(engine.events);
  assert.deepEqual(
    engine.stored().flatMap((event) => event.type === "tool_done" ? [event.stopped] : []),
    [true, true],
  );
  assert.deepEqual(
    engine.stored().filter(({ type }) => /^(user_message|turn_)/.test(type)).map(({ type }) => type),
    [
      "user_message",
      "turn_done",
      "user_message",
      "turn_failed",
    ],
  );
});

Deno.test("a foreign runner: what stands under a call is stored and read back with it", async () => {
  await using engine = await start(scriptedRunner((turn) => {
    turn.start("explore", "explore the tests");
    turn.start("read", "read a.txt", "explore");
    turn.done("read", "1 line");
    for (const text of ["Found ", "it."]) turn.emit({ type: "token", message: "m", text }, "explore");
    turn.done("explore", "found");
    turn.say("Done.");
    return Promise.resolve();
  }));
  await engine.prompt("Go");
  const shown = history(engine.store, "s1", { first: 1, last: 1 }, {
    notices: true,
    extensions: new Set(["retry"]),
  })
    .flatMap((entry) => {
      if (entry.type !== "update") return [];
      const { sessionUpdate, content, _meta } = entry.update;
      const meta = _meta as { readonly "agent.nvim"?: { readonly parent?: string } } | undefined;
      return [[sessionUpdate, (content as { text?: string }).text, meta?.["agent.nvim"]?.parent]];
    });
  assert.deepEqual(shown, [
    ["user_message_chunk", "Go", undefined],
    ["tool_call", undefined, undefined],
    ["tool_call", undefined, "explore"],
    ["agent_message_chunk", "Found it.", "explore"],
    ["agent_message_chunk", "Done.", undefined],
  ]);
});
