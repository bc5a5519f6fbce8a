import assert from "node:assert/strict";
import { join } from "node:path";
import { scratch } from "../../../tests/support/project.ts";
import type { PathLookups } from "./path.ts";
import { resolveInRoots } from "./roots.ts";

const lookups: PathLookups = {
  realPath: (path) => Deno.realPath(path).catch(() => undefined),
  kind: async (path) => {
    const info = await Deno.lstat(path).catch(() => undefined);
    return info === undefined
      ? undefined
      : info.isSymlink
      ? "symlink"
      : info.isDirectory
      ? "directory"
      : "file";
  },
};

/** Below a folder with the roots app (primary), lib and web. */
const CASES: readonly (readonly [input: string, path: string, shown: string])[] = [
  ["", "error", "empty"],
  [".", "app", ""],
  ["a.ts", "app/a.ts", "a.ts"],
  ["new.ts", "app/new.ts", "new.ts"],
  ["app", "app", ""],
  ["app/", "app", ""],
  ["lib", "lib", "lib"],
  ["app/a.ts", "app/a.ts", "a.ts"],
  ["lib/only_lib.ts", "lib/only_lib.ts", "lib/only_lib.ts"],
  ["only_lib.ts", "lib/only_lib.ts", "lib/only_lib.ts"],
  ["both.ts", "app/both.ts", "both.ts"],
  ["lib/both.ts", "lib/both.ts", "lib/both.ts"],
  // A folder of the primary root that is named like another root comes first.
  ["web/inner.ts", "app/web/inner.ts", "web/inner.ts"],
  ["web/page.ts", "web/page.ts", "web/page.ts"],
  ["web", "web", "web"],
  ["lib/new.ts", "app/lib/new.ts", "lib/new.ts"],
  ["{lib}/only_lib.ts", "lib/only_lib.ts", "lib/only_lib.ts"],
  ["{lib}/new.ts", "lib/new.ts", "lib/new.ts"],
  ["{lib}/../lib/new.ts", "lib/new.ts", "lib/new.ts"],
  // From the project that is the other root, and so inside.
  ["../lib/only_lib.ts", "lib/only_lib.ts", "lib/only_lib.ts"],
  ["../secret.ts", "error", "outside"],
  ["{lib}/../secret.ts", "error", "outside"],
  ["lib/../../secret.ts", "error", "outside"],
  ["{lib}-evil/x.ts", "error", "outside"],
  ["{lib}/leak.ts", "error", "outside"],
  // A link that leads out is not found, so that the path is a new file's.
  ["leak.ts", "app/leak.ts", "leak.ts"],
];

Deno.test("paths in a workspace of several roots", async (test) => {
  await using folder = await scratch({
    "app/a.ts": "",
    "app/both.ts": "",
    "app/web/inner.ts": "",
    "lib/only_lib.ts": "",
    "lib/both.ts": "",
    "web/page.ts": "",
    "lib-evil/x.ts": "",
    "secret.ts": "",
  });
  await Deno.symlink(folder.path("secret.ts"), folder.path("lib/leak.ts"));
  const roots = ["app", "lib", "web"].map((name) => folder.path(name));
  for (const [input, path, shown] of CASES) {
    await test.step(JSON.stringify(input), async () => {
      const resolved = resolveInRoots(input.replace("{lib}", folder.path("lib")), roots, lookups);
      if (path === "error") return await assert.rejects(resolved, new RegExp(shown));
      const { path: found, relative, root } = await resolved;
      assert.equal(found, join(folder.root, path));
      assert.equal(relative, shown);
      assert.ok(roots.includes(root));
    });
  }
});
