import assert from "node:assert/strict";
import fc from "fast-check";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { IS_FULL } from "../../../../tests/support/sample.ts";
import { treeText } from "./tree.ts";

const PATHS = ["README.md", "src/main.ts", "src/util/text.ts", "src/util/time.ts", "docs/a/b/c.md"];

Deno.test("a small project is shown whole, folders first", () => {
  assert.equal(
    treeText(PATHS, 2_000, true),
    [
      "docs/",
      "  a/",
      "    b/",
      "      c.md",
      "src/",
      "  util/",
      "    text.ts",
      "    time.ts",
      "  main.ts",
      "README.md",
    ].join("\n"),
  );
});

Deno.test("what does not fit stays closed and is counted, unless the list is not whole", () => {
  assert.equal(treeText(PATHS, 50, true), "docs/\n  a/ (1 file)\nsrc/ (3 files)\nREADME.md");
  assert.equal(treeText(PATHS, 22, false), "docs/\nsrc/\nREADME.md");
});

Deno.test("one folder of many files does not take all the room", () => {
  const many = Array.from({ length: 500 }, (_, at) => `data/${at}.json`);
  const text = treeText([...many, "main.ts"], 2_000, true);
  assert.match(text, /\[470 more files\]\nmain\.ts$/);
});

Deno.test("no project takes more than the room, and the same files give the same text in any order", () => {
  const name = fc.constantFrom("a", "b", "src", "ü😀", "a long name of a folder", "x.ts");
  const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((parts) => `${parts.join("/")}/f`);
  fc.assert(
    fc.property(fc.uniqueArray(path, { maxLength: 60 }), fc.integer({ min: 30, max: 600 }), (paths, most) => {
      const text = treeText(paths, most, true);
      assert.ok(text.length <= most);
      assert.equal(treeText(paths.toReversed(), most, true), text);
    }),
  );
});

Deno.test("the tree of many files takes time in proportion", async () => {
  await assertEachLinear(["files"], (_, count) => {
    const paths = Array.from({ length: count }, (_, at) => `p${at % 300}/q${at % 7}/f${at}.ts`);
    return () => treeText(paths, 2_000, true);
  }, IS_FULL ? 25_000 : 5_000);
});
