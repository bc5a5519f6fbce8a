import assert from "node:assert/strict";
import { user } from "../../../../../tests/support/histories.ts";
import { Prompt } from "../../log/model_request.ts";
import { TOOLS } from "../../tools/registry.ts";
import type { ModelEvent } from "../client.ts";
import type { Delta } from "../wire/wire.ts";
import { withTextCalls } from "./reading.ts";

const prompt = new Prompt("Be brief.", [user("Hi")], TOOLS.map(({ spec }) => spec));

const IN_TEXT = { model: "qwen3-coder", callsInText: true };

/** What is told of an answer that comes in these pieces. */
async function told(
  pieces: readonly (string | Delta)[],
  end: ModelEvent = { type: "done" },
): Promise<readonly Delta[]> {
  async function* events(): AsyncGenerator<ModelEvent, void> {
    for (const piece of pieces) {
      const delta: Delta = typeof piece === "string" ? { type: "text", text: piece } : piece;
      yield await Promise.resolve({ type: "deltas", deltas: [delta] });
    }
    yield end;
  }
  const all = await Array.fromAsync(withTextCalls(events(), prompt, IN_TEXT, () => {}));
  assert.equal(all.at(-1)?.type, end.type);
  return all.flatMap((event) => event.type === "deltas" ? event.deltas : []);
}

const short = (deltas: readonly Delta[]) =>
  deltas.map((delta) => {
    const { type, ...rest } = delta;
    return `${type} ${Object.values(rest).map((value) => JSON.stringify(value)).join(" ")}`;
  });

Deno.test("a call is told of as soon as it has a name, and given when it has ended", async () => {
  const pieces = [
    "I wri",
    "te.\n\n<tool",
    "_call>\n<function=write_file>\n<parameter=path>\n",
    "a.ts\n</parameter>\n",
  ];
  const end = ["<parameter=content>\nlet a;\n", "</parameter>\n</function>\n</tool", "_call>\n"];
  assert.deepEqual(short(await told([...pieces, ...end])), [
    'text "I wri"',
    'text "te."',
    'call_start 0 "" "write_file"',
    String.raw`call_draft 0 "<tool_call>\n<function=write_file>\n<parameter=path>\n"`,
    String.raw`call_draft 0 "a.ts\n</parameter>\n"`,
    String.raw`call_draft 0 "<parameter=content>\nlet a;\n"`,
    String.raw`call_draft 0 "</parameter>\n</function>\n</tool"`,
    String.raw`call_draft 0 "_call>\n"`,
    'call_arguments 0 "{\\"path\\":\\"a.ts\\",\\"content\\":\\"let a;\\"}"',
    `written ${JSON.stringify([...pieces, ...end].join("").trimEnd())}`,
  ]);
});

Deno.test("a second call has a place of its own", async () => {
  const call = (path: string) => `<tool_call>{"name":"read_file","arguments":{"path":"${path}"}}</tool_call>`;
  const deltas = await told([...`${call("a")}\n${call("b")}`]);
  const starts = deltas.flatMap((delta) => delta.type === "call_start" ? [delta.index] : []);
  const given = deltas.flatMap((delta) => delta.type === "call_arguments" ? [[delta.index, delta.text]] : []);
  assert.deepEqual([starts, given], [[0, 1], [[0, '{"path":"a"}'], [1, '{"path":"b"}']]]);
});

Deno.test("calls begin in their order, in whatever pieces they come", async () => {
  const call = (path: string) => `<tool_call>{"name":"read_file","arguments":{"path":"${path}"}}</tool_call>`;
  const answer = ["a", "b", "c"].map(call).join("\n");
  for (let first = 0; first <= answer.length; first += 7) {
    for (const second of [first, first + 20, answer.length]) {
      const pieces = [answer.slice(0, first), answer.slice(first, second), answer.slice(second)];
      const deltas = await told(pieces.filter((piece) => piece !== ""));
      const begun = deltas.flatMap((delta) => delta.type === "call_start" ? [delta.index] : []);
      assert.deepEqual(begun, [0, 1, 2], JSON.stringify(pieces));
    }
  }
});

Deno.test("what was begun and is no call is dropped, and its text shown", async () => {
  const text = '<tool_call>{"name": "read_file", "description": "Reads"}</tool_call>';
  const deltas = await told([...text]);
  assert.deepEqual(deltas.filter(({ type }) => type === "call_start" || type === "call_dropped"), [
    { type: "call_start", index: 0, id: "", name: "read_file" },
    { type: "call_dropped", index: 0 },
  ]);
  assert.equal(deltas.map((delta) => delta.type === "text" ? delta.text : "").join(""), text);
});

Deno.test("with calls of the provider's own those in the text are text", async () => {
  const own: Delta = { type: "call_start", index: 0, id: "c1", name: "read_file" };
  const deltas = await told([
    "I look. <tool_call>{",
    '"name":"read_file","argu',
    'ments":{"path":"a"}}</tool_call> Now',
    own,
  ]);
  const calling = deltas.filter(({ type }) => type !== "text" && type !== "call_draft");
  assert.deepEqual(calling.map(({ type }) => type), ["call_start", "call_dropped", "call_start"]);
  assert.deepEqual(calling.at(-1), own);
  const text = 'I look. <tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call> Now';
  assert.equal(deltas.map((delta) => delta.type === "text" ? delta.text : "").join(""), text);
});

Deno.test("what was withheld when an answer is broken off is shown, but not the call that was begun", async () => {
  const deltas = await told(["A list:\n[", "1, 2"], { type: "cancelled" });
  assert.deepEqual(short(deltas), ['text "A list:"', String.raw`text "\n[1, 2"`]);
  const calling = await told(['Now.\n<tool_call>{"name":"write_file","argu'], { type: "cancelled" });
  assert.deepEqual(calling.map(({ type }) => type), ["text", "call_start", "call_draft"]);
});

Deno.test("words are shown to their last letter, whatever marks begin with", async () => {
  const words = ["The first half", " of it,", " and a list:", "\n- one of two", "\n\n## Next"];
  const deltas = await told(words);
  assert.deepEqual(deltas.map((delta) => delta.type === "text" ? delta.text : delta), words);
});

Deno.test("an answer ends where the model makes up the results of its calls", async () => {
  const call = '<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>';
  const made = ["\n<tool_resp", "onse>\nlet a", " = 1;", "\nDone.", '<tool_call>{"name":"delete_file"'];
  const deltas = await told(["I look.", call, ...made]);
  assert.equal(deltas.map((delta) => delta.type === "text" ? delta.text : "").join(""), "I look.");
  assert.deepEqual(deltas.flatMap((delta) => delta.type === "call_arguments" ? [delta.text] : []), [
    '{"path":"a"}',
  ]);
  const written = deltas.find((delta) => delta.type === "written");
  assert.equal(written?.text, `I look.${call}`);
});

const AGAIN = '<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>';
const LOOPS: readonly (readonly [what: string, call: string])[] = [
  ["in marks", `${AGAIN}\n`],
  ["bare", '{"name": "read_file", "arguments": {"path": "a"}}\n'],
];

for (const [what, call] of LOOPS) {
  Deno.test(`a call that comes again and again is made once, and ends the answer: ${what}`, async () => {
    let taken = 0;
    async function* events(): AsyncGenerator<ModelEvent, void> {
      for (; taken < 500; taken++) {
        yield await Promise.resolve({ type: "deltas", deltas: [{ type: "text", text: call }] });
      }
      yield { type: "done" };
    }
    const all = await Array.fromAsync(withTextCalls(events(), prompt, IN_TEXT, () => {}));
    const deltas = all.flatMap((event) => event.type === "deltas" ? event.deltas : []);
    assert.ok(taken < 20, `${taken} are taken`);
    assert.deepEqual(all.at(-1), { type: "done", isCut: true, isLoop: true });
    const given = deltas.flatMap((delta) => delta.type === "call_arguments" ? [delta.text] : []);
    assert.deepEqual(given, ['{"path":"a"}']);
    const begun = deltas.flatMap((delta) => delta.type === "call_start" ? [delta.index] : []);
    const dropped = deltas.flatMap((delta) => delta.type === "call_dropped" ? [delta.index] : []);
    assert.deepEqual(begun.filter((index) => !dropped.includes(index)), [0]);
    assert.deepEqual(deltas.findLast(({ type }) => type === "written"), {
      ...{ type: "written", text: call.trimEnd() },
    });
    assert.equal(deltas.map((delta) => delta.type === "text" ? delta.text : "").join(""), "");
    assert.equal(all.filter(({ type }) => type === "notice").length, 1);
  });
}
