/** What a command would change is made to happen: exactly that, over nothing of the user's, and so that it goes back. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { checkpointedFolder } from "../../../../../tests/support/checkpoints.ts";
import { copyOf, effectsOf } from "../../../../../tests/support/effects.ts";
import { place, script, sequences, START } from "../../../../../tests/support/shell_sequences.ts";
import { type Tree, treeOf } from "../../../../../tests/support/trees.ts";
import { runs } from "../../../../../tests/support/runs.ts";
import type { Editor } from "../../ports/editor.ts";

const { signal } = new AbortController();

/** Without the folder itself, whose mode is not the command's to change. */
function below(root: string): Tree {
  return new Map([...treeOf(root)].filter(([path]) => path !== ""));
}

/** What is another in the second one, or only in one of them. */
function differences(a: Tree, b: Tree): readonly string[] {
  return [...new Set([...a.keys(), ...b.keys()])].filter((path) => a.get(path) !== b.get(path));
}

Deno.test("random commands: what is kept is what they would have left; undo takes all of it back, redo does it again", async () => {
  await fc.assert(
    fc.asyncProperty(sequences, fc.constantFrom(7, 2_000, 100_000), async (steps, page) => {
      await using folder = await checkpointedFolder({ files: START });
      await using copy = await copyOf(folder.project.root);
      const before = below(copy.root);
      await copy.run(script(steps));
      const target = below(copy.root);
      const effects = await effectsOf(folder.project.root, copy.root, { page });
      folder.nextTurn();
      const kept = await folder.checkpoints.keep(effects, "call", signal);
      assert.deepEqual(kept.left, []);
      assert.deepEqual(below(folder.project.root), target);
      if (differences(before, target).length === 0) return;
      await folder.undo();
      assert.deepEqual(below(folder.project.root), before);
      await folder.redo();
      assert.deepEqual(below(folder.project.root), target);
    }),
    runs(15),
  );
});

Deno.test("random commands while the user works: what the user has changed stays, and undo leaves it as it was", async () => {
  const users = fc.array(
    fc.oneof(
      place.map((at) => `echo mine > ${at}`),
      place.map((at) => `rm -r ${at}`),
      place.map((at) => `mkdir -p ${at}`),
      fc.tuple(place, place).map(([from, to]) => `mv -n ${from} ${to}`),
      place.map((at) => `ln -s a ${at}`),
    ),
    { minLength: 1, maxLength: 3 },
  );
  await fc.assert(
    fc.asyncProperty(sequences, users, async (steps, acts) => {
      await using folder = await checkpointedFolder({ files: START });
      await using copy = await copyOf(folder.project.root);
      const before = below(copy.root);
      await copy.run(script(steps));
      const effects = await effectsOf(folder.project.root, copy.root);
      await copy.run(script(acts), folder.project.root);
      const users = below(folder.project.root);
      folder.nextTurn();
      const kept = await folder.checkpoints.keep(effects, "call", signal);
      const now = below(folder.project.root);
      const isFolder = (path: string) =>
        [before, users, now].some((tree) => tree.get(path)?.startsWith("folder"));
      for (const path of differences(before, users).filter((path) => !isFolder(path))) {
        assert.equal(now.get(path), users.get(path), `${path} is the user's: ${JSON.stringify(kept.left)}`);
      }
      if (differences(users, now).length === 0) return;
      await folder.undo();
      assert.deepEqual(below(folder.project.root), users);
    }),
    runs(15),
  );
});

Deno.test("each of these conflicts, whatever the command did there, and says so; the rest is kept", async () => {
  await using folder = await checkpointedFolder({
    files: {
      "a": "1\n",
      "gone": "1\n",
      "whole/x": "1",
      "whole/y": "1",
      "moved": "moves\n",
      "same": "1\n",
      "b": "1\n",
    },
  });
  const { project } = folder;
  await using copy = await copyOf(project.root);
  await copy.run(
    "echo 2 > a; echo 2 > gone; rm -r whole; mv moved here; echo 2 > same; echo 2 > b; echo 2 > new; mkdir dir; echo 2 > dir/n",
  );
  const effects = await effectsOf(project.root, copy.root);
  await copy.run(
    "echo mine >> a; rm gone; echo mine > whole/x; echo mine > here; echo 2 > same; echo mine > new; mkdir dir",
    project.root,
  );
  folder.nextTurn();
  const { files, left } = await folder.checkpoints.keep(effects, "call", signal);
  const name = ({ path }: { path: string }) => path.slice(project.root.length + 1);
  assert.deepEqual(Object.fromEntries(left.map((one) => [name(one), one.why])), {
    "a": "changed meanwhile",
    "gone": "changed meanwhile",
    "here": "changed meanwhile",
    "moved": "it cannot go where it was to go",
    "new": "changed meanwhile",
    "whole": "changed meanwhile",
  });
  assert.deepEqual(files.map(name).sort(), ["b", "dir/n"]);
  assert.equal(await project.read("moved"), "moves\n");
  assert.equal(await project.read("whole/y"), "1");
});

Deno.test("ignored folders, large files, empty ones, links, hard links and closed folders go back as they were", async () => {
  const large = new Uint8Array(11_000_000);
  await using folder = await checkpointedFolder({
    files: {
      ".gitignore": "dist\n",
      "dist/old.js": "old",
      "dist/gone.js": "gone",
      large,
      "one": "1\n",
      "left": "l",
    },
  });
  const { project } = folder;
  await Deno.link(project.path("one"), project.path("two"));
  // A link made in the second in which the command begins counts as a change of content that is older.
  await project.write("one", "1\n");
  await using copy = await copyOf(project.root);
  const before = below(copy.root);
  await copy.run(
    "echo new > dist/old.js; rm dist/gone.js; echo n > dist/new.js; truncate -s 11000001 large; rm left;" +
      "echo 2 > one; rm two; echo 2 > two; touch empty; ln -s nowhere link; mkdir -p c/d; echo x > c/d/e; chmod 500 c/d c; chmod 600 .gitignore",
  );
  const target = below(copy.root);
  const effects = await effectsOf(project.root, copy.root);
  folder.nextTurn();
  assert.deepEqual((await folder.checkpoints.keep(effects, "call", signal)).left, []);
  assert.deepEqual(below(project.root), target);
  await folder.undo();
  assert.deepEqual(below(project.root), before);
  await folder.redo();
  assert.deepEqual(below(project.root), target);
});

Deno.test("what arrives is not what was agreed to, or is outside: it is left out and named, the rest is kept", async () => {
  await using folder = await checkpointedFolder({ files: { "a": "1\n", "b": "1\n", "c": "1\n" } });
  const { project } = folder;
  await using copy = await copyOf(project.root);
  await copy.run("echo 2 > a; echo 3 > b; echo 4 > d");
  const arrive = (path: string, bytes: Uint8Array) =>
    /[bd]$/.test(path) ? new TextEncoder().encode("evil\n") : bytes;
  const effects = await effectsOf(project.root, copy.root, { arrive });
  const outside = { path: `${project.root}/../outside`, after: { type: "folder", mode: 0o755 } } as const;
  const agreed = async (from: number) => {
    const page = await effects.agreed(from, signal);
    return { ...page, changes: [...page.changes, outside, { ...outside, path: project.root }] };
  };
  folder.nextTurn();
  const { files, left } = await folder.checkpoints.keep({ ...effects, agreed }, "call", signal);
  assert.deepEqual(files.map(({ path }) => path), [project.path("a")]);
  assert.deepEqual(left.map(({ why }) => why), [
    "its content did not arrive",
    "its content did not arrive",
    "it is outside of the project",
    "the project's own folder keeps its mode",
  ]);
  assert.deepEqual(Object.keys(await folder.tree()).sort(), ["a", "b", "c"]);
  assert.equal(await project.read("b"), "1\n");
});

Deno.test("a buffer with unsaved text takes in what the command changed elsewhere in it, and keeps the same lines", async () => {
  const unsaved = new Map<string, string>();
  const editor: Editor = {
    unsavedText: (path) => Promise.resolve(unsaved.get(path)),
    writeUnsaved: (path, before, text) => {
      unsaved.set(path, text);
      return Promise.resolve({ status: "merged", before, text, saved: false });
    },
  };
  const text = "one\ntwo\nthree\nfour\nfive\n";
  await using folder = await checkpointedFolder({ files: { "a": text, "b": text, "moved": text }, editor });
  const { project } = folder;
  unsaved.set(project.path("a"), text.replace("five", "mine"));
  unsaved.set(project.path("b"), text.replace("one", "mine"));
  await using copy = await copyOf(project.root);
  await copy.run("sed -i s/one/ONE/ a b; mv moved here");
  const effects = await effectsOf(project.root, copy.root);
  folder.nextTurn();
  const { files, left, changes } = await folder.checkpoints.keep(effects, "call", signal);
  assert.deepEqual(files.map(({ path }) => path), [project.path("a"), project.path("here")]);
  assert.deepEqual(left, [{ path: project.path("b"), why: "other unsaved changes of the same lines" }]);
  assert.equal(unsaved.get(project.path("a")), text.replace("one", "ONE").replace("five", "mine"));
  assert.deepEqual([await project.read("a"), await project.read("b")], [text, text]);
  assert.deepEqual(changes.map(({ kind, path, from }) => ({ kind, path, from })), [
    { kind: "renamed", path: project.path("here"), from: project.path("moved") },
  ]);
  await folder.undo();
  assert.equal(unsaved.get(project.path("a")), text.replace("five", "mine"));
});

Deno.test("a stop while the contents come keeps nothing, and leaves nothing", async () => {
  await using folder = await checkpointedFolder({ files: { "a": "1\n" } });
  await using copy = await copyOf(folder.project.root);
  await copy.run("echo 2 > a; echo 2 > b");
  const effects = await effectsOf(folder.project.root, copy.root);
  const controller = new AbortController();
  const contents: typeof effects.contents = (from) => {
    controller.abort();
    return effects.contents(from, signal);
  };
  folder.nextTurn();
  await assert.rejects(folder.checkpoints.keep({ ...effects, contents }, "call", controller.signal));
  assert.deepEqual(await folder.tree(), { "a": "file 644 310a" });
  assert.deepEqual(folder.store.checkpoints.list("s1"), []);
});

Deno.test("what could not be recorded at its end is not said to be as it was, and an undo of the next engine knows it", async () => {
  await using folder = await checkpointedFolder({ files: { "a": "1\n" } });
  const { checkpoints } = folder.store;
  await using copy = await copyOf(folder.project.root);
  await copy.run("echo 2 > a");
  const effects = await effectsOf(folder.project.root, copy.root);
  folder.nextTurn();
  const { finish } = checkpoints;
  checkpoints.finish = () => {
    throw new Error("the disk is full");
  };
  await assert.rejects(
    folder.checkpoints.keep(effects, "call", signal),
    /^ToolError: Some of .* may have been kept: the disk is full\. Look/,
  );
  checkpoints.finish = finish;
  await folder.again().takeBack({ kind: "undo", turn: undefined }, signal);
  assert.equal(await folder.project.read("a"), "1\n");
});
