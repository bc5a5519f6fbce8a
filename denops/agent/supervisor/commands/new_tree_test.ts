/** The tree as it is once a command's changes are kept. */
import assert from "node:assert/strict";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { scratch } from "../../../../tests/support/project.ts";
import { NewTree } from "./new_tree.ts";
import type { Effect } from "./listed_changes.ts";

const link = (root: string, inRoot: string, target: string): Effect => ({
  ...{ path: `${root}/${inRoot}`, root: 0, inRoot },
  ...{ before: undefined, after: { type: "link", target } },
});

const file = (root: string, inRoot: string): Effect => ({
  ...{ path: `${root}/${inRoot}`, root: 0, inRoot },
  ...{ before: undefined, after: { type: "file", mode: 0o644, size: 1, hash: inRoot } },
});

Deno.test("links are followed in the new tree, and each gives its content a name", async () => {
  await using project = await scratch({ "src/a.txt": "a\n" });
  const { root } = project;
  const tree = new NewTree([
    link(root, "up", "src/deep/.."),
    link(root, "g", ".github"),
    file(root, ".github/ci.yml"),
    link(root, "round", "round"),
  ], [root]);
  assert.equal(tree.resolve(`${root}/up/a.txt`)?.path, `${root}/src/a.txt`);
  assert.equal(
    tree.resolve(`${root}/up/../../OUTSIDE`)?.path,
    `${root.slice(0, root.lastIndexOf("/"))}/OUTSIDE`,
  );
  assert.equal(tree.resolve(`${root}/round/x`), undefined);
  assert.deepEqual(tree.names(`${root}/.github/ci.yml`), [`${root}/.github/ci.yml`, `${root}/g/ci.yml`]);
  assert.deepEqual(tree.filesBelow(`${root}/.github`), ["ci.yml"]);
});

Deno.test("thousands of links and folders cost linear time", async () => {
  await using project = await scratch({ "a.txt": "a\n" });
  const { root } = project;
  const shapes: Readonly<Record<string, (at: number) => Effect>> = {
    "links to one file": (at) => link(root, `l${at}`, "a.txt"),
    "links to files of their own": (at) => link(root, `bin/l${at}`, `../pkg${at}/main`),
    "links to links": (at) => link(root, `l${at}`, at % 30 === 0 ? "a.txt" : `l${at - 1}`),
    "links that give folders names": (at) => link(root, `n${at}`, `n${at}.d`),
    "files in folders of their own": (at) => file(root, `d${at}/e/f`),
  };
  await assertEachLinear(Object.keys(shapes), (shape, size) => {
    const effects = Array.from({ length: size }, (_, at) => shapes[shape]?.(at) ?? file(root, "a"));
    return () => {
      const tree = new NewTree(effects, [root]);
      for (const { path } of effects) {
        tree.resolve(path);
        tree.names(path);
      }
    };
  }, 100);
});
