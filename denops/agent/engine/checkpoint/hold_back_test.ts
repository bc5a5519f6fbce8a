/** Single files of what a command has changed are put back, and put in place again. */
import assert from "node:assert/strict";
import { checkpointedFolder, type FolderOptions } from "../../../../tests/support/checkpoints.ts";

const FILES = {
  "a.txt": "alpha\n",
  "traps/text": "one\n",
  "traps/binary": new Uint8Array([0, 1, 2]),
  "traps/gone": "gone\n",
  "ignored/x": "x\n",
  "build/y": "y\n",
  ".gitignore": "ignored/\nbuild/\n",
  ...Object.fromEntries([1, 2, 3, 4, 5].map((number) => [`more/${number}`, "more\n"])),
};
const LINE = `echo two > traps/text && printf '\\000' >> traps/binary && rm traps/gone && echo b > a.txt
  mkdir -p new/traps && echo new > new/traps/file && chmod 755 new/traps/file && ln -s ../a.txt traps/link
  mv traps/text traps/moved && mkdir plain && echo z > ignored/x && echo z > build/y && chmod 600 traps/binary`;
const TRAP = /(^|\/)(traps|ignored)(\/|$)/;

for (
  const [what, options] of [
    ["a project", {}],
    ["one that is too large to be undone", { limits: { files: 10, bytes: 1_000_000 } }],
  ] as readonly (readonly [string, FolderOptions])[]
) {
  Deno.test(`put back, put in place, undone: ${what}`, async () => {
    await using folder = await checkpointedFolder({
      files: FILES,
      ...options,
      isWatched: (path) => TRAP.test(path),
    });
    const { holdBack } = folder.checkpoints;
    const short = (path: string) => path.slice(folder.project.root.length + 1);
    const isTrap = (path: string) => TRAP.test(short(path));
    const traps = async () => Object.entries(await folder.tree()).filter(([path]) => TRAP.test(path));
    const before = await folder.tree();
    const trapsBefore = await traps();
    folder.nextTurn();
    await folder.command(async () => {
      const { success } = await new Deno.Command("sh", { args: ["-euc", LINE], cwd: folder.project.root })
        .output();
      assert.ok(success);
    });
    const trapsAfter = await traps();
    const taken = await holdBack.take(isTrap);
    assert.deepEqual(taken.left, []);
    assert.deepEqual(await traps(), trapsBefore);
    assert.equal((await folder.tree()).plain, "folder 755");
    assert.equal(await folder.project.read("a.txt"), "b\n");
    assert.deepEqual(
      Object.fromEntries(taken.heldBack.map(({ path, what, texts }) => [short(path), [what, texts]])),
      {
        "ignored/x": ["changed", { before: "x\n", after: "z\n" }],
        "new/traps/file": ["created", { after: "new\n" }],
        "traps/binary": ["changed", undefined],
        "traps/gone": ["deleted", { before: "gone\n", after: "" }],
        "traps/link": ["created (a link to ../a.txt)", undefined],
        "traps/moved": ["created", { after: "two\n" }],
        "traps/text": ["deleted", { before: "one\n", after: "" }],
      },
    );
    // Each is looked at once.
    assert.deepEqual((await holdBack.take(isTrap)).heldBack, []);
    for (const file of taken.heldBack) assert.equal((await holdBack.place(file)).failure, undefined);
    assert.deepEqual(await traps(), trapsAfter);
    assert.deepEqual((await holdBack.take(isTrap)).heldBack, []);
    await folder.undo();
    if (options.limits === undefined) {
      assert.deepEqual(await folder.tree(), { ...before, "build/y": (await folder.tree())["build/y"] });
    } else assert.deepEqual(await traps(), trapsBefore);
  });
}

Deno.test("what changes again while it is put back is left, and told", async () => {
  await using folder = await checkpointedFolder({ files: { "trap": "one\n" } });
  folder.nextTurn();
  await folder.command(() => folder.project.write("trap", "two\n"));
  await folder.project.write("trap", "three\n");
  const { heldBack, left } = await folder.checkpoints.holdBack.take(() => true);
  assert.deepEqual([heldBack, left.map(({ why }) => why)], [[], ["it changed meanwhile"]]);
  assert.equal(await folder.project.read("trap"), "three\n");
});

Deno.test("what could not be put back while a command went on writing becomes what it was when that has ended", async () => {
  await using folder = await checkpointedFolder({ files: { "trap": "one\n" } });
  folder.nextTurn();
  const { project, checkpoints } = folder;
  await checkpoints.before({ id: "background", paths: [], command: "background" });
  await project.write("trap", "two\n");
  await folder.command(() => Promise.resolve());
  await project.write("trap", "three\n");
  const { left } = await checkpoints.holdBack.take(() => true);
  assert.deepEqual(left.map(({ why }) => why), ["it changed meanwhile"]);
  await checkpoints.late();
  const { heldBack } = await checkpoints.holdBack.take(() => true);
  assert.deepEqual(heldBack.map(({ texts }) => texts), [{ before: "one\n", after: "three\n" }]);
  assert.equal(await project.read("trap"), "one\n");

  // In a later turn it is the user's.
  await folder.command(() => project.write("trap", "two\n"));
  await project.write("trap", "three\n");
  assert.equal((await checkpoints.holdBack.take(() => true)).left.length, 1);
  folder.nextTurn();
  await folder.command(() => project.write("trap", "four\n"));
  const later = await checkpoints.holdBack.take(() => true);
  assert.deepEqual(later.heldBack.map(({ texts }) => texts), [{ before: "three\n", after: "four\n" }]);
});

Deno.test("what a crash has cut off is put back by the next process", async () => {
  await using folder = await checkpointedFolder({ files: { "trap": "one\n" } });
  folder.nextTurn();
  await folder.checkpoints.before({ id: "cut", paths: [], command: "foreground" });
  await folder.project.write("trap", "two\n");
  const again = folder.again();
  assert.equal(await again.wasCutOff(), true);
  const { heldBack } = await again.holdBack.take(() => true);
  assert.deepEqual(heldBack.map(({ toolCall, texts }) => [toolCall, texts]), [["cut", {
    before: "one\n",
    after: "two\n",
  }]]);
  assert.equal(await folder.project.read("trap"), "one\n");
  assert.equal(await folder.again().wasCutOff(), false);
});

Deno.test("a file that two commands have changed in turn becomes what it was before the first, and is asked about once", async () => {
  await using folder = await checkpointedFolder({ files: { "trap": "one\n", "other": "one\n" } });
  folder.nextTurn();
  const { project, checkpoints: { holdBack } } = folder;
  await folder.checkpoints.before({ id: "background", paths: [], command: "background" });
  await project.write("trap", "half\n");
  await folder.command(async () => {
    await project.write("trap", "whole\n");
    await project.write("other", "two\n");
  });
  const name = (path: string) => path.slice(project.root.length + 1);
  const { heldBack, left } = await holdBack.take((path) => name(path) === "trap");
  assert.deepEqual(left, []);
  assert.deepEqual(heldBack.map(({ path, toolCall, texts }) => [name(path), toolCall, texts]), [
    ["trap", "background", { before: "one\n", after: "whole\n" }],
  ]);
  assert.deepEqual([await project.read("trap"), await project.read("other")], ["one\n", "two\n"]);
  for (const file of heldBack) assert.equal((await holdBack.place(file)).failure, undefined);
  assert.equal(await project.read("trap"), "whole\n");
});

Deno.test("what a command may change stays when another changes the file again", async () => {
  await using folder = await checkpointedFolder({ files: { "trap": "one\n" } });
  folder.nextTurn();
  const { project, checkpoints: { holdBack } } = folder;
  await folder.checkpoints.before({ id: "approved", paths: [], command: "background" });
  await project.write("trap", "approved\n");
  await folder.command(() => project.write("trap", "evil\n"));
  const { left } = await holdBack.take((_path, toolCall) => toolCall !== "approved");
  assert.deepEqual([await project.read("trap"), left], ["approved\n", []]);
});
