/** Whole turns of the real session with a scripted model. */
import assert from "node:assert/strict";
import { checkRequest } from "../../../../../tests/model/model_checks.ts";
import { isObject, type JsonObject, objects } from "../../../../../tests/model/model_messages.ts";
import { engineConfig } from "../../../../../tests/support/engine_config.ts";
import { serve } from "../../../../../tests/support/model_client.ts";
import { events } from "../../../../../tests/support/wire_play.ts";
import {
  CANCELLED,
  checkEvents,
  END_TURN,
  startEngine,
} from "../../../../../tests/support/engine_session.ts";
import { WIRES } from "../../../protocol/providers.ts";
import type { ApprovalAnswer } from "../../ports/approvals.ts";

const FILES = { "a.txt": "alpha\n" };
const read = 'call read_file {"path": "a.txt"}';

for (const wire of WIRES) {
  Deno.test(`${wire}: a turn asks, runs, asks again and ends with the answer`, async () => {
    await using engine = await startEngine({
      wire,
      files: FILES,
      script: [
        `think Look first.\nsay I look.\n${read}\nusage 100 10`,
        'expect 1\talpha\nsay I write.\ncall edit_file {"path": "a.txt", "old_str": "alpha", "new_str": "omega"}',
        "expect Edited a.txt\nsay Done.",
        "expect And now?\nsay Nothing.",
      ].join("\n---\n"),
    });
    assert.deepEqual(await engine.prompt("Go"), END_TURN);
    assert.equal(await engine.project.read("a.txt"), "omega\n");
    assert.deepEqual(await engine.prompt("And now?"), END_TURN);
    assert.deepEqual(engine.server.problems, []);
    checkEvents(engine.events);
    const said = engine.events.flatMap((event) => event.type === "token" ? [event.text] : []).join("");
    assert.equal(said, "I look.I write.Done.Nothing.");
    assert.equal(engine.events.filter(({ type }) => type === "thought_done").length, 1);
    const [usage] = engine.events.filter((event) => event.type === "usage");
    assert.deepEqual([usage?.usage.input, usage?.usage.output], [100, 10]);
  });
}

Deno.test("anthropic_messages: thoughts between texts and calls go back in their order, after a restart too", async () => {
  const script = [
    `think One.\nsay I look.\nthink Two.\n${read}\nthink Three.\ncall read_file {"path": "b.txt"}`,
    "think Four.\nsay Done.",
    "say Nothing.",
  ].join("\n---\n");
  await using engine = await startEngine({
    wire: "anthropic_messages",
    config: { title: false },
    files: { ...FILES, "b.txt": "beta\n" },
    script,
  });
  assert.deepEqual(await engine.prompt("Look?"), END_TURN);
  await engine.session.close();
  const again = engine.again();
  assert.deepEqual(await again.prompt([{ type: "text", text: "And now?" }]), END_TURN);
  await again.close();
  const answers = engine.server.requests.map(({ body }) =>
    objects(body.messages).filter(({ role }) => role === "assistant").map(({ content }) =>
      objects(content).map(({ type, thinking, text, input }) =>
        `${type} ${thinking ?? text ?? JSON.stringify(input)}`
      )
    )
  );
  const first = [
    ...["thinking One.", "text I look.", "thinking Two.", 'tool_use {"path":"a.txt"}'],
    ...["thinking Three.", 'tool_use {"path":"b.txt"}'],
  ];
  assert.deepEqual(answers, [[], [first], [first, ["thinking Four.", "text Done."]]]);
  assert.deepEqual(engine.server.problems, [], "each thought with its own signature");
});

Deno.test("calls of every answer get results of their own", async () => {
  for (const wire of WIRES) {
    await using engine = await startEngine({
      wire,
      files: FILES,
      script: `${read}\n${read}\n---\n${read}\n---\nsay Done`,
    });
    assert.deepEqual(await engine.prompt("Read"), END_TURN);
    const ids = engine.messages().flatMap((message) => message.role === "tool" ? [message.id] : []);
    assert.equal(new Set(ids).size, 3);
    assert.deepEqual(engine.server.problems, []);
  }
});

/** Calls with the ids that a provider may give: each must be known by an id of its own. */
const ids: readonly (readonly [what: string, first: unknown, second: unknown])[] = [
  ["none", undefined, undefined],
  ["one for all", "x", "x"],
  ["numbers that begin again with each answer", "1", "2"],
];

for (const [what, first, second] of ids) {
  Deno.test(`ids of calls: ${what}`, async () => {
    const called = (index: number, id: unknown) => ({
      index,
      id,
      function: { name: "read_file", arguments: '{"path":"a.txt"}' },
    });
    const calls = {
      choices: [{
        delta: { tool_calls: [called(0, first), called(1, second)] },
        finish_reason: "tool_calls",
      }],
    };
    const text = { choices: [{ delta: { content: "Done" }, finish_reason: "stop" }] };
    const bodies: JsonObject[] = [];
    await using server = serve(async (http, { body }) => {
      const value: unknown = JSON.parse(body);
      if (isObject(value)) bodies.push(value);
      await http.begin(200, { connection: "close" });
      await http.write(events(bodies.length < 3 ? calls : text, "[DONE]"));
      await http.end();
    });
    const { provider } = engineConfig(server.url);
    await using engine = await startEngine({ script: "", files: FILES, config: { provider } });
    assert.deepEqual(await engine.prompt("Read"), END_TURN);
    assert.deepEqual(bodies.flatMap((body) => checkRequest("openai_chat", {}, body)), []);
    const known = engine.messages().flatMap((message) => message.role === "tool" ? [message.id] : []);
    assert.equal(new Set(known).size, 4);
    assert.match(known[2] ?? "", /^[a-zA-Z0-9]{9}$/);
    checkEvents(engine.events);
  });
}

Deno.test("ids of calls: none comes twice in a session, be it long or opened again", async () => {
  const call = { index: 0, id: "call_0", function: { name: "read_file", arguments: '{"path":"a.txt"}' } };
  let requests = 0;
  await using server = serve(async (http) => {
    await http.begin(200, { connection: "close" });
    const delta = ++requests % 2 === 1 ? { tool_calls: [call] } : { content: "Done" };
    await http.write(events({ choices: [{ delta, finish_reason: "stop" }] }, "[DONE]"));
    await http.end();
  });
  const { provider } = engineConfig(server.url);
  // The second turn leaves the first one out of the window.
  const config = { provider, context_window: 8_000, title: false };
  await using engine = await startEngine({ script: "", files: FILES, config });
  const text = `${"long ".repeat(3_000)}?`;
  await engine.prompt(text);
  await engine.prompt(text);
  const again = engine.again();
  await again.prompt([{ type: "text", text }]);
  await again.close();
  const known = engine.store.messages("s1").flatMap((entry) =>
    entry.type === "tool_result" ? [entry.id] : []
  );
  assert.deepEqual([known.length, known[0], new Set(known).size], [3, "call_0", 3]);
  const shown = engine.events.flatMap((event) => event.type === "tool_start" ? [event.call.id] : []);
  assert.deepEqual(shown, known);
});

Deno.test("a call that streams in shows what it is about as soon as that is known, and its lines", async () => {
  const content = "one\ntwo\n\\ three\n";
  for (const pieces of [1, 3, 1_000]) {
    await using engine = await startEngine({
      script: `slow 1\npieces ${pieces}\ncall write_file ${
        JSON.stringify({ path: "b.txt", content })
      }\n---\nsay Done`,
    });
    await engine.prompt("Write");
    const told = engine.events.filter((event) => event.type === "tool_writing");
    assert.deepEqual([told.at(-1)?.title, told.at(-1)?.lines], ["write b.txt", 4]);
    const shown = told.map(({ title, lines }) => `${title} ${lines}`);
    assert.equal(new Set(shown).size, shown.length, "nothing is told twice");
    if (pieces < 10) assert.ok(shown.includes("write … 1") && shown.includes("write b.txt 1"), shown.join());
    assert.equal(await engine.project.read("b.txt"), content);
  }
});

Deno.test("an answer that hits the output limit goes on where it stopped", async () => {
  await using engine = await startEngine({
    files: FILES,
    script: [
      "say Part one\nstop length",
      'expect Continue exactly where you stopped\nsay Part two\ncall write_file {"path": "b.txt", "content": "half"}\nstop length',
      "expect A tool call that was cut off was not run\nsay Part three",
    ].join("\n---\n"),
  });
  assert.deepEqual(await engine.prompt("Write"), END_TURN);
  assert.deepEqual(engine.results(), []);
  await assert.rejects(engine.project.read("b.txt"), Deno.errors.NotFound);
  assert.deepEqual(engine.server.problems, []);
  checkEvents(engine.events);
});

Deno.test("an answer that never ends is given up after three continuations", async () => {
  await using engine = await startEngine({ script: "say more\nstop length\nrepeat" });
  assert.deepEqual(await engine.prompt("Write"), { type: "stopped", reason: "max_tokens" });
  assert.equal(engine.server.requests.length, 4);
  engine.server.play("say Done");
  assert.deepEqual(await engine.prompt("Enough"), END_TURN);
  assert.deepEqual(engine.server.problems, []);
});

const NO: ApprovalAnswer = { answer: "reject" };

Deno.test("at the limit of steps the user is asked: no ends the turn, and the next one can go on", async () => {
  await using engine = await startEngine({
    files: FILES,
    config: { max_iterations: 2 },
    script: `${read}\nrepeat`,
    ask: () => NO,
  });
  assert.deepEqual(await engine.prompt("Read"), { type: "stopped", reason: "max_iterations" });
  assert.equal(engine.server.requests.length, 2);
  assert.deepEqual(engine.asked.map(({ reason, access }) => [reason, access.kind]), [
    ["2 steps done. Go on for 2 more?", "ask"],
  ]);
  engine.server.play("expect Go on\nsay Done");
  assert.deepEqual(await engine.prompt("Go on"), END_TURN);
  assert.deepEqual(engine.server.problems, []);
  checkEvents(engine.events);
});

Deno.test("at the limit of steps the user is asked: each yes is for as many again", async () => {
  const steps = [1, 2, 3, 4].map((line) => `call read_file {"path": "a.txt", "offset": ${line}}`);
  await using engine = await startEngine({
    files: { "a.txt": "1\n2\n3\n4\n5\n" },
    config: { max_iterations: 2 },
    script: [...steps, "say Done"].join("\n---\n"),
  });
  assert.deepEqual(await engine.prompt("Read"), END_TURN);
  assert.deepEqual(engine.asked.map(({ reason }) => reason), [
    "2 steps done. Go on for 2 more?",
    "4 steps done. Go on for 2 more?",
  ]);
  assert.deepEqual(engine.server.problems, []);
  checkEvents(engine.events);
});

Deno.test("the output limit in the last iteration leaves a history that can go on", async () => {
  await using engine = await startEngine({
    ask: () => NO,
    config: { max_iterations: 1 },
    script: "say a\nstop length\n---\nsay Done",
  });
  assert.deepEqual(await engine.prompt("Write"), { type: "stopped", reason: "max_iterations" });
  assert.deepEqual(await engine.prompt("Go on"), END_TURN);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("a refusal ends the turn, its calls are not run", async () => {
  for (const wire of ["openai_chat", "anthropic_messages"] as const) {
    await using engine = await startEngine({
      wire,
      files: FILES,
      script: `say No.\n${read}\nstop content_filter\n---\nsay Yes`,
    });
    assert.deepEqual(await engine.prompt("Do"), { type: "stopped", reason: "refused" });
    assert.deepEqual(engine.results(), []);
    assert.deepEqual(await engine.prompt("Then this"), END_TURN);
    assert.deepEqual(engine.server.problems, []);
  }
});

const failures: readonly (readonly [what: string, script: string, kind: string])[] = [
  ["the key is refused", "status 401", "auth"],
  ["the answer breaks off", "say Half\ncut", "cut_off"],
  ["the answer breaks off in a call", 'say Half\ncall read_file {"path": "a.txt"}\ncut', "cut_off"],
  ["garbage", "say Half\ngarbage data: {\ngarbage {", "bad_answer"],
  ["an error in the middle", "say Half\nerror Sorry", "overloaded"],
];

for (const [what, script, kind] of failures) {
  Deno.test(`a turn that fails leaves a history that can go on: ${what}`, async () => {
    for (const wire of WIRES) {
      await using engine = await startEngine({
        wire,
        files: FILES,
        script: `${script}\n---\nexpect Again\nsay Done`,
      });
      const end = await engine.prompt("Go");
      assert.equal(end.type === "failed" ? end.error.kind : end.reason, kind);
      assert.deepEqual(engine.results(), [], "no call of a broken answer is run");
      assert.deepEqual(await engine.prompt("Again"), END_TURN);
      const kept = JSON.stringify(engine.server.requests.at(-1)?.body);
      assert.equal(kept.includes("Half"), script.includes("Half"));
      assert.match(kept, /\[The answer was interrupted here\.\]/);
      assert.deepEqual(engine.server.problems, []);
      checkEvents(engine.events);
    }
  });
}

Deno.test("a try that failed is told and then forgotten", async () => {
  await using engine = await startEngine({ script: "status 503 retry-after-ms=1\n---\nsay Done" });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  assert.deepEqual(engine.events.filter(({ type }) => type === "retry").length, 1);
  assert.deepEqual(engine.messages().length, 2);
});

Deno.test("a turn that is cancelled before it began asks nobody", async () => {
  await using engine = await startEngine({ script: "say never" });
  const turn = engine.prompt("Go");
  engine.session.cancel();
  assert.deepEqual(await turn, CANCELLED);
  assert.equal(engine.server.requests.length, 0);
});
