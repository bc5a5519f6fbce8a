import assert from "node:assert/strict";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { manifestLine } from "./manifests.ts";

Deno.test("a manifest with comments has its scripts in one line", () => {
  assert.match(manifestLine("deno.jsonc", '{\n  // of ours\n\n  "tasks": { "test": "x" }\n}'), /test/);
});

Deno.test("hostile manifests cost time in proportion", async () => {
  await assertEachLinear(["\n", " ", " \n", "//", "a:\n", "\t", "[a]\n", "# ", "a = "], (part, size) => {
    const text = part.repeat(size);
    return () =>
      ["package.json", "Makefile", "Cargo.toml", "pyproject.toml"].map((name) => manifestLine(name, text));
  }, 5_000);
});
