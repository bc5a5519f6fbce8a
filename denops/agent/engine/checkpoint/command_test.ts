/** What commands change is found by looking, and taken back. */
import assert from "node:assert/strict";
import {
  type CheckpointedFolder,
  checkpointedFolder,
  type FolderOptions,
} from "../../../../tests/support/checkpoints.ts";
import { pause } from "../../../../tests/support/project.ts";

async function sh(folder: CheckpointedFolder, line: string): Promise<void> {
  const { success } = await new Deno.Command("sh", { args: ["-c", line], cwd: folder.project.root }).output();
  assert.ok(success, line);
}

const FILES = {
  "a.txt": "alpha\n",
  "sub/b.txt": "beta\n",
  ".hidden": "h\n",
  "c.bin": new Uint8Array([0, 1, 2]),
};

const COMMANDS: readonly (readonly [line: string, changes: readonly string[]])[] = [
  ["sed -i s/alpha/omega/ a.txt", ["modified a.txt"]],
  ["rm -r sub .hidden", ["deleted .hidden", "deleted sub/b.txt"]],
  ["mkdir -p x/y && echo new > x/y/z.txt", ["created x/y/z.txt"]],
  ["mv a.txt sub/moved.txt", ["renamed a.txt → sub/moved.txt"]],
  ["mv sub other", ["renamed sub/b.txt → other/b.txt"]],
  ["chmod 755 a.txt", ["modified a.txt"]],
  ["ln -s a.txt link && printf '\\000' >> c.bin", ["created link", "modified c.bin"]],
  ["mkdir empty", []],
  ["true", []],
  // Within the same moment, and as long as before.
  ["echo ALPHA > a.txt && touch -d @1 a.txt", ["modified a.txt"]],
];

for (const [line, changes] of COMMANDS) {
  Deno.test(`found and taken back: ${line}`, async () => {
    await using folder = await checkpointedFolder({ files: FILES });
    const before = await folder.tree();
    folder.nextTurn();
    const short = (path: string | undefined) => path?.slice(folder.project.root.length + 1);
    const found = await folder.command(() => sh(folder, line));
    const shown = found.map(({ kind, path, from }) =>
      `${kind} ${from === undefined ? "" : `${short(from)} → `}${short(path)}`
    );
    assert.deepEqual(shown.sort(), [...changes].sort());
    const after = await folder.tree();
    if (folder.store.checkpoints.list("s1").length === 0) return assert.deepEqual(after, before);
    await folder.undo();
    assert.deepEqual(await folder.tree(), before);
    await folder.redo();
    assert.deepEqual(await folder.tree(), after);
  });
}

async function changed(options: FolderOptions, line: string): Promise<readonly string[]> {
  await using folder = await checkpointedFolder(options);
  folder.nextTurn();
  const found = await folder.command(() => sh(folder, line));
  return found.map(({ kind, path }) => `${kind} ${path.slice(folder.project.root.length + 1)}`).sort();
}

Deno.test("ignored files are not looked at, by the rules of every folder", async () => {
  const files = {
    ".gitignore": "*.log\n/build/\n!keep.log\n",
    "sub/.gitignore": "!b.log\n*.tmp\n",
    "node_modules/x/index.js": "x",
  };
  const line =
    "mkdir build && touch a.log keep.log build/x sub/b.log sub/c.tmp c.tmp node_modules/y .git-not";
  assert.deepEqual(await changed({ files }, line), [
    "created .git-not",
    "created c.tmp",
    "created keep.log",
    "created sub/b.log",
  ]);
});

Deno.test("a command that changes the rules neither creates nor deletes what was there", async () => {
  const files = { ".gitignore": "secret\n", "secret": "s", "seen": "s" };
  assert.deepEqual(await changed({ files }, "echo seen > .gitignore"), ["modified .gitignore"]);
});

Deno.test("too large a project: one notice, and commands run", async () => {
  await using folder = await checkpointedFolder({ files: FILES, limits: { files: 3, bytes: 1_000_000 } });
  folder.nextTurn();
  await folder.command(() => sh(folder, "rm a.txt"));
  await folder.command(() => sh(folder, "rm c.bin"));
  assert.deepEqual(folder.notices, [
    "The project has more than 3 files or 1 MB: what commands change in it cannot be undone.",
  ]);
  await assert.rejects(folder.undo(), /nothing to undo/);
});

Deno.test("a file over 10 MB that a command changed is named, and stays; one that it created is removed", async () => {
  await using folder = await checkpointedFolder({ files: { "big.bin": new Uint8Array(10_000_001) } });
  folder.nextTurn();
  await folder.command(() => sh(folder, "echo more >> big.bin && cp big.bin copy.bin"));
  assert.deepEqual(await folder.undo(), { "big.bin": "skipped", "copy.bin": "restored" });
  assert.deepEqual(Object.keys(await folder.tree()), ["big.bin"]);
});

Deno.test("in the background: found at the end of the turn, without what tools and other commands did", async () => {
  await using folder = await checkpointedFolder({ files: FILES });
  const before = await folder.tree();
  folder.nextTurn();
  assert.deepEqual(await folder.command(() => sh(folder, "echo 1 > server.log"), "background"), []);
  await folder.tool(["a.txt"], () => folder.project.write("a.txt", "tool\n"));
  const found = await folder.command(() => sh(folder, "echo 2 >> server.log"));
  assert.deepEqual(found.map(({ kind, before, after }) => [kind, before, after]), [[
    "modified",
    "1\n",
    "1\n2\n",
  ]]);
  await sh(folder, "echo 3 >> server.log");
  const late = await folder.checkpoints.late();
  assert.deepEqual(late.flatMap(({ changes }) => changes).map(({ kind, after }) => [kind, after]), [
    ["created", "1\n"],
    ["modified", "1\n2\n3\n"],
  ]);
  await folder.undo();
  assert.deepEqual(await folder.tree(), before);
});

Deno.test("the store is locked for a moment, or full: what a command did is told, and kept if that is possible", async () => {
  await using folder = await checkpointedFolder({ files: FILES });
  const before = await folder.tree();
  folder.nextTurn();
  const { checkpoints } = folder.store;
  const failing = (problem: string, times: number) => {
    const { setScanned } = Object.getPrototypeOf(checkpoints);
    checkpoints.setScanned = (...args) => {
      if (times-- > 0) throw new Error(problem);
      setScanned.apply(checkpoints, args);
    };
  };
  const told = async (line: string, problem: string, times: number) => {
    const found = await folder.command(async () => {
      await sh(folder, line);
      failing(problem, times);
    });
    return found.map(({ path, kind }) => `${kind} ${path.slice(folder.project.root.length + 1)}`).sort();
  };
  assert.deepEqual(await told("echo new > a.txt", "database is locked", 1), ["modified a.txt"]);
  assert.deepEqual(folder.notices, []);
  await folder.undo();
  assert.deepEqual(await folder.tree(), before);
  folder.nextTurn();
  const full = "database or disk is full";
  assert.deepEqual(await told("echo new > a.txt && rm c.bin", full, 9), ["deleted c.bin", "modified a.txt"]);
  assert.deepEqual(folder.notices, [`What the command has changed cannot be undone: ${full}.`]);
});

Deno.test("a second look reads only what may have changed", async () => {
  await using folder = await checkpointedFolder({ files: FILES });
  folder.nextTurn();
  // Git's rule: what is younger than two seconds is read again.
  const old = new Date(Date.now() - 60_000);
  for (const name of Object.keys(FILES)) await Deno.utime(folder.project.path(name), old, old);
  await pause(2_100);
  await folder.command(() => Promise.resolve());
  const put = folder.store.blobs.put;
  const read: string[] = [];
  folder.store.blobs.put = function (bytes) {
    read.push(new TextDecoder().decode(bytes));
    return put.call(this, bytes);
  };
  await folder.command(() => sh(folder, "echo new > a.txt"));
  assert.deepEqual(read, ["new\n"]);
});
