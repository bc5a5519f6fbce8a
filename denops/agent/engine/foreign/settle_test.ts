/** The question about the changes of another agent's turn, and its answers. */
import assert from "node:assert/strict";
import { CANCELLED, checkEvents, END_TURN } from "../../../../tests/support/engine_session.ts";
import { foreignSession, linesOf } from "../../../../tests/support/foreign/session.ts";

Deno.test("a stopped turn is cancelled, and the next message asks about what it had changed", async () => {
  const begun = Promise.withResolvers<void>();
  const prompts: string[] = [];
  await using session = await foreignSession({
    async turn(text, hand) {
      prompts.push(text);
      if (prompts.length > 1) return;
      hand.say("Half");
      hand.call("c1", { title: "Run", kind: "execute", status: "in_progress" });
      await hand.change("echo half > a.txt");
      begun.resolve();
      await hand.cancelled;
      return "cancelled";
    },
  }, { ask: ({ force }) => force ? { answer: "allow_once" } : { answer: "reject" } });
  const turn = session.prompt("Go");
  await begun.promise;
  session.session.cancel();
  assert.deepEqual(await turn, CANCELLED);
  checkEvents(session.events);
  assert.deepEqual(session.agent.steps, ["open", "begin", "end"]);
  assert.ok(linesOf(session.events).includes("failed: stopped"));
  assert.equal(await session.project.read("a.txt"), "one\ntwo\n");
  assert.deepEqual(await session.prompt("Continue"), END_TURN);
  checkEvents(session.events);
  assert.equal(await session.project.read("a.txt"), "half\n");
  assert.deepEqual(session.agent.steps, ["open", "begin", "end", "begin", "end complete"]);
});

Deno.test("a question about changes that is stopped is asked again by the next message", async () => {
  const questions: number[] = [];
  await using session = await foreignSession({
    async turn(_text, hand) {
      if (questions.length === 0) await hand.change("echo done > a.txt");
    },
  }, {
    ask() {
      questions.push(1);
      if (questions.length > 1) return { answer: "allow_once" };
      session.session.cancel();
      return { answer: "cancelled" };
    },
  });
  await session.prompt("Go");
  assert.equal(await session.project.read("a.txt"), "one\ntwo\n");
  assert.deepEqual(await session.prompt("Continue"), END_TURN);
  assert.equal(await session.project.read("a.txt"), "done\n");
  checkEvents(session.events);
});

Deno.test("an agent hears that its changes were not kept", async () => {
  const prompts: string[] = [];
  await using session = await foreignSession({
    async turn(text, hand) {
      prompts.push(text);
      if (prompts.length === 1) await hand.change("echo bad > a.txt");
    },
  }, { ask: () => ({ answer: "reject", reason: "not this file" }) });
  for (const text of ["one", "two", "three"]) await session.prompt(text);
  assert.match(prompts[1] ?? "", /The user did not keep what Claude changed \(1 change\): not this file\./);
  assert.ok(!prompts[2]?.includes("not keep"));
});
