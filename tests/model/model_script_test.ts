import assert from "node:assert/strict";
import fc from "fast-check";
import { ANY_CHARACTER } from "../support/any_character.ts";
import { parseScript } from "../../denops/agent/scripted_model/script.ts";

Deno.test("a script is read into answers in order", () => {
  const script = parseScript(
    [
      "# rename greet to salute",
      "think I should look first.",
      "say I will look.",
      "say",
      "say # Really",
      'call read_file {"path": "src/greet.ts"}',
      "---",
      "expect export function greet",
      'call write_file {"path": ".env",',
      '  "content": "A=1\\n"}',
      "rawcall broken {not json",
      "usage 1200 85 200",
      "stop length",
      "---",
      "when again",
      "status 429 retry-after=2 x-should-retry=true Slow down",
      "---",
      "repeat",
      "",
    ].join("\r\n"),
    "demo.txt",
  );
  const [look, write, limited, last] = script.answers;
  assert.equal(script.answers.length, 4);
  assert.deepEqual(look?.parts, [
    { kind: "think", text: "I should look first." },
    { kind: "say", text: "I will look.\n\n# Really" },
    { kind: "call", name: "read_file", arguments: '{"path":"src/greet.ts"}' },
  ]);
  assert.deepEqual(write?.expectations, [{ line: 8, text: "export function greet", wanted: true }]);
  assert.deepEqual(write?.parts, [
    { kind: "call", name: "write_file", arguments: '{"path":".env","content":"A=1\\n"}' },
    { kind: "call", name: "broken", arguments: "{not json" },
  ]);
  assert.deepEqual(write?.usage, { input: 1200, output: 85, cached: 200 });
  assert.equal(write?.stop, "length");
  assert.equal(limited?.when, "again");
  assert.deepEqual(limited?.parts, [
    {
      kind: "status",
      code: 429,
      headers: { "retry-after": "2", "x-should-retry": "true" },
      body: "Slow down",
    },
  ]);
  assert.equal(last?.repeat, true);
});

Deno.test("a text goes on in a new line after a pause", () => {
  const [answer] = parseScript("say one\nwait here\nsay two\nthink hm\nsay three").answers;
  const texts = answer?.parts.map((part) => part.kind === "say" ? part.text : part.kind);
  assert.deepEqual(texts, ["one", "wait", "\ntwo", "think", "three"]);
});

Deno.test("garbage has escapes for bytes", () => {
  const [answer] = parseScript("garbage \\xff\\\\ü\\r\\n").answers;
  assert.deepEqual(answer?.parts, [{ kind: "garbage", bytes: new Uint8Array([255, 92, 195, 188, 13, 10]) }]);
});

for (
  const [text, message] of [
    ["shout hello", /^demo\.txt:1: Cannot read "shout hello": "shout" is no directive\. Try say, think, /],
    ["say a\n\ncall read {path}", /^demo\.txt:3: .*Try rawcall for broken arguments\.$/],
    ["call read [1]", /:1: .*the arguments are not a JSON object\.$/],
    ["call", /:1: .*use call NAME JSON\.$/],
    ["say a\n  b", /:1: .*only the arguments of a call may go on in indented lines\.$/],
    ["  b", /:1: .*an indented line belongs below a call\.$/],
    ["stop now", /:1: .*use one of end_turn, length, tool_calls, content_filter\.$/],
    ["usage 10", /:1: .*use usage IN OUT \[CACHED\]\.$/],
    ["usage 10 5 11", /:1: .*CACHED is a part of IN and cannot be more\.$/],
    ["slow soon", /:1: .*it takes a whole number from 0\.$/],
    ["split 0", /:1: .*it takes a whole number from 1\.$/],
    ["flood -1", /:1: .*it takes a whole number from 1\.$/],
    ["wait", /:1: .*it takes one word\.$/],
    ["cut here", /:1: .*it takes no argument\.$/],
    ["expect", /:1: .*the argument is missing\.$/],
    ["status 700", /:1: .*the code is at most 599\.$/],
    ["status teapot", /:1: .*use status CODE \[NAME=VALUE \.\.\.\] \[BODY\]\.$/],
    ["garbage \\q", /:1: .*"\\q" is no escape\./],
    ["cut\nsay more", /:2: Cannot read "say more": nothing can follow cut\.$/],
    ["say more\nstatus 500", /:2: .*status stands instead of a stream, only wait may precede it\.$/],
    ["say a\n---\n---", /:3: .*no answer comes before it\.$/],
    ["repeat\n---\nsay b", /:1: .*only the last answer, or one with `when`, can be reused for ever\.$/],
  ] as const
) {
  Deno.test(`a wrong script says where: ${JSON.stringify(text)}`, () => {
    assert.throws(() => parseScript(text, "demo.txt"), (error: unknown) => {
      assert.ok(error instanceof Error && error.name === "ScriptError");
      assert.match(error.message, message);
      return true;
    });
  });
}

Deno.test("any text is a script or a ScriptError", () => {
  const words = [
    "say",
    "call x",
    "rawcall",
    "status",
    "---",
    "  {",
    "}",
    "garbage \\",
    "usage 1",
    "cut",
    "toString",
    " ",
  ];
  const line = fc.oneof(fc.constantFrom(...words), fc.string({ unit: ANY_CHARACTER }));
  fc.assert(fc.property(fc.array(fc.tuple(fc.constantFrom(...words), line)), (lines) => {
    try {
      parseScript(lines.map(([a, b]) => `${a} ${b}`).join("\n"));
    } catch (error) {
      assert.ok(error instanceof Error && error.name === "ScriptError", String(error));
    }
  }));
});
