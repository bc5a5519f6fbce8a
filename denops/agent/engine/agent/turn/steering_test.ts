/** What is said and done while a turn runs. */
import assert from "node:assert/strict";
import { END_TURN, startEngine } from "../../../../../tests/support/engine_session.ts";
import { reached } from "../../../../../tests/support/server.ts";
import type { PromptPart } from "../gather/attachments.ts";
import { WIRES } from "../../../protocol/providers.ts";

const FILES = { "a.txt": "alpha\n" };
const READ = 'call read_file {"path": "a.txt"}';

function said(text: string): PromptPart[] {
  return [{ type: "text", text }];
}

for (const wire of WIRES) {
  Deno.test(`${wire}: what the user says while a turn runs stands behind the next results, and stays there`, async () => {
    await using engine = await startEngine({
      wire,
      files: FILES,
      script:
        `wait here\n${READ}\n---\nexpect In French, please @a.txt\nexpect Contents of a.txt\nsay Oui.\n---\nexpect And now?\nsay Non.`,
    });
    const turn = engine.prompt("Go");
    await reached(engine.server, "here");
    const told = engine.session.steering.say("1", said("In French, please @a.txt"));
    const back = engine.session.steering.say("2", said("never sent"));
    engine.session.steering.takeBack("2");
    // This one is taken back before it comes.
    engine.session.steering.takeBack("3");
    const early = engine.session.steering.say("3", said("never sent either"));
    engine.server.release("here");
    assert.deepEqual([await told, await back, await early], ["told", "taken_back", "taken_back"]);
    assert.deepEqual(await turn, END_TURN);
    assert.deepEqual(engine.events.filter(({ type }) => type === "steered").length, 1);
    assert.deepEqual(await engine.prompt("And now?"), END_TURN);
    assert.deepEqual(engine.server.problems, []);
    const last = JSON.stringify(engine.server.requests.at(-1)?.body);
    assert.ok(last.includes("In French, please") && !last.includes("never sent"));
    assert.ok(
      engine.stored().some((entry) => entry.type === "steered" && entry.given?.[0] === "a.txt"),
    );
  });
}

Deno.test("what comes too late for the turn goes back, and so does what is stopped", async () => {
  await using engine = await startEngine({ script: "wait here\nsay Done.\n---\nwait there\nsay never" });
  assert.equal(await engine.session.steering.say("0", said("Nobody is at work")), "ended");
  const turn = engine.prompt("Go");
  await reached(engine.server, "here");
  const late = engine.session.steering.say("1", said("More"));
  engine.server.release("here");
  assert.equal(await late, "ended");
  await turn;
  const next = engine.prompt("Go on");
  await reached(engine.server, "there");
  const stopped = engine.session.steering.say("1", said("More"));
  engine.session.cancel();
  assert.equal(await stopped, "stopped");
  await next;
});

Deno.test("a paused turn stands still before its next step, goes on when told to, and can be stopped", async () => {
  await using engine = await startEngine({
    files: FILES,
    script: `wait here\n${READ}\n---\nexpect alpha\nexpect Be brief\nwait there\n${READ}\n---\nsay never`,
  });
  assert.equal(await engine.session.steering.pause(), false);
  const turn = engine.prompt("Go");
  await reached(engine.server, "here");
  const stands = engine.session.steering.pause();
  engine.server.release("here");
  assert.equal(await stands, true);
  assert.equal(engine.server.requests.length, 1);
  const told = engine.session.steering.say("1", said("Be brief"));
  engine.session.steering.goOn();
  assert.equal(await told, "told");
  await reached(engine.server, "there");
  const again = engine.session.steering.pause();
  engine.server.release("there");
  assert.equal(await again, true);
  engine.session.cancel();
  assert.deepEqual(await turn, { type: "stopped", reason: "cancelled" });
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("a message that exceeds the model's window does not steer: it goes back, and the turn continues", async () => {
  await using engine = await startEngine({
    files: FILES,
    script: `wait here\n${READ}\n---\nsay Done.`,
    config: { context_window: 8_000 },
  });
  const turn = engine.prompt("Go");
  await reached(engine.server, "here");
  const long = engine.session.steering.say("1", said("long ".repeat(20_000)));
  engine.server.release("here");
  assert.equal(await long, "ended");
  assert.deepEqual(await turn, END_TURN);
});
