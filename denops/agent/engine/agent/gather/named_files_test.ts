import assert from "node:assert/strict";
import { namesFile } from "./named_files.ts";

const FILE = "/p/.github/workflows/ci.yml";

/** Lines, where they start, and whether they name {@link FILE}. */
const CASES: readonly (readonly [line: string, cwd: string, named: boolean])[] = [
  ["sed -i s/a/b/ .github/workflows/ci.yml", "/p", true],
  ["echo x >.github/workflows/ci.yml", "/p", true],
  ["echo x > './.github/workflows/ci.yml'; true", "/p", true],
  [`tool --output="/p/.github/workflows/ci.yml"`, "/p/sub", true],
  ["rm ../.github/workflows/ci.yml", "/p/sub", true],
  // The folder is a sensitive one itself.
  ["rm -r .github/workflows", "/p", true],
  ["rm -r .github", "/p", false],
  ["git checkout main -- .", "/p", false],
  ["rm ci.yml", "/p", false],
  ["rm .github/workflows/ci.yml", "/p/sub", false],
  ["rm .github/workflows/*.yml", "/p", false],
  ["rm .github/workflows/$x", "/p", false],
  ["rm .github/workflows/ci.yml.bak", "/p", false],
  [`rm "$d/.github/workflows/ci.yml"`, "/p", false],
  ["npm test", "/p", false],
];

Deno.test("a line names a file by its whole path, or by a sensitive folder, and by nothing that is expanded", () => {
  const isTrap = (folder: string) => folder === "/p/.github/workflows";
  const wrong = CASES.filter(([line, cwd, named]) => namesFile(line, cwd, FILE, isTrap) !== named);
  assert.deepEqual(wrong, []);
});
