/** OpenAI's patch text: what fits, byte for byte, and what is refused. */
import assert from "node:assert/strict";
import { diffArrays } from "../../../deps/diff.ts";
import fc from "fast-check";
import { runs } from "../../../../../tests/support/runs.ts";
import { assertEachLinear } from "../../../../../tests/support/growth.ts";
import { ToolError } from "../../../shared/errors.ts";
import { applyHunks, parsePatch } from "./patch.ts";

/** The text of `a.txt` after the hunks of a patch for it. */
function patched(text: string, ...hunks: readonly string[]): string {
  const [section] = parsePatch(
    ["*** Begin Patch", "*** Update File: a.txt", ...hunks, "*** End Patch"].join("\n"),
  );
  assert.ok(section?.type === "update");
  return applyHunks(text, section.hunks, "a.txt");
}

const FILE = "one\ntwo\nthree\nfour\nfive\n";

const fits: readonly (readonly [what: string, before: string, hunks: readonly string[], after: string])[] = [
  ["a line", FILE, ["@@", " one", "-two", "+2", " three"], "one\n2\nthree\nfour\nfive\n"],
  ["no mark of a hunk before the first", FILE, [" one", "-two", "+2"], "one\n2\nthree\nfour\nfive\n"],
  ["two hunks in order", FILE, ["@@", "-one", "+1", "@@", "-four", "+4"], "1\ntwo\nthree\n4\nfive\n"],
  ["only removed", FILE, ["@@", " one", "-two", "-three", " four"], "one\nfour\nfive\n"],
  ["only added, at the end", FILE, ["@@", "+six"], FILE + "six\n"],
  ["an empty file", "", ["@@", "+one", "+two"], "one\ntwo\n"],
  ["everything goes", "one\n", ["@@", "-one"], ""],
  [
    "below a line that is named",
    "f {\n  x\n}\ng {\n  x\n}\n",
    ["@@ g {", "-  x", "+  y"],
    "f {\n  x\n}\ng {\n  y\n}\n",
  ],
  [
    "below two",
    "class A\n def f\n  x\nclass B\n def f\n  x\n",
    ["@@ class B", "@@  def f", "-  x", "+  y"],
    "class A\n def f\n  x\nclass B\n def f\n  y\n",
  ],
  [
    "the beginning of the line is named",
    "function f(a) {\n  x\n}\n",
    ["@@ function f", "-  x", "+  y"],
    "function f(a) {\n  y\n}\n",
  ],
  ["numbers of lines say nothing", FILE, ["@@ -9,2 +9,2 @@", "-two", "+2"], "one\n2\nthree\nfour\nfive\n"],
  ["at the end", "x\ny\nx\n", ["@@", "-x", "+z", "*** End of File"], "x\ny\nz\n"],
  [
    "CRLF",
    "one\r\ntwo\r\nthree\r\n",
    ["@@", " one", "-two", "+2", "+2b", " three"],
    "one\r\n2\r\n2b\r\nthree\r\n",
  ],
  ["mixed endings stay", "one\r\ntwo\nthree\n", ["@@", " two", "-three", "+3"], "one\r\ntwo\n3\n"],
  ["no final newline", "one\ntwo", ["@@", " one", "-two", "+2"], "one\n2"],
  ["no final newline, added behind", "one\ntwo", ["@@", " two", "+three"], "one\ntwo\nthree"],
  ["white space at the end of context stays", "one  \ntwo\n", ["@@", " one", "-two", "+2"], "one  \n2\n"],
  ["a shift of indentation", "  if a:\n    b\n", ["@@", " if a:", "-  b", "+  c"], "  if a:\n    c\n"],
  ["an empty line without its space", "a\n\nb\n", ["@@", " a", "", "-b", "+c"], "a\n\nc\n"],
  [
    "blank lines between hunks",
    FILE,
    ["@@", "-one", "+1", "", "@@", "-five", "+5", ""],
    "1\ntwo\nthree\nfour\n5\n",
  ],
  ["lines that look like marks", "*** End Patch\n@@\n-\n", [
    "@@",
    " *** End Patch",
    "-@@",
    "+*** Begin Patch",
  ], "*** End Patch\n*** Begin Patch\n-\n"],
];

for (const [what, before, hunks, after] of fits) {
  Deno.test(`a hunk fits: ${what}`, () => assert.equal(patched(before, ...hunks), after));
}

const refused: readonly (readonly [what: string, before: string, hunks: readonly string[], says: RegExp])[] =
  [
    [
      "not there",
      FILE,
      ["@@", "-six", "+6"],
      /a\.txt, hunk 1 \(line 3 of the patch\): its lines were not found/,
    ],
    ["the nearest is named", FILE, ["@@", " one", "-twoo", " three"], /nearest lines are:\n1: one\n2: two/],
    ["the second one", FILE, ["@@", "-one", "+1", "@@", "-zero", "+0"], /hunk 2 \(line 6 of the patch\)/],
    ["two places", "x\ny\nx\n", ["@@", "-x", "+z"], /fits in 2 places \(lines 1, 3\)/],
    ["behind the one before", FILE, ["@@", "-four", "+4", "@@", "-one", "+1"], /hunk 2 .* not found/],
    ["half a line", "one two\n", ["@@", "-one", "+1"], /not found/],
    [
      "the named line is not there",
      FILE,
      ["@@ zero", "-two", "+2"],
      /the line "zero" after @@ was not found/,
    ],
    ["added below a named line", FILE, ["@@ two", "+x"], /give a line of the file beside them/],
    ["not at the end", FILE, ["@@", "-one", "+1", "*** End of File"], /not found/],
  ];

for (const [what, before, hunks, says] of refused) {
  Deno.test(`a hunk is refused: ${what}`, () => {
    assert.throws(
      () => patched(before, ...hunks),
      (error) => error instanceof ToolError && says.test(error.message),
    );
  });
}

Deno.test("sections, with what models put around them", () => {
  const patch = [
    ...["*** Begin Patch", "*** Add File: new dir/a.txt", "+one", "+", "+*** End Patch"],
    ...[
      "*** Update File: b.txt",
      "*** Move to: c.txt",
      "@@",
      "-x",
      "+y",
      "",
      "*** Delete File: d.txt",
      "*** End Patch",
    ],
  ].join("\n");
  const sections = parsePatch(patch);
  assert.deepEqual(sections, [
    { type: "add", path: "new dir/a.txt", text: "one\n\n*** End Patch\n" },
    {
      type: "update",
      path: "b.txt",
      to: "c.txt",
      hunks: [{
        line: 8,
        under: [],
        lines: [{ mark: "-", text: "x" }, { mark: "+", text: "y" }],
        atEnd: false,
      }],
    },
    { type: "delete", path: "d.txt" },
  ]);
  const around: readonly (readonly [before: string, after: string])[] = [
    ["```diff\n", "\n```"],
    ["apply_patch <<'EOF'\n", "\nEOF\n"],
    ["\n", "\n\n"],
  ];
  for (const [before, after] of around) {
    assert.deepEqual(parsePatch(before + patch + after), sections, before);
  }
  assert.deepEqual(parsePatch(patch.replaceAll("\n", "\r\n")), sections);
});

const malformed: readonly (readonly [patch: string, says: RegExp])[] = [
  ["", /begins with the line/],
  ["rm -rf /\n*** Begin Patch\n*** Delete File: a\n*** End Patch", /begins with the line/],
  ["*** Begin Patch\n*** Delete File: a", /cut off/],
  ["*** Begin Patch\n*** Delete File: a\n*** End Patch\nand more", /cut off/],
  ["*** Begin Patch\n*** End Patch", /no section/],
  ["*** Begin Patch\n*** Rename File: a\n*** End Patch", /Line 2 of the patch/],
  ["*** Begin Patch\n*** Update File: a\n*** End Patch", /changes nothing of a/],
  ["*** Begin Patch\n*** Update File: a\n@@\n only context\n*** End Patch", /changes nothing of a/],
  ["*** Begin Patch\n*** Add File: a\nno plus\n*** End Patch", /Line 3 .* begins with \+/],
  ["*** Begin Patch\n*** Delete File: a\n-x\n*** End Patch", /nothing follows/],
  ["*** Begin Patch\n*** Update File: a\n@@\n-x\nwhat\n*** End Patch", /Line 5 .* a space, - or \+/],
];

for (const [patch, says] of malformed) {
  Deno.test(`a patch is refused: ${JSON.stringify(patch).slice(0, 60)}`, () => {
    assert.throws(() => parsePatch(patch), (error) => error instanceof ToolError && says.test(error.message));
  });
}

/** As a model would write it: `context` lines around each place, which are told apart by their numbers. */
function hunksOf(before: readonly string[], after: readonly string[], context: number): readonly string[] {
  const all = diffArrays([...before], [...after]).flatMap(({ added, removed, value }) =>
    value.map((text) => ({ mark: added ? "+" : removed ? "-" : " ", text }))
  );
  const near = all.map((_, at) =>
    all.slice(Math.max(0, at - context), at + context + 1).some(({ mark }) => mark !== " ")
  );
  return all.flatMap(({ mark, text }, at) =>
    near[at] ? [...near[at - 1] === true ? [] : ["@@"], mark + text] : []
  );
}

const texts = fc.array(
  fc.constantFrom("", "a", "  b", "\tc", "d ", "}", "+", "-x", "@@", "*** End Patch", "ü😀"),
  {
    minLength: 1,
    maxLength: 12,
  },
);
const changes = fc.array(fc.record({ at: fc.nat(12), remove: fc.nat(2), add: texts }), { maxLength: 3 });

Deno.test("random edits of random files: the patch gives the same bytes", () => {
  fc.assert(
    fc.property(
      texts,
      changes,
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      fc.array(fc.constantFrom("moved", ""), { maxLength: 5 }),
      (lines, edits, ending, final, moved) => {
        // Each line once, so that every hunk has one place.
        const before = lines.map((line, at) => `${line}#${at}`);
        const after = [...before];
        for (const [number, { at, remove, add }] of edits.entries()) {
          after.splice(at, remove, ...add.map((line, index) => `${line}+${number}.${index}`));
        }
        // One line without an ending says nothing of the others.
        fc.pre(after.length > 0 && before.join() !== after.join() && (final || before.length > 1));
        const text = (all: readonly string[]) => all.join(ending) + (final ? ending : "");
        const hunks = hunksOf(before, after, 3);
        assert.equal(patched(text(before), ...hunks), text(after));
        // The user has put lines above meanwhile.
        const above = moved.map((line, at) => `${line}above${at}`);
        assert.equal(patched(text([...above, ...before]), ...hunks), text([...above, ...after]));
      },
    ),
    runs(300),
  );
});

Deno.test("whatever is sent, it is a list of sections and a text, or one of our errors", () => {
  const line = fc.constantFrom(
    ...["*** Begin Patch", "*** End Patch", "*** Update File: a", "*** Add File: b", "*** Move to: c"],
    ...["@@", "@@ x", "-x", "+y", " x", "", "*** End of File", "x", "*** Delete File: ../d"],
  );
  fc.assert(fc.property(fc.array(line, { maxLength: 20 }), texts, (lines, file) => {
    try {
      for (const section of parsePatch(["*** Begin Patch", ...lines, "*** End Patch"].join("\n"))) {
        if (section.type === "update") {
          assert.equal(typeof applyHunks(file.join("\n"), section.hunks, "a"), "string");
        }
      }
    } catch (error) {
      assert.ok(error instanceof ToolError, String(error));
    }
  }));
});

Deno.test("lines around a patch cost time in proportion", async () => {
  await assertEachLinear([" ", "`", "<", "a"], (part, size) => {
    const text = `*** Begin Patch\n*** Delete File: a\n*** End Patch\n${part.repeat(size)}!`;
    return () => {
      try {
        parsePatch(text);
      } catch (error) {
        assert.ok(error instanceof ToolError, String(error));
      }
    };
  }, 5_000);
});

/** Each hunk looks through the rest of the file: the time is in proportion to the one times the other. */
Deno.test("a patch takes time in proportion to the lines of the file, and to its hunks", async () => {
  const FEW = 40;
  const SHORT = 2_000;
  await assertEachLinear(["lines", "hunks", "both"], (row, size) => {
    const many = Array.from({ length: row === "hunks" ? SHORT : size }, (_, at) => `line ${at}`);
    const every = Math.floor(many.length / (row === "lines" ? FEW : size / 20));
    const hunks = many.flatMap((text, at) => at % every === 0 ? ["@@", `-${text}`, `+${text}!`] : []);
    return () => patched(many.join("\n"), ...hunks);
  }, SHORT);
});
