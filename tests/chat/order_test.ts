/** Nothing is lost and nothing overtakes on the way to the screen: the pump by itself, and a flood through it all. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Update } from "../../denops/agent/protocol/ui.ts";
import type { PaceClock } from "../../denops/agent/shared/pace.ts";
import { Pump } from "../../denops/agent/supervisor/screen/pump.ts";
import { transcript, waitForTurn } from "../support/chat.ts";
import { sharedAgent } from "../support/shared_agent.ts";

/** A pump, and a Neovim that takes a batch only when it is told to. */
class Stage implements Disposable {
  readonly batches: (readonly Update[])[] = [];
  readonly pump: Pump;
  #take: (() => void) | undefined;

  /** @param isStill time stands still */
  constructor(isStill = false) {
    const clock: PaceClock = { now: () => 0, setTimer: () => () => {} };
    const deliver = (batch: readonly Update[]) => {
      assert.equal(this.#take, undefined, "the batch before was taken");
      this.batches.push(batch);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#take = resolve;
      return promise;
    };
    this.pump = new Pump(deliver, () => {}, ...isStill ? [clock] : []);
  }

  /** Neovim has taken what was delivered. */
  async take(): Promise<void> {
    const take = this.#take;
    this.#take = undefined;
    take?.();
    // The pump hears of it in a few microtasks.
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }

  say(text: string, message = "m", chat = 1): void {
    this.pump.push({ type: "text", chat, message, text });
  }

  texts(): readonly string[] {
    return this.batches.map((batch) =>
      batch.map((update) => "text" in update ? update.text : update.type).join("|")
    );
  }

  [Symbol.dispose](): void {
    this.pump[Symbol.dispose]();
  }
}

Deno.test("how calls go waits for what is said; a question to the editor overtakes it, but no change of a file", async () => {
  using stage = new Stage(true);
  const tool = (id: string) => stage.pump.push({ type: "tool", chat: 1, id, status: "in_progress" });
  const ask = (request: number) =>
    stage.pump.push({ type: "ask_editor", request, method: "unsaved_text", params: { path: "/a" } });
  tool("first");
  assert.deepEqual(stage.texts(), ["tool"]);
  await stage.take();
  tool("second");
  ask(1);
  assert.deepEqual(stage.texts().slice(1), ["ask_editor"]);
  await stage.take();
  tool("third");
  stage.pump.push({ type: "file_modified", chat: 1, path: "/a", kind: "modified" });
  tool("fourth");
  ask(2);
  await stage.take();
  await stage.take();
  assert.deepEqual(stage.texts().slice(2), ["tool|tool|file_modified", "ask_editor"]);
  stage.say("Done, all of it.");
  assert.deepEqual(stage.texts().slice(4), ["tool|Done, all of it."]);
});

Deno.test("never a second batch before the first is taken, however long that takes", async () => {
  using stage = new Stage();
  stage.say("Hello, this is the first. ");
  for (let number = 1; number <= 100; number++) stage.say(`${number} `);
  assert.equal(stage.batches.length, 1);
  await stage.take();
  assert.equal(stage.batches.length, 2);
  assert.deepEqual(stage.texts()[1], Array.from({ length: 100 }, (_, at) => `${at + 1} `).join(""));
  await stage.take();
  assert.equal(stage.batches.length, 2);
  stage.pump.push({
    ...{ type: "approval", chat: 1, request: 2, tool: "t", title: "write", reason: "asks" },
    ...{ kind: "file", files: [], left_out: 0 },
  });
  assert.equal(stage.batches.length, 3);
});

Deno.test("a Neovim that fails to take a batch does not stop the next one", async () => {
  const batches: number[] = [];
  using pump = new Pump((batch) => {
    batches.push(batch.length);
    return Promise.reject(new Error("E121"));
  });
  pump.push({ type: "turn_started", chat: 1 });
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  pump.push({ type: "turn_started", chat: 1 });
  assert.deepEqual(batches, [1, 1]);
});

Deno.test("the first text of a message waits for eight word characters, or for what comes after it", async () => {
  using stage = new Stage();
  for (const piece of ["**", "Wh", "at a"]) stage.say(piece);
  assert.deepEqual(stage.texts(), []);
  stage.say(" day");
  assert.deepEqual(stage.texts(), ["**What a day"]);
  await stage.take();
  stage.say("No.", "a");
  stage.say("Maybe.", "b");
  assert.deepEqual(stage.texts()[1], "No.");
  await stage.take();
  stage.pump.push({ type: "turn_done", chat: 1, reason: "end_turn" });
  assert.deepEqual(stage.texts()[2], "Maybe.|turn_done");
});

Deno.test("once a message has begun to show, its text waits for nothing, whatever else comes between", async () => {
  using stage = new Stage();
  stage.say("That was");
  stage.pump.push({ type: "title", chat: 1, title: "Greetings" });
  stage.say(" all.");
  assert.deepEqual(stage.texts(), ["That was|title| all."]);
  await stage.take();
  // A sub-agent speaks in the same chat, and the turn of another chat ends.
  stage.say("I am here too.", "another");
  await stage.take();
  stage.pump.push({ type: "turn_done", chat: 2, reason: "end_turn" });
  await stage.take();
  stage.say(" No.");
  assert.deepEqual(stage.texts().slice(1), ["I am here too.", "turn_done", " No."]);
});

Deno.test("whatever is pushed, when and in which pieces: each chat's text arrives whole and in order", async () => {
  const piece = fc.record({
    chat: fc.integer({ min: 1, max: 3 }),
    kind: fc.constantFrom("text", "thought", "notice"),
    text: fc.string({ minLength: 1, maxLength: 6 }),
    taken: fc.boolean(),
  });
  await fc.assert(fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
    using stage = new Stage();
    const pushed = new Map<number, string>();
    for (const { chat, kind, text, taken } of pieces) {
      pushed.set(chat, (pushed.get(chat) ?? "") + text);
      if (kind === "notice") stage.pump.push({ type: "notice", chat, severity: "info", text });
      else stage.pump.push({ type: kind === "text" ? "text" : "thought", chat, message: "m", text });
      if (taken) await stage.take();
    }
    for (const chat of [1, 2, 3]) stage.pump.push({ type: "turn_done", chat, reason: "end_turn" });
    for (let round = 0; round < 3; round++) await stage.take();
    for (const [chat, text] of pushed) {
      const shown = stage.batches.flat().map((update) =>
        "chat" in update && update.chat === chat && "text" in update ? update.text : ""
      );
      assert.equal(shown.join(""), text);
    }
  }));
});

Deno.test("a flood of 5,000 tokens arrives whole and in order, and Neovim answers all the time", async () => {
  await using agent = await sharedAgent({
    ...{ script: "flood 5000", columns: 80, lines: 40 },
    options: "sessions = { title = false }",
  });
  const { nvim, server } = agent;
  await nvim.command("Agent Flood me");
  await waitForTurn(nvim);
  const words = Array.from({ length: 5_000 }, (_, at) => `word${at + 1}`);
  const [question, answer] = await transcript(nvim);
  assert.equal(question, "Flood me");
  assert.equal(answer?.trimEnd(), words.join(" "));
  // The screen shows the end of it: a run of words without a gap, up to the last one.
  const text = await nvim.waitForScreen("word5000");
  const shown = [...text.matchAll(/word(\d+)/g)].map(([, number]) => Number(number));
  assert.ok(shown.length > 100);
  assert.deepEqual(shown, Array.from(shown, (_, at) => 5_000 - shown.length + 1 + at));
  assert.deepEqual(server.problems, []);
});
