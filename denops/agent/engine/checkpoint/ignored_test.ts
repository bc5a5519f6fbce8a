import assert from "node:assert/strict";
import { scratch } from "../../../../tests/support/project.ts";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { Ignored } from "./ignored.ts";

Deno.test("ordinary rules hide what git hides; hostile ones hide nothing and cost nothing", async () => {
  await using folder = await scratch({
    ".gitignore": `*.log\nbuild/\n!keep.log\n**/dist/**/*.map\n${"**/a/".repeat(5)}b/c\n${"*x".repeat(20)}\n`,
  });
  const ignored = new Ignored(folder.root);
  assert.deepEqual(
    ["a.log", "keep.log", "build/x", "p/dist/q/r.map"].map((path) => ignored.hides(path)),
    [true, false, true, true],
  );
  // Git hides them.
  assert.deepEqual(["x".repeat(20), `${"a/".repeat(5)}b/c`].map((path) => ignored.hides(path)), [
    false,
    false,
  ]);
  for (const path of ["x".repeat(19), `${"a/".repeat(90)}b/x`]) assert.ok(!ignored.hides(path));
});

Deno.test("rules take time in proportion to their number and to the names", async () => {
  const SIZES = [20, 100, 400];
  const rules = (count: number) =>
    Array.from({ length: count }, (_, at) => `*a*a${at}*b\n**/a/**/b${at}\n`).join("");
  await using folder = await scratch(
    Object.fromEntries(SIZES.map((count) => [`${count}/.gitignore`, rules(count)])),
  );
  await assertEachLinear(["rules", "names"], (row, size) => {
    const root = folder.path(String(row === "rules" ? size : SIZES[0]));
    const names = Array.from({ length: row === "names" ? size : 20 }, (_, at) => `${"a".repeat(50)}b${at}x`);
    return () => {
      const ignored = new Ignored(root);
      return names.filter((name) => ignored.has("", name, false));
    };
  }, 100);
});
