/** What is a loop and what only looks like one; the texts are as models write them. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { runs } from "../../../../tests/support/runs.ts";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { IS_FULL } from "../../../../tests/support/sample.ts";
import { Repetition } from "./repetition.ts";

/** Where it was noticed, and what was said until it began; undefined: it was not. */
function heard(text: string, pieces = 7, scale = 1): { at: number; said: number } | undefined {
  const repetition = new Repetition(scale);
  for (let at = 0; at < text.length; at += pieces) {
    const run = repetition.add(text.slice(at, at + pieces));
    if (run !== undefined) return { at: at + pieces, said: run.length };
  }
}

const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join("\n");

const loops: readonly (readonly [what: string, block: string])[] = [
  ["a sentence", "Let me check the file again to make sure that everything is in place. "],
  ["a line", "I need to look at src/main.ts once more.\n"],
  [
    "a paragraph",
    lines(8, (at) => `${at}. First I read the file, then step ${at * 7}, and then I think about it.`) +
    "\n\n",
  ],
  ["a block of code", "```ts\nexport function greet(name: string) {\n  return `Hello, ${name}`;\n}\n```\n"],
  ["two lines in turn", "Wait, no.\nActually, let me think about this differently.\n"],
  ["a word", "the "],
  ["newlines alone", "\n"],
  ["what Windows ends lines with", "\r\n"],
  ["tags", "</div>"],
  ["letters that take two units", "😀 oh no "],
];

for (const [what, block] of loops) {
  Deno.test(`a loop: ${what}`, () => {
    const before = "I will have a look.\n\n";
    const found = heard(before + block.repeat(Math.ceil(14_000 / block.length)));
    assert.ok(found !== undefined && found.at < 14_100, "it is noticed");
    assert.ok(found.said <= before.length + 2 * block.length, `${found.said} characters are kept`);
    assert.ok(found.said >= before.trimEnd().length);
  });
}

const wanted: readonly (readonly [what: string, text: string])[] = [
  ["a table of numbers", lines(400, (at) => `| ${at} | ${at * at} | ${at % 7 === 0 ? "yes" : "no"} |`)],
  [
    "a table of which all cells but one are the same",
    lines(300, (at) => `| file_${at}.ts | ok | ok | ok | 0 | 0 |`),
  ],
  ["cases of a test", lines(200, (at) => `  assert.equal(add(${at}, 1), ${at + 1});`)],
  [
    "lines of imports",
    lines(300, (at) => `import { component${at} } from "./components/component${at}.ts";`),
  ],
  [
    "a numbered list of what is nearly the same",
    lines(200, (at) => `${at + 1}. Rename the variable in line ${at * 3}.`),
  ],
  [
    "JSON",
    JSON.stringify(
      Array.from({ length: 200 }, (_, id) => ({ id, name: "x", active: true, tags: [] })),
      null,
      2,
    ),
  ],
  ["closing braces", lines(60, (at) => " ".repeat(2 * (60 - at)) + "}")],
  ["a rule, and boxes of comments", `${"─".repeat(200)}\n${lines(20, () => "#".repeat(78))}\n`],
  ["a matrix of zeros", lines(30, () => Array.from({ length: 30 }, () => "0").join(", "))],
  ["the same three lines ten times", lines(30, (at) => ["try {", "  run();", "} catch {}"][at % 3] ?? "")],
  ["a line that was asked for a hundred times", lines(100, () => "I must not talk in class.")],
  ["a switch", lines(150, (at) => `    case ${at}:\n      return handle(${at});`)],
  ["a hex dump", lines(150, (at) => `${(at * 16).toString(16).padStart(8, "0")}  ${"00 ".repeat(16)}`)],
  ["an SVG path", lines(300, (at) => `<path d="M${at} ${at + 1}L${at * 2} 7" fill="none" stroke="#000"/>`)],
  [
    "a log",
    lines(200, (at) => `2026-01-0${at % 9} 12:${at % 60}:00 INFO worker started, waiting for jobs ${at}`),
  ],
];

for (const [what, text] of wanted) {
  Deno.test(`no loop: ${what}`, () => {
    assert.equal(heard(text), undefined);
    assert.equal(heard(`${text}\n\n${text}`), undefined, "twice");
  });
}

Deno.test("a file of the same lines may be long before it is a loop", () => {
  const rows = "INSERT INTO log (level, text) VALUES ('info', 'nothing happened');\n".repeat(300);
  assert.ok(heard(rows) !== undefined);
  assert.equal(heard(rows, 500, 10), undefined);
  assert.ok(heard(rows.repeat(4), 500, 10) !== undefined);
});

Deno.test("however the text is cut into pieces, a loop is noticed, and nothing that is none", () => {
  const block = fc.string({ unit: "grapheme", minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(
      block,
      fc.string({ maxLength: 500 }),
      fc.integer({ min: 1, max: 3_000 }),
      (block, before, pieces) => {
        const found = heard(before + block.repeat(Math.ceil(16_000 / block.length)), pieces);
        assert.ok(found !== undefined);
        assert.ok(found.said <= before.length + 2 * block.length);
      },
    ),
    runs(50),
  );
  const words = fc.array(fc.constantFrom(..."the of a file is in to and it line".split(" ")), {
    minLength: 4_000,
    maxLength: 5_000,
  });
  fc.assert(fc.property(words, (words) => assert.equal(heard(words.join(" "), 50), undefined)), runs(10));
});

Deno.test("the time that it takes is linear: megabytes in small pieces", async () => {
  await assertEachLinear(["a long answer"], (what, count) => {
    const text = lines(count, (at) => `Line ${at} of ${what}, which is like the one before it.`);
    return () => assert.equal(heard(text, 20), undefined);
  }, IS_FULL ? 32_500 : 8_000);
});
