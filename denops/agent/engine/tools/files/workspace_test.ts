import assert from "node:assert/strict";
import { join } from "node:path";
import { type Scratch, scratch } from "../../../../../tests/support/project.ts";
import { noEditor } from "../../acp/editor.ts";
import type { Editor } from "../../ports/editor.ts";
import type { WriteJournal } from "../../ports/store.ts";
import { writeAtomic } from "../../files/write_atomic.ts";
import type { TextFile } from "./text_file.ts";
import { outcomeOf, Workspace } from "./workspace.ts";
import { readImage } from "./disk.ts";
import { readLines } from "./line_window.ts";

/** The temporary files that are being written. */
class Noted implements WriteJournal {
  readonly open = new Set<string>();
  begin(temporary: string): void {
    this.open.add(temporary);
  }
  end(temporary: string): void {
    this.open.delete(temporary);
  }
}

const never = new AbortController().signal;

function workspaceOf(
  project: Scratch,
  editor: Editor = noEditor,
  journal: WriteJournal = new Noted(),
  otherRoots: readonly string[] = [],
): Workspace {
  return new Workspace({
    roots: [project.root, ...otherRoots],
    editor,
    journal,
    mayRead: () => ({ verdict: "allow", rule: "test" }),
  });
}

async function read(workspace: Workspace, path: string): Promise<TextFile | undefined> {
  return await workspace.readText(await workspace.resolve(path), never);
}

/** Reads, lets `meanwhile` happen, and writes. */
async function edit(
  project: Scratch,
  path: string,
  text: string,
  meanwhile: () => unknown = () => {},
  editor: Editor = noEditor,
) {
  const workspace = workspaceOf(project, editor);
  const before = await read(workspace, path);
  const target = await workspace.resolve(path);
  await meanwhile();
  return await workspace.writeText(target, before, text, never);
}

/** Every path below the folder, temporary files too. */
async function listing(folder: string, prefix = ""): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    found.push(prefix + name);
    if (isDirectory) found.push(...await listing(join(folder, name), `${prefix}${name}/`));
  }
  return found.sort();
}

const latin1 = Uint8Array.from([99, 97, 102, 233, 10]);
const utf16 = Uint8Array.from([0xff, 0xfe, 97, 0, 10, 0]);

const kept:
  readonly (readonly [what: string, file: string | Uint8Array, text: string, bytes: readonly number[]])[] = [
    ["Latin-1", latin1, "thé\n", [116, 104, 233, 10]],
    ["UTF-16", utf16, "b\n", [0xff, 0xfe, 98, 0, 10, 0]],
    ["the byte order mark", "\ufeffa", "b", [0xef, 0xbb, 0xbf, 98]],
    ["plain UTF-8", "a", "ü", [0xc3, 0xbc]],
  ];

for (const [what, file, text, bytes] of kept) {
  Deno.test(`a write keeps the file's format: ${what}`, async () => {
    await using project = await scratch({ "a.txt": file });
    const change = await edit(project, "a.txt", text);
    assert.deepEqual([...await Deno.readFile(project.path("a.txt"))], bytes);
    assert.deepEqual([change.kind, change.after, change.onDisk], ["modified", text, true]);
    assert.deepEqual(await listing(project.root), ["a.txt"]);
  });
}

Deno.test("a new file is created with its folders, as plain UTF-8", async () => {
  await using project = await scratch();
  const change = await edit(project, "src/deep/a.ts", "é\n");
  assert.deepEqual(change, {
    path: project.path("src/deep/a.ts"),
    kind: "created",
    after: "é\n",
    onDisk: true,
  });
  assert.equal(await project.read("src/deep/a.ts"), "é\n");
  assert.deepEqual(await listing(project.root), ["src", "src/deep", "src/deep/a.ts"]);
});

Deno.test({
  name: "a write keeps the mode",
  ignore: Deno.build.os === "windows",
  async fn() {
    for (const mode of [0o755, 0o600, 0o444]) {
      await using project = await scratch({ "run.sh": "a\n" });
      await Deno.chmod(project.path("run.sh"), mode);
      await edit(project, "run.sh", "b\n");
      const { mode: now } = await Deno.stat(project.path("run.sh"));
      assert.equal((now ?? 0) & 0o7777, mode);
    }
  },
});

const meanwhiles:
  readonly (readonly [what: string, path: string, change: (project: Scratch) => unknown, error: RegExp])[] = [
    [
      "changed",
      "a.txt",
      (project) => project.write("a.txt", "theirs\n"),
      /^The user has changed the same lines of a\.txt; nothing was written\.\n<<<<<<< now, line 1\ntheirs\n/,
    ],
    ["deleted", "a.txt", (project) => Deno.remove(project.path("a.txt")), /^a\.txt changed meanwhile/],
    ["created", "new.txt", (project) => project.write("new.txt", "theirs\n"), /^new\.txt changed meanwhile/],
    ["created, empty", "new.txt", (project) => project.write("new.txt", ""), /^new\.txt changed meanwhile/],
    [
      "turned into a folder",
      "new.txt",
      (project) => Deno.mkdir(project.path("new.txt")),
      /^new\.txt is a folder, not a file/,
    ],
    ["turned into a binary", "a.txt", (project) => project.write("a.txt", "a\0"), /^a\.txt is a binary file/],
  ];

for (const [what, path, change, error] of meanwhiles) {
  Deno.test(`a file that was ${what} meanwhile is not written`, async () => {
    await using project = await scratch({ "a.txt": "a\n" });
    let before: readonly string[] = [];
    const meanwhile = async () => {
      await change(project);
      before = await listing(project.root);
    };
    await assert.rejects(edit(project, path, "ours\n", meanwhile), { name: "ToolError", message: error });
    assert.deepEqual(await listing(project.root), before);
    const left = await Deno.readTextFile(project.path(path)).catch(() => "");
    assert.ok(!left.includes("ours"));
  });
}

Deno.test({
  name: "a link within the project stays a link, and its target is written",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using project = await scratch({ "real/a.txt": "a\n" });
    await Deno.symlink("real/a.txt", project.path("link.txt"));
    await Deno.symlink("real", project.path("folder"));
    await edit(project, "link.txt", "b\n");
    await edit(project, "folder/new.txt", "n\n");
    assert.ok((await Deno.lstat(project.path("link.txt"))).isSymlink);
    assert.ok((await Deno.lstat(project.path("folder"))).isSymlink);
    assert.equal(await project.read("real/a.txt"), "b\n");
    assert.deepEqual(await listing(project.path("real")), ["a.txt", "new.txt"]);
  },
});

Deno.test({
  name: "a folder that was replaced by a link meanwhile leads nowhere else",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using outside = await scratch({ "a.txt": "theirs\n" });
    await using project = await scratch({ "sub/a.txt": "theirs\n", "other/a.txt": "theirs\n" });
    for (const target of [outside.root, project.path("other")]) {
      const meanwhile = async () => {
        await Deno.rename(project.path("sub"), project.path("old"));
        await Deno.symlink(target, project.path("sub"));
      };
      await assert.rejects(edit(project, "sub/a.txt", "ours\n", meanwhile), { name: "ToolError" });
      assert.equal(await Deno.readTextFile(join(target, "a.txt")), "theirs\n");
      await Deno.remove(project.path("sub"));
      await Deno.rename(project.path("old"), project.path("sub"));
    }
  },
});

const TEN = Array.from({ length: 10 }, (_, index) => `${index}\n`).join("");

Deno.test("a file that is saved while it is written: other lines are merged, the same ones refuse", async () => {
  for (
    const [row, expected] of [["8", TEN.replace("2", "two").replace("8", "mine")], ["2", undefined]] as const
  ) {
    await using project = await scratch({ "a.txt": TEN });
    let left = 1;
    const journal = {
      // Between the last look and the rename, as far as the writer can tell.
      begin: () => left-- > 0 && Deno.writeTextFileSync(project.path("a.txt"), TEN.replace(row, "mine")),
      end: () => {},
    };
    const workspace = workspaceOf(project, noEditor, journal);
    const target = await workspace.resolve("a.txt");
    const before = await workspace.readText(target, never);
    const writing = workspace.writeText(target, before, TEN.replace("2", "two"), never);
    if (expected === undefined) await assert.rejects(writing, /changed the same lines/);
    else assert.equal((await writing).before, TEN.replace("8", "mine"), "what stood there just before");
    assert.equal(await project.read("a.txt"), expected ?? TEN.replace("2", "mine"));
    assert.deepEqual(await listing(project.root), ["a.txt"]);
  }
});

Deno.test("a file that its editor is writing is read when it is whole", async () => {
  await using project = await scratch({ "a.txt": "whole\n" });
  const path = project.path("a.txt");
  let saves = 1;
  /** The save after this answer has emptied the file when the answer arrives. */
  const editor: Editor = {
    ...noEditor,
    unsavedText() {
      Deno.writeTextFileSync(path, "whole\n");
      if (saves-- > 0) Deno.truncateSync(path);
      return Promise.resolve(undefined);
    },
  };
  const workspace = workspaceOf(project, editor);
  assert.equal((await read(workspace, "a.txt"))?.text, "whole\n");
  saves = 1;
  assert.equal((await workspace.read(await workspace.resolve("a.txt"), never))?.text, "whole\n");
});

Deno.test("a file that appears while a new one is written stays, and one that changes all the time is left alone", async () => {
  await using project = await scratch({ "b.txt": TEN });
  let count = 0;
  const journal = {
    begin: (temporary: string) =>
      temporary.includes("b.txt")
        ? Deno.writeTextFileSync(project.path("b.txt"), `${TEN}${count++}\n`)
        : Deno.writeTextFileSync(project.path("a.txt"), "theirs\n"),
    end: () => {},
  };
  const workspace = workspaceOf(project, noEditor, journal);
  const created = workspace.writeText(await workspace.resolve("a.txt"), undefined, "ours\n", never);
  await assert.rejects(created, /^ToolError: a\.txt changed meanwhile; nothing was written/);
  assert.equal(await project.read("a.txt"), "theirs\n");
  const target = await workspace.resolve("b.txt");
  const before = await workspace.readText(target, never);
  const writing = workspace.writeText(target, before, TEN.replace("2", "two"), never);
  await assert.rejects(writing, /b\.txt keeps changing; nothing was written\. Try again\./);
  assert.equal(await project.read("b.txt"), `${TEN}${count - 1}\n`);
});

Deno.test("the model's edit is made from what it has read; what changed elsewhere since stays", async () => {
  await using project = await scratch({ "a.txt": TEN });
  const workspace = workspaceOf(project);
  const target = await workspace.resolve("a.txt");
  await workspace.read(target, never);
  const edit = async (from: string, to: string) => {
    const now = await workspace.readText(target, never);
    assert.ok(now);
    const seen = await workspace.seen(now);
    const own = seen.replace(from, to);
    const change = await workspace.writeText(target, now, workspace.merged(now, seen, own), never, own);
    return outcomeOf(change, own);
  };
  await project.write("a.txt", TEN.replace("8", "mine"));
  assert.match(await edit("2", "two"), /^\. What the user has changed meanwhile was kept/);
  assert.match(await edit("4", "four"), /was kept/);
  const expected = TEN.replace("8", "mine").replace("2", "two").replace("4", "four");
  assert.equal(await project.read("a.txt"), expected);
  await assert.rejects(
    edit("8", "eight"),
    /has changed since you read it, on the lines of this edit;.*\n<<<<<<< now/,
  );
  await workspace.read(target, never);
  assert.equal(await edit("mine", "yours"), ".");
});

Deno.test({
  name: "other names and the owner of a file survive a write",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using project = await scratch({ "a.txt": "a\n" });
    await Deno.link(project.path("a.txt"), project.path("b.txt"));
    await edit(project, "a.txt", "longer\n");
    assert.equal(await project.read("b.txt"), "longer\n");
    await edit(project, "b.txt", "s\n");
    assert.equal(await project.read("a.txt"), "s\n");
    await Deno.remove(project.path("b.txt"));
    await using outside = await scratch();
    await Deno.link(project.path("a.txt"), outside.path("b.txt"));
    assert.match(outcomeOf(await edit(project, "a.txt", "u\n"), "u\n"), /other names .* keep the old text/);
    assert.deepEqual([await project.read("a.txt"), await outside.read("b.txt")], ["u\n", "s\n"]);
    if (Deno.uid() !== 0) return;
    await Deno.chown(project.path("a.txt"), 1234, 2345);
    await edit(project, "a.txt", "t\n");
    const { uid, gid } = await Deno.stat(project.path("a.txt"));
    assert.deepEqual([uid, gid, await project.read("a.txt")], [1234, 2345, "t\n"]);
  },
});

Deno.test({
  name:
    "a name in a root within another root is counted once: the file's name outside of both keeps its text",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using project = await scratch({ "inner/a.txt": "a\n" });
    await using outside = await scratch();
    await Deno.link(project.path("inner/a.txt"), outside.path("b.txt"));
    const workspace = workspaceOf(project, noEditor, new Noted(), [project.path("inner")]);
    const before = await read(workspace, "inner/a.txt");
    const target = await workspace.resolve("inner/a.txt");
    const written = await workspace.writeText(target, before, "u\n", never);
    assert.match(outcomeOf(written, "u\n"), /other names .* keep the old text/);
    assert.equal(await outside.read("b.txt"), "a\n");
  },
});

Deno.test("what the file's encoding cannot hold is refused, and the file stays", async () => {
  await using project = await scratch({ "a.txt": latin1 });
  await assert.rejects(edit(project, "a.txt", "😀"), {
    name: "ToolError",
    message: 'Cannot write a.txt: the file is Latin-1 and cannot hold "😀"',
  });
  assert.deepEqual(await Deno.readFile(project.path("a.txt")), latin1);
  assert.deepEqual(await listing(project.root), ["a.txt"]);
});

Deno.test("a cancelled write writes nothing", async () => {
  await using project = await scratch({ "a.txt": "a\n" });
  const workspace = workspaceOf(project);
  const before = await read(workspace, "a.txt");
  const target = await workspace.resolve("a.txt");
  await assert.rejects(workspace.writeText(target, before, "b\n", AbortSignal.abort()));
  assert.equal(await project.read("a.txt"), "a\n");
  assert.deepEqual(await listing(project.root), ["a.txt"]);
});

Deno.test("an atomic write that fails leaves no file behind", async () => {
  await using project = await scratch({ "folder/a.txt": "a\n" });
  const journal = new Noted();
  await assert.rejects(writeAtomic(project.path("folder"), new Uint8Array([1]), undefined, journal));
  await assert.rejects(
    writeAtomic(project.path(`x${"y".repeat(255)}`), new Uint8Array([1]), undefined, journal),
  );
  assert.deepEqual(journal.open, new Set());
  assert.deepEqual(await listing(project.root), ["folder", "folder/a.txt"]);
});

Deno.test("the longest names that a file system takes are written", async () => {
  await using project = await scratch();
  for (const name of ["a".repeat(255), "ü".repeat(127), `a${"語".repeat(84)}`, "😀".repeat(63)]) {
    await edit(project, name, "a\n");
    assert.equal(await project.read(name), "a\n");
  }
});

Deno.test("many at once: each is whole", async () => {
  await using project = await scratch();
  const texts = Array.from({ length: 20 }, (_, at) => `${at}`.repeat(100_000));
  await Promise.all(
    texts.map((text) =>
      writeAtomic(project.path("a.txt"), new TextEncoder().encode(text), 0o644, new Noted())
    ),
  );
  assert.ok(texts.includes(await project.read("a.txt")));
  assert.deepEqual(await listing(project.root), ["a.txt"]);
});

Deno.test("what is no text to edit says so", async () => {
  await using project = await scratch({ "b.bin": Uint8Array.from([0, 1]), "sub/a.txt": "a" });
  await Deno.writeTextFile(project.path("huge.txt"), "a");
  await Deno.truncate(project.path("huge.txt"), 20_000_001);
  const workspace = workspaceOf(project);
  const errors = {
    "b.bin": "b.bin is a binary file.",
    "sub": "sub is a folder, not a file.",
    "huge.txt": "huge.txt is too large to edit (20000001 bytes).",
  };
  for (const [path, message] of Object.entries(errors)) {
    await assert.rejects(read(workspace, path), { name: "ToolError", message });
  }
  assert.equal(await read(workspace, "none.txt"), undefined);
});

/** An editor in which a buffer of every file has unsaved changes. */
function editorWith(text: string, answer: Awaited<ReturnType<Editor["writeUnsaved"]>>): Editor {
  return { unsavedText: () => Promise.resolve(text), writeUnsaved: () => Promise.resolve(answer) };
}

Deno.test("unsaved changes: the text is the buffer's, the write goes into it", async () => {
  await using project = await scratch({ "a.txt": "disk\n" });
  const editor = editorWith("buffer\n", {
    status: "merged",
    before: "typed\n",
    text: "merged\n",
    saved: false,
  });
  assert.equal((await read(workspaceOf(project, editor), "a.txt"))?.text, "buffer\n");
  const change = await edit(project, "a.txt", "ours\n", () => {}, editor);
  assert.deepEqual([change.before, change.after, change.onDisk], ["typed\n", "merged\n", false]);
  assert.equal(await project.read("a.txt"), "disk\n");
});

Deno.test("unsaved changes on the same lines: nothing is written, both are shown", async () => {
  await using project = await scratch({ "a.txt": "disk\n" });
  const editor = editorWith("buffer\n", { status: "conflict", text: "<<<<<<< yours" });
  await assert.rejects(edit(project, "a.txt", "ours\n", () => {}, editor), {
    name: "ToolError",
    message: /^The user has changed the same lines of a\.txt; nothing was written\.\n<<<<<<< yours$/,
  });
  assert.equal(await project.read("a.txt"), "disk\n");
});

Deno.test("a file that is written unread, as a language server does, stays unread", async () => {
  await using project = await scratch({ "a.txt": "one\n" });
  const workspace = workspaceOf(project);
  const target = await workspace.resolve("a.txt");
  const write = async (text: string) => {
    const before = await workspace.readText(target, never);
    await workspace.writeText(target, before, text, never);
    const now = await workspace.readText(target, never);
    assert.ok(now);
    return await workspace.seen(now);
  };
  await assert.rejects(() => write("two\n"), /You have not read a\.txt yet/);
  await workspace.read(target, never);
  assert.equal(await write("three\n"), "three\n");
});

Deno.test("what was judged is what is read: not what a link leads to that took the place of a folder or file", async () => {
  await using project = await scratch({ "docs/a.txt": "docs\n", "secret/a.txt": "SECRET\n", "b.txt": "b\n" });
  const workspace = workspaceOf(project);
  const [inFolder, file] = await Promise.all(["docs/a.txt", "b.txt"].map((path) => workspace.resolve(path)));
  await Deno.rename(project.path("docs"), project.path("old"));
  await Deno.symlink("secret", project.path("docs"));
  await Deno.remove(project.path("b.txt"));
  await Deno.symlink("secret/a.txt", project.path("b.txt"));
  for (const path of [inFolder, file]) {
    assert.ok(path);
    await assert.rejects(workspace.readText(path, never), /another file took its place at this moment/);
    await assert.rejects(readLines(path.path, 1, undefined, never), /another file took its place/);
    assert.throws(() => readImage(path.path, 1_000), /another file took its place/);
  }
});
