import assert from "node:assert/strict";
import fc from "fast-check";
import { runs } from "../../../../tests/support/runs.ts";
import { WithoutEndMark } from "./end_mark.ts";

function shown(pieces: readonly string[]) {
  const said = new WithoutEndMark();
  const text = pieces.map((piece) => said.add(piece)).join("") + said.end();
  return { text, isThere: said.isThere };
}

const MARKS: readonly (readonly [text: string, left: string])[] = [
  ["Done.\n\n[TASK_COMPLETE]", "Done."],
  ["Done.\n[task_complete]\n", "Done."],
  ["Done. [TASK_COMPLETE]", "Done."],
  ["Done.\n**[TASK_COMPLETE]**", "Done."],
  ["Done.\n\n`[TASK_COMPLETE]`", "Done."],
  ["Done.\n```\nlet a;\n```\n[TASK_COMPLETE]", "Done.\n```\nlet a;\n```"],
  ["Done.\n\n[Task complete]", "Done."],
  ["Done.\n> *[ TASK COMPLETE ]*.", "Done."],
  ["Done.\n[TASK_COMPLETE] [TASK_COMPLETE]", "Done."],
  ["Done.\n### [Task-Completed]\r\n", "Done."],
  ["[TASK_COMPLETE]", ""],
  ["[TASK_COMPLETE] All of it is renamed.", "All of it is renamed."],
  ["**[TASK_COMPLETE]**\n\nAll of it is renamed.", "\nAll of it is renamed."],
  ["One.\n[TASK_COMPLETE]\nTwo.", "One.\nTwo."],
  ["Wrote **all**[TASK_COMPLETE]", "Wrote **all**"],
  ["Ended early: <tool_[TASK_COMPLETE]", "Ended early: <tool_"],
];

for (const [text, left] of MARKS) {
  Deno.test(`the mark is taken out: ${JSON.stringify(text)}`, () => {
    assert.deepEqual(shown([text]), { text: left, isThere: true });
    assert.deepEqual(shown([...text]), { text: left, isThere: true });
  });
}

const WORDS = [
  "I end with `[TASK_COMPLETE]`, as I was told.",
  "I end with `[TASK_COMPLETE]`",
  "The word is:\n```\n[TASK_COMPLETE]\n```\n",
  "~~~md\n- a\n[TASK_COMPLETE]\n~~~\nThat is it.",
  "The word [TASK_COMPLETE] stands at the end.",
  "- [Task complete] Parser\n- [Task complete] Printer\n- Tests [Task complete]",
  "[TASK_COMPLETED_AT]\n[TASK\n[TASK_COM",
  "- [x] TASK_COMPLETE\n",
  "A list:\n\n- **one**\n- `two`\n\n---\n\n> said\n  \n",
];

for (const text of WORDS) {
  Deno.test(`text stays: ${JSON.stringify(text)}`, () => {
    assert.deepEqual(shown([text]), { text, isThere: false });
    assert.deepEqual(shown([...text]), { text, isThere: false });
  });
}

Deno.test("the beginning of the mark is withheld until it is known what it is", () => {
  const said = new WithoutEndMark();
  const pieces = ["Done", ".\n\n", "**[TA", "SK_", "COM", "ING] is", " another."];
  assert.deepEqual(pieces.map((piece) => said.add(piece)), [
    ...["Done", ".", "", "", "", "\n\n**[TASK_COMING] is", " another."],
  ]);
});

const PIECES = [
  ..."[TASK_COMPLETE]",
  ...[
    "[TASK_COMPLETE]",
    "[TASK_",
    "COMPLETE]",
    "[Task complete]",
    "**",
    "*",
    "_",
    "`",
    "```",
    "```\n",
    "~~~\n",
  ],
  ...[
    "\n",
    "\n\n",
    " ",
    "\t",
    "\r\n",
    "Done.",
    "a",
    "- ",
    "> ",
    "#",
    "word ",
    "             ",
    "'",
    '"',
    ".",
  ],
];
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((parts) => parts.join(""));

Deno.test("in any pieces the same is shown as at once, and nothing but the mark is missing", () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(120), { maxLength: 10 }), (text, cuts) => {
      const places = [0, ...cuts.filter((at) => at < text.length).sort((a, b) => a - b), text.length];
      const whole = shown([text]);
      assert.deepEqual(shown(places.slice(1).map((end, index) => text.slice(places[index], end))), whole);
      assert.deepEqual(shown([...text]), whole);
      if (!whole.isThere) assert.equal(whole.text, text);
      const without = (text: string) => text.replaceAll(/\[ ?task[ _-]?completed? ?\]|[\s*_~`"'#>.-]/gi, "");
      assert.equal(without(whole.text), without(text));
    }),
    runs(3_000),
  );
});

Deno.test("long texts are read in time", () => {
  for (const piece of ["word ", " ", "`", "[TASK_", "[TASK_COMPLETE] ", "\n", "*", "- "]) {
    const said = new WithoutEndMark();
    for (let size = 0; size < 200_000; size += 100) said.add(piece.repeat(Math.ceil(100 / piece.length)));
    said.end();
  }
});
