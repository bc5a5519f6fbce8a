import assert from "node:assert/strict";
import fc from "fast-check";
import { ANY_CHARACTER } from "../../../../tests/support/any_character.ts";
import { runs } from "../../../../tests/support/runs.ts";
import { argumentsObject, parseArguments } from "./arguments.ts";

const taken: readonly (readonly [what: string, text: string, value: unknown])[] = [
  ["nothing at all", "", {}],
  ["white space", " \n", {}],
  ["null", "null", {}],
  ["whole JSON", '{"path": "a.ts", "limit": 3}', { path: "a.ts", limit: 3 }],
  ["white space around it", '\n {"a": 1}\r\n', { a: 1 }],
  ["a key twice: the last counts", '{"a": 1, "a": 2}', { a: 2 }],
  ["what is no object is the tool's to refuse", '["a"]', ["a"]],
  ["single quotes", "{'path': 'a.ts'}", { path: "a.ts" }],
  ["keys without quotes", '{path: "a.ts", limit: 3}', { path: "a.ts", limit: 3 }],
  ["a trailing comma", '{"a": [1, 2,], "b": 1,}', { a: [1, 2], b: 1 }],
  ["Python's words", '{"a": True, "b": False, "c": None}', { a: true, b: false, c: null }],
  ["raw newlines and tabs in a string", '{"content": "a\n\tb\n"}', { content: "a\n\tb\n" }],
  ["an escape that JSON lacks stays as written", '{"content": "/\\d+\\.ts/"}', { content: "/\\d+\\.ts/" }],
  ["a Windows path", '{"path": "C:\\src\\main.ts"}', { path: "C:\\src\\main.ts" }],
  ["one brace too many", '{"a": {"b": 1}}}', { a: { b: 1 } }],
  ["a fence around it", '```json\n{"a": 1}\n```', { a: 1 }],
  ["braces and quotes inside strings", "{'a': '}\"{', \"b\": \"'}\",}", { a: '}"{', b: "'}" }],
];

for (const [what, text, value] of taken) {
  Deno.test(`arguments are read: ${what}`, () => assert.deepEqual(parseArguments(text), { ok: true, value }));
}

const refused: readonly (readonly [what: string, text: string])[] = [
  ["prose", "I will read a.ts"],
  ["an object that is not closed", '{"path": "a.ts"'],
  ["a string that is not closed", '{"path": "a.ts", "content": "function f() {}'],
  ["a comment mark in a string that is not closed", '{"path": "a.ts", "content": "/* ${x}'],
  ["a quote in a string", '{"content": "say "hi}'],
  ["a quoted word in a string", '{"content": "say "hi" {"}'],
  ["quotes that JSON has not", "{“content”: “x }"],
  ["a string between backticks", '{"content": `if (a) { b }}'],
  ["a word as value", '{"path": a.ts}'],
  ["two objects", '{"a": 1}{"b": 2}'],
  ["two members without a comma", '{"a": "b" "c": "d"}'],
  ["a word after a string", '{"content": "x "y}'],
  ["two values", '{"a": "b" "c"}'],
  ["text after it", '{"a": 1} I think'],
  ["text before it", 'Arguments: {"a": 1}'],
];

for (const [what, text] of refused) {
  Deno.test(`arguments are refused: ${what}`, () => {
    const parsed = parseArguments(text);
    assert.ok(!parsed.ok, JSON.stringify(parsed));
    assert.match(parsed.error, /^[^\r\n]+$/);
  });
}

/** Text in which everything that means something to JSON, to code and to a repair comes up often. */
const code = fc.array(
  fc.constantFrom(..."{}[]\"'`:,\\/*\n\t a1é😀“”", "//", "/*", "*/", "\\n", '\\"', "${x}", "null", '": "'),
  { maxLength: 40 },
).map((parts) => parts.join(""));

const plain = { noNullPrototype: true };
const writes = fc.oneof(
  fc.record({ path: fc.constant("a.ts"), content: code }, plain),
  fc.record({ content: code, path: code }, plain),
  fc.record({ path: code, old_str: code, new_str: code }, plain),
  fc.record({ path: code, edits: fc.array(fc.record({ old_str: code, new_str: code }, plain)) }, plain),
);
const indents = fc.constantFrom(0, 2, "\t");

Deno.test("whatever a write holds, its JSON is read back", () => {
  fc.assert(fc.property(writes, indents, (value, indent) => {
    const parsed = parseArguments(JSON.stringify(value, undefined, indent));
    assert.deepEqual(parsed, { ok: true, value });
  }));
});

Deno.test("a write that was cut off anywhere is never accepted", () => {
  fc.assert(
    fc.property(writes, indents, fc.double({ min: 0, max: 1, noNaN: true }), (value, indent, share) => {
      const whole = JSON.stringify(value, undefined, indent);
      const cut = whole.slice(0, 1 + Math.floor(share * (whole.length - 1)));
      if (cut.length < whole.length) assert.equal(parseArguments(cut).ok, false, cut);
    }),
    runs(3_000),
  );
});

Deno.test("a repair never shortens what a write holds", () => {
  // Raw newlines and a comma too many, as models write them.
  fc.assert(fc.property(code, (content) => {
    const text = content.replace(/[\\"]/g, "\\$&");
    assert.deepEqual(parseArguments(`{"content": "${text}",}`), { ok: true, value: { content } });
  }));
});

Deno.test("nothing that a model can write throws", () => {
  fc.assert(fc.property(fc.oneof(code, fc.string({ unit: ANY_CHARACTER, maxLength: 40 })), (text) => {
    const parsed = parseArguments(text);
    assert.equal(typeof parsed.ok, "boolean");
    assert.equal(typeof argumentsObject(text), "object");
  }));
});

Deno.test("arguments go back as what was run, or as what was written", () => {
  assert.deepEqual(argumentsObject('{"a": 1}'), { a: 1 });
  assert.deepEqual(argumentsObject('{"a": 1,}'), { a: 1 });
  assert.deepEqual(argumentsObject(""), {});
  assert.deepEqual(argumentsObject('{"a": '), { invalid_json: '{"a": ' });
  assert.deepEqual(argumentsObject("[1]"), { invalid_json: "[1]" });
});

Deno.test("arguments that are nested too deep are not even parsed; brackets in strings do not count", () => {
  const nested = (depth: number) => `{"a": ${"[".repeat(depth)}${"]".repeat(depth)}}`;
  assert.equal(parseArguments(nested(99)).ok, true);
  assert.deepEqual(parseArguments(nested(100)), { ok: false, error: "they are nested more than 100 deep" });
  assert.equal(parseArguments("{'a': ".repeat(1_000_000)).ok, false);
  assert.equal(parseArguments(JSON.stringify({ a: '[{"'.repeat(1_000) })).ok, true);
});
