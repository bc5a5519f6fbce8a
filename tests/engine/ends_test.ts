/**
 * How answers end that do not end well: each is scripted at HTTP, on every wire that knows it. Whatever comes, the turn
 * ends as the row says, nothing is written by half, what the user reads is in the row, and the next message is answered.
 */
import assert from "node:assert/strict";
import type { TurnEnd } from "../../denops/agent/engine/agent/turn/runner.ts";
import type { AgentEvent } from "../../denops/agent/engine/log/events.ts";
import { type WireName, WIRES } from "../../denops/agent/protocol/providers.ts";
import { engineConfig } from "../support/engine_config.ts";
import { serve } from "../support/model_client.ts";
import { events } from "../support/wire_play.ts";
import { CANCELLED, checkEvents, END_TURN, startEngine } from "../support/engine_session.ts";

const FILES = { "a.txt": "alpha\n" };
const MAX_TOKENS: TurnEnd = { type: "stopped", reason: "max_tokens" };
const REFUSED: TurnEnd = { type: "stopped", reason: "refused" };

const READ = 'call read_file {"path": "a.txt"}';
const WRITE = 'call write_file {"path": "b.txt", "content": "half"}';
const LOOP = "I will look at the file again, to be sure. Then I will think about it.\\n".repeat(80);

interface Row {
  readonly what: string;
  /** All unless told. */
  readonly wires?: readonly WireName[];
  /** Answers, one after the other. */
  readonly script: readonly string[];
  readonly ends?: TurnEnd;
  /** What the user reads, in this order: texts, notices, and calls as "title: summary". */
  readonly reads: readonly (string | RegExp)[];
}

const [OPENAI, RESPONSES, ANTHROPIC, OLLAMA] = WIRES;
const CONTINUED = "expect Continue exactly where you stopped\nsay Two.";
const NOT_RUN = "write b.txt: cut off, not run";
const NOTHING = "The model answered with nothing. Ask again in other words.";

const rows: readonly Row[] = [
  // Truncated output.
  { what: "in the text", script: ["say One.\nstop length", CONTINUED], reads: ["One.", "Two."] },
  {
    what: "in a call's arguments",
    wires: [OPENAI, RESPONSES, ANTHROPIC],
    script: ['say One.\nrawcall write_file {"path": "b.txt", "content": "ha\nstop length', CONTINUED],
    reads: ["One.", NOT_RUN, "Two."],
  },
  { what: "right after a call", script: [`${WRITE}\nstop length`, CONTINUED], reads: [NOT_RUN, "Two."] },
  { what: "in the thoughts", script: ["think Hm.\nstop length", CONTINUED], reads: ["Two."] },
  {
    what: "again and again",
    script: Array.from({ length: 4 }, () => "say More.\nstop length"),
    ends: MAX_TOKENS,
    reads: ["More.", "More.", "More.", "More."],
  },
  {
    what: "where the window is full",
    wires: [ANTHROPIC],
    script: ["say One.\nstop =model_context_window_exceeded", CONTINUED],
    reads: ["One.", "Two."],
  },
  {
    what: "where the window is full, and stays so",
    wires: [ANTHROPIC],
    script: [
      "say One.\nstop =model_context_window_exceeded",
      "say Two.\nstop =model_context_window_exceeded",
    ],
    ends: MAX_TOKENS,
    reads: ["One.", "Two."],
  },
  {
    what: "as Mistral says it",
    wires: [OPENAI],
    script: ["say One.\nstop =model_length", CONTINUED],
    reads: ["One.", "Two."],
  },

  // Empty answers.
  {
    what: "nothing at all",
    ends: { ...END_TURN, problem: "The model answered with nothing. Ask again in other words." },
    script: ["stop end_turn", "stop end_turn"],
    reads: [NOTHING],
  },
  {
    what: "nothing after a call",
    script: [READ, "stop end_turn", "say I read it."],
    reads: ["read a.txt: 1 line", "I read it."],
  },
  {
    what: "nothing after a call, twice",
    script: [READ, "stop end_turn", "stop end_turn"],
    reads: ["read a.txt: 1 line", "Done: read a.txt: 1 line."],
  },
  { what: "only thoughts", script: ["think Hm.", "say So."], reads: ["So."] },
  { what: "only white space", script: ["say    ", "say So."], reads: ["So."] },
  { what: "an end of an unknown kind", script: ["say One.\nstop =something_new"], reads: ["One."] },
  {
    what: "an end of an unknown kind, after a call",
    script: [`${READ}\nstop =something_new`, "say One."],
    reads: ["read a.txt: 1 line", "One."],
  },
  {
    what: "an end of an unknown kind, without a word",
    script: ["stop =something_new", "say One."],
    reads: ["One."],
  },
  { what: "the model was only loaded", wires: [OLLAMA], script: ["stop =load", "say One."], reads: ["One."] },
  { what: "the model was unloaded", wires: [OLLAMA], script: ["stop =unload", "say One."], reads: ["One."] },
  {
    what: "unloaded after all was said",
    wires: [OLLAMA],
    script: ["say One.\nstop =unload"],
    reads: ["One."],
  },
  {
    what: "a pause",
    wires: [ANTHROPIC],
    script: ["say One.\nstop =pause_turn", "expect You paused\nsay Two."],
    reads: ["One.", "Two."],
  },
  {
    what: "a pause without a word",
    wires: [ANTHROPIC],
    script: ["stop =pause_turn", "expect You paused\nsay Two."],
    reads: ["Two."],
  },

  // Refusals and filters.
  {
    what: "refused",
    wires: [OPENAI, RESPONSES, ANTHROPIC],
    script: ["stop content_filter"],
    ends: REFUSED,
    reads: [],
  },
  {
    what: "filtered in mid-stream",
    wires: [OPENAI, RESPONSES, ANTHROPIC],
    script: ["say Half of\nstop content_filter"],
    ends: REFUSED,
    reads: ["Half of"],
  },
  {
    what: "filtered in a call",
    wires: [OPENAI, RESPONSES, ANTHROPIC],
    script: [`${WRITE}\nstop content_filter`],
    ends: REFUSED,
    reads: [NOT_RUN],
  },
  {
    what: "filtered after a call",
    wires: [OPENAI, RESPONSES, ANTHROPIC],
    script: [READ, "say Half of\nstop content_filter"],
    ends: REFUSED,
    reads: ["read a.txt: 1 line", "Half of"],
  },
  {
    what: "as Gemini says it",
    wires: [OPENAI],
    script: ["stop =content_filter: RECITATION"],
    ends: REFUSED,
    reads: [],
  },
  {
    what: "Azure's filter refuses the request",
    wires: [OPENAI, RESPONSES],
    script: [
      'status 400 {"error": {"message": "The response was filtered", "code": "content_filter", "status": 400}}',
    ],
    ends: REFUSED,
    reads: [],
  },

  {
    what: "OpenAI's policy refuses the request",
    wires: [RESPONSES],
    script: ['status 400 {"error": {"message": "Limited for safety reasons.", "code": "invalid_prompt"}}'],
    ends: REFUSED,
    reads: [],
  },
  {
    what: "OpenAI's policy refuses in mid-stream",
    wires: [RESPONSES],
    script: [
      'say Half of\ngarbage data: {"type": "error", "code": "cyber_policy", "message": "Limited for safety reasons."}\neof',
    ],
    ends: REFUSED,
    reads: ["Half of", "test says: Limited for safety reasons."],
  },

  // Calls that cannot be run.
  {
    what: "an unknown tool",
    script: ['call fly {"to": "the moon"}', 'expect no tool is called "fly"\nsay So.'],
    reads: [/^fly: no tool is called/, "So."],
  },
  {
    what: "arguments that are no JSON",
    wires: [OPENAI, RESPONSES, ANTHROPIC],
    script: [
      'rawcall write_file {"path": "b.txt", "content": broken',
      "expect the arguments are not valid JSON\nsay So?",
    ],
    reads: [/the arguments are not valid JSON$/, "So?"],
  },
  {
    what: "arguments that are no object",
    wires: [OPENAI, RESPONSES, ANTHROPIC],
    script: ["rawcall write_file [1, 2]", "expect must be a JSON object\nsay So?"],
    reads: [/must be a JSON object/, "So?"],
  },
  {
    what: "an argument of the wrong type",
    script: [
      'call write_file {"path": "b.txt", "content": {"a": 1}}',
      'expect Wrong argument "content"\nsay So?',
    ],
    reads: [/Wrong argument "content"/, "So?"],
  },
  {
    what: "a missing argument",
    script: ['call write_file {"path": "b.txt"}', 'expect Wrong argument "content"\nsay So?'],
    reads: [/Wrong argument "content"/, "So?"],
  },
  {
    what: "an argument too many",
    script: [
      'call read_file {"path": "a.txt", "colour": "red"}',
      "expect ignored unknown arguments: colour\nsay So.",
    ],
    reads: ["read a.txt: 1 line", "So."],
  },
  {
    what: "a call that the provider could not read",
    wires: [OPENAI],
    script: ["stop =function_call_filter: MALFORMED_FUNCTION_CALL", "expect could not be read\nsay So."],
    reads: ["So."],
  },
  {
    what: "calls that the provider can never read",
    wires: [OPENAI],
    script: Array.from({ length: 3 }, () => "stop =MALFORMED_FUNCTION_CALL"),
    ends: {
      ...END_TURN,
      problem: "The model's tool calls cannot be read. Ask again, or choose another model.",
    },
    reads: ["The model's tool calls cannot be read. Ask again, or choose another model."],
  },

  // A model that repeats itself: its stream never ends.
  {
    what: "the same lines again and again",
    script: [`say ${LOOP}\nwait never`, "expect You wrote the same again and again\nsay So."],
    reads: [
      /look at the file again/,
      "The model repeated itself and was stopped; it is asked to go on in another way.",
      "So.",
    ],
  },
  {
    what: "the same lines, and then once more",
    script: [`say Well. ${LOOP}\nwait never`, `say Well. ${LOOP}\nwait never`],
    ends: { ...END_TURN, problem: "The model repeats itself. Ask in other words, or choose another model." },
    reads: [
      /^Well/,
      "The model repeated itself and was stopped; it is asked to go on in another way.",
      /^Well/,
      "The model repeats itself. Ask in other words, or choose another model.",
    ],
  },
  {
    what: "the same thought again and again",
    script: [`think ${LOOP}\nwait never`, "say So."],
    reads: ["The model repeated itself and was stopped; it is asked to go on in another way.", "So."],
  },
  {
    what: "the same line in a file that is written",
    wires: [OPENAI, RESPONSES, ANTHROPIC],
    script: [
      `pieces 500\nrawcall write_file {"path": "b.txt", "content": "${LOOP.repeat(12)}\nwait never`,
      "say So.",
    ],
    reads: [
      NOT_RUN,
      "The model repeated itself and was stopped; it is asked to go on in another way.",
      "So.",
    ],
  },
];

/** What the user reads of these events. */
function read(events: readonly AgentEvent[]): readonly string[] {
  const titles = new Map<string, string>();
  const lines: { readonly of: string; text: string }[] = [];
  for (const event of events) {
    const last = lines.at(-1);
    if (event.type === "token" && last?.of === event.message) last.text += event.text;
    else if (event.type === "token") lines.push({ of: event.message, text: event.text });
    else if (event.type === "notice") lines.push({ of: "notice", text: event.text });
    else if (event.type === "tool_start") titles.set(event.call.id, event.call.title);
    else if (event.type === "tool_done") {
      lines.push({ of: "call", text: `${titles.get(event.id)}: ${event.summary}` });
    }
  }
  return lines.map(({ text }) => text);
}

for (const { what, wires = WIRES, script, ends = END_TURN, reads } of rows) {
  Deno.test(`how answers end: ${what}`, async () => {
    for (const wire of wires) {
      await using engine = await startEngine({
        wire,
        files: FILES,
        config: { title: false },
        script: [...script, "new-history\nsay Fine."].join("\n---\n"),
      });
      assert.deepEqual(await engine.prompt("Go"), ends, wire);
      const said = read(engine.events);
      assert.equal(said.length, reads.length, `${wire}: ${JSON.stringify(said)}`);
      for (const [at, text] of said.entries()) {
        const expected = reads[at] ?? "";
        if (typeof expected === "string") assert.equal(text, expected, wire);
        else assert.match(text, expected, wire);
      }
      assert.deepEqual([...Deno.readDirSync(engine.project.root)].map(({ name }) => name), ["a.txt"]);
      assert.equal(await engine.project.read("a.txt"), FILES["a.txt"]);
      assert.deepEqual(await engine.prompt("And now?"), END_TURN, `${wire}: it goes on`);
      assert.equal(read(engine.events).at(-1), "Fine.");
      assert.deepEqual(engine.server.problems, [], wire);
      assert.equal(engine.server.requests.length, script.length + 1, wire);
      checkEvents(engine.events);
      const known = JSON.stringify(engine.messages());
      const again = engine.again();
      await again.close();
      assert.equal(
        JSON.stringify(engine.messages()),
        known,
        `${wire}: a session that is opened again is the same`,
      );
    }
  });
}

Deno.test("what was refused is not sent again, the rest is", async () => {
  for (const wire of [OPENAI, ANTHROPIC]) {
    await using engine = await startEngine({
      wire,
      config: { title: false },
      script: ["say Hello.", "say Half\nstop content_filter", "new-history\nsay Fine."].join("\n---\n"),
    });
    await engine.prompt("First");
    assert.deepEqual(await engine.prompt("How is it made?"), REFUSED);
    await engine.prompt("Something else");
    const sent = JSON.stringify(engine.server.requests.at(-1)?.body);
    for (const part of ["First", "Hello.", "Something else", "A message that a filter refused"]) {
      assert.ok(sent.includes(part), `${wire}: ${part}`);
    }
    for (const part of ["How is it made?", "Half"]) assert.ok(!sent.includes(part), `${wire}: ${part}`);
    assert.deepEqual(engine.server.problems, []);
  }
});

Deno.test("why something was refused is said in the provider's words, on one line", async () => {
  const explanation = "This could enable harm.\nAsk for something else.";
  const delta = { stop_reason: "refusal", stop_details: { type: "refusal", category: "cyber", explanation } };
  await using server = serve(async (http) => {
    await http.begin(200, { connection: "close" });
    const frames = [{ type: "message_start", message: {} }, { type: "message_delta", delta }, {
      type: "message_stop",
    }];
    await http.write(events(...frames));
    await http.end();
  });
  const { provider } = engineConfig(server.url, ANTHROPIC);
  await using engine = await startEngine({ script: "", config: { provider, title: false } });
  assert.deepEqual(await engine.prompt("Go"), REFUSED);
  assert.deepEqual(read(engine.events), ["test says: This could enable harm. Ask for something else."]);
});

Deno.test("what a model has repeated is in the history once", async () => {
  await using engine = await startEngine({
    config: { title: false },
    script: `say Well. ${LOOP}\nwait never\n---\nsay So.`,
  });
  await engine.prompt("Go");
  const sent = JSON.stringify(engine.server.requests.at(-1)?.body);
  assert.ok(sent.split("look at the file again").length - 1 <= 2, sent);
});

Deno.test("a model that repeats itself can be stopped like any", async () => {
  await using engine = await startEngine({
    config: { title: false },
    script: `say ${LOOP}\nwait never\n---\nsay So\nwait never`,
    publish: (event) => void (event.type === "token" && event.text.includes("So") && engine.session.cancel()),
  });
  assert.deepEqual(await engine.prompt("Go"), CANCELLED);
});
