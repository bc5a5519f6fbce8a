/** One random sequence, rehearsed and run directly. */
import assert from "node:assert/strict";
import { rehearse, runDirectly } from "./rehearsal.ts";
import { script, START } from "./shell_sequences.ts";
import { git, scratch } from "./project.ts";
import { applyChanges, copyTree, type Tree, treeOf } from "./trees.ts";

/** What git notes of each file's times and inode. */
const isIndex = (path: string) => path === ".git/index";

/** @throws {AssertionError} if the project is another afterwards, or a copy is not what the command would have made */
export async function playSequence(steps: readonly string[], store: "memory" | "disk"): Promise<void> {
  await using project = await scratch(START, { git: true });
  // Else it depends on the second and on the inode what git takes for changed.
  await git(project.root, "config", "core.checkStat", "minimal");
  await git(project.root, "config", "core.trustctime", "false");
  await using state = await scratch();
  await using copies = await scratch();
  await using _open = { [Symbol.asyncDispose]: () => openAll(copies.root) };
  const [kept, direct] = [copies.path("kept"), copies.path("direct")];
  await copyTree(project.root, kept);
  await copyTree(project.root, direct);
  const line = script(steps);
  const before = treeOf(project.root, { exact: true });
  const { output } = await rehearse(
    { roots: [project.root], state: state.root, store },
    line,
    ([changes], [upper]) => {
      assert.ok(changes !== undefined && upper !== undefined);
      applyChanges(changes, upper, kept);
    },
  );
  assert.deepEqual(treeOf(project.root, { exact: true }), before, "the project is as it was");
  const ran = await runDirectly({ roots: [direct], state: state.root }, line);
  const expected = treeOf(direct, { blind: isIndex });
  const special = [...expected].flatMap(([path, text]) => text.startsWith("special") ? [path] : []);
  /** What is neither file, folder nor link is not kept: what stood there stays. */
  const isKept = (path: string) => !special.some((one) => path === one || path.startsWith(`${one}/`));
  const plain = (tree: Tree) => [...tree].filter(([path]) => isKept(path));
  assert.deepEqual(
    plain(treeOf(kept, { blind: isIndex })),
    plain(expected),
    `${line}\n-- rehearsed:\n${output}\n-- run:\n${ran}`,
  );
}

/** What a sequence has closed could not be removed by anybody but root. */
async function openAll(root: string): Promise<void> {
  await new Deno.Command("chmod", { args: ["-R", "u+rwX", "--", root] }).output();
}
