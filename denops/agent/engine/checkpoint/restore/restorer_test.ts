/** Taking back what the user has changed since, and what must not be touched. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type CheckpointedFolder, checkpointedFolder } from "../../../../../tests/support/checkpoints.ts";
import { waitUntil } from "../../../../../tests/support/project.ts";
import { putBack } from "./put_back.ts";
import { Restorer } from "./restorer.ts";
import type { Editor } from "../../ports/editor.ts";

const A = "one\ntwo\nthree\nfour\nfive\n";
const EDITED = A.replace("two", "TWO");

/** One turn of a tool that writes these files; undefined deletes. */
async function turn(
  folder: CheckpointedFolder,
  files: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  folder.nextTurn();
  await folder.tool(Object.keys(files), async () => {
    for (const [path, text] of Object.entries(files)) {
      if (text === undefined) await Deno.remove(folder.project.path(path));
      else await folder.project.write(path, text);
    }
  });
}

interface Case {
  readonly what: string;
  readonly before: Readonly<Record<string, string>>;
  /** What the agent does, then what the user does; undefined deletes. */
  readonly agent: Readonly<Record<string, string | undefined>>;
  readonly user: Readonly<Record<string, string | undefined>>;
  readonly outcomes: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string>>;
}

const CASES: readonly Case[] = [
  {
    what: "other lines changed since: both stand",
    before: { "a.txt": A },
    agent: { "a.txt": EDITED },
    user: { "a.txt": EDITED.replace("five", "5") },
    outcomes: { "a.txt": "merged" },
    after: { "a.txt": A.replace("five", "5") },
  },
  {
    what: "the same lines changed since: the file is left alone, the others are not",
    before: { "a.txt": A, "b.txt": "b\n" },
    agent: { "a.txt": EDITED, "b.txt": "B\n" },
    user: { "a.txt": A.replace("two", "2") },
    outcomes: { "a.txt": "conflict", "b.txt": "restored" },
    after: { "a.txt": A.replace("two", "2"), "b.txt": "b\n" },
  },
  {
    what: "a new file that the user goes on with stays",
    before: {},
    agent: { "sub/new.txt": "new\n" },
    user: { "sub/new.txt": "new\nmine\n" },
    outcomes: { "sub/new.txt": "conflict" },
    after: { "sub/new.txt": "new\nmine\n" },
  },
  {
    what: "a folder in which the user has made something stays",
    before: {},
    agent: { "sub/new.txt": "new\n" },
    user: { "sub/mine.txt": "mine\n" },
    outcomes: { "sub/new.txt": "restored" },
    after: { "sub/mine.txt": "mine\n" },
  },
  {
    what: "a deleted file whose name the user has taken",
    before: { "a.txt": A },
    agent: { "a.txt": undefined },
    user: { "a.txt": "mine\n" },
    outcomes: { "a.txt": "conflict" },
    after: { "a.txt": "mine\n" },
  },
  {
    what: "an edited file that the user has deleted",
    before: { "a.txt": A },
    agent: { "a.txt": EDITED },
    user: { "a.txt": undefined },
    outcomes: { "a.txt": "conflict" },
    after: {},
  },
  {
    what: "the user has taken it back already",
    before: { "a.txt": A },
    agent: { "a.txt": EDITED },
    user: { "a.txt": A },
    outcomes: { "a.txt": "unchanged" },
    after: { "a.txt": A },
  },
  {
    what: "binary and changed since: left alone",
    before: { "a.bin": "a\0" },
    agent: { "a.bin": "b\0" },
    user: { "a.bin": "c\0" },
    outcomes: { "a.bin": "conflict" },
    after: { "a.bin": "c\0" },
  },
  {
    what: "Latin-1 and other line endings stay as they are",
    before: { "a.txt": "eins\r\nzwei\r\ndrei\r\n" },
    agent: { "a.txt": "EINS\r\nzwei\r\ndrei\r\n" },
    user: { "a.txt": "EINS\r\nzwei\r\nDREI" },
    outcomes: { "a.txt": "merged" },
    after: { "a.txt": "eins\r\nzwei\r\nDREI" },
  },
];

async function texts(folder: CheckpointedFolder): Promise<Record<string, string>> {
  const files = Object.entries(await folder.tree()).filter(([, what]) => what.startsWith("file"));
  return Object.fromEntries(
    await Promise.all(files.map(async ([path]) => [path, await folder.project.read(path)] as const)),
  );
}

for (const { what, before, agent, user, outcomes, after } of CASES) {
  Deno.test(`undo: ${what}`, async () => {
    await using folder = await checkpointedFolder({ files: before });
    await turn(folder, agent);
    for (const [path, text] of Object.entries(user)) {
      if (text === undefined) await Deno.remove(folder.project.path(path));
      else await folder.project.write(path, text);
    }
    const left = await texts(folder);
    assert.deepEqual(await folder.undo(), outcomes);
    assert.deepEqual(await texts(folder), after);
    const isUndone = Object.values(outcomes).some((outcome) =>
      outcome === "restored" || outcome === "merged"
    );
    if (!isUndone) return await assert.rejects(folder.redo(), /nothing to redo/);
    await folder.redo();
    assert.deepEqual(await texts(folder), left);
  });
}

Deno.test("an older turn is taken back beneath a newer one", async () => {
  await using folder = await checkpointedFolder({ files: { "a.txt": A } });
  await turn(folder, { "a.txt": EDITED });
  await turn(folder, { "a.txt": EDITED.replace("five", "FIVE") });
  assert.deepEqual(await folder.undo(1), { "a.txt": "merged" });
  assert.equal(await folder.project.read("a.txt"), A.replace("five", "FIVE"));
  assert.deepEqual(await folder.undo(), { "a.txt": "merged" });
  assert.equal(await folder.project.read("a.txt"), A);
  await assert.rejects(folder.undo(), /nothing to undo/);
  await folder.redo();
  await folder.redo();
  assert.equal(await folder.project.read("a.txt"), EDITED.replace("five", "FIVE"));
});

Deno.test("a new turn ends what can be done again", async () => {
  await using folder = await checkpointedFolder({ files: { "a.txt": A } });
  await turn(folder, { "a.txt": EDITED });
  await folder.undo();
  folder.nextTurn();
  await assert.rejects(folder.redo(), /nothing to redo/);
});

Deno.test("a moved file goes back with what the user has changed in it; a name that is taken is not", async () => {
  await using folder = await checkpointedFolder({ files: { "a.txt": A, "b.txt": A } });
  folder.nextTurn();
  await folder.command(async () => {
    await Deno.mkdir(folder.project.path("sub"));
    await Deno.rename(folder.project.path("a.txt"), folder.project.path("sub/moved.txt"));
    await Deno.rename(folder.project.path("b.txt"), folder.project.path("sub/other.txt"));
  });
  await folder.project.write("sub/moved.txt", A.replace("five", "5"));
  await folder.project.write("b.txt", "mine\n");
  assert.deepEqual(await folder.undo(), { "a.txt": "merged", "b.txt": "conflict" });
  assert.deepEqual(await texts(folder), {
    "a.txt": A.replace("five", "5"),
    "b.txt": "mine\n",
    "sub/other.txt": A,
  });
});

Deno.test("a folder that has become a link leads nowhere, and .git is never touched", async () => {
  await using elsewhere = await checkpointedFolder({ files: { "a.txt": EDITED } });
  await using folder = await checkpointedFolder({ files: { "sub/a.txt": A, ".git/config": A } });
  await turn(folder, { "sub/a.txt": EDITED, ".git/config": EDITED });
  await Deno.remove(folder.project.path("sub"), { recursive: true });
  await Deno.symlink(elsewhere.project.root, folder.project.path("sub"));
  assert.deepEqual(await folder.undo(), { "sub/a.txt": "skipped", ".git/config": "skipped" });
  assert.equal(await elsewhere.project.read("a.txt"), EDITED);
  assert.equal(await folder.project.read(".git/config"), EDITED);
});

Deno.test("a file that has become a link is left alone, and so is what it leads to", async () => {
  await using folder = await checkpointedFolder({ files: { "a.txt": A, "mine.txt": EDITED } });
  await turn(folder, { "a.txt": EDITED });
  await Deno.remove(folder.project.path("a.txt"));
  await Deno.symlink("mine.txt", folder.project.path("a.txt"));
  assert.deepEqual(await folder.undo(), { "a.txt": "conflict" });
  assert.equal(await folder.project.read("mine.txt"), EDITED);
});

Deno.test("a crash in the middle of a tool or a command: what it did by then is taken back", async () => {
  await using folder = await checkpointedFolder({ files: { "a.txt": A, "b.txt": A, "sub/c.txt": A } });
  const before = await folder.tree();
  folder.nextTurn();
  await folder.checkpoints.before({
    id: "tool",
    paths: [folder.project.path("a.txt"), folder.project.path("new/n.txt")],
  });
  await folder.project.write("a.txt", EDITED);
  await folder.project.write("new/n.txt", "half");
  const second = folder.again();
  await second.before({ id: "command", paths: [], command: "foreground" });
  await folder.project.write("b.txt", EDITED);
  await Deno.remove(folder.project.path("sub"), { recursive: true });
  const third = folder.again();
  const { signal } = new AbortController();
  const { files } = await third.takeBack({ kind: "undo", turn: undefined }, signal);
  assert.equal(files.filter(({ outcome }) => outcome === "restored").length, 4);
  assert.deepEqual(await folder.tree(), before);
});

Deno.test("a folder that an undo had opened when the engine was killed gets its mode back", async () => {
  await using folder = await checkpointedFolder({
    files: { "old/a.txt": A, "new/a.txt": A, "mine/a.txt": A },
  });
  const modes = {
    old: [0o500, 0o755, 0o700],
    new: [0o755, 0o600, 0o700],
    mine: [0o500, 0o700, 0o711],
  } as const;
  folder.store.checkpoints.begin(
    { session: "s1", turn: 1, kind: "undo", target: 1 },
    Object.entries(modes).map(([name, [before, after]]) => ({
      path: folder.project.path(name),
      before: { type: "folder", mode: before },
      after: { type: "folder", mode: after },
    })),
  );
  for (const [name, [, , found]] of Object.entries(modes)) await Deno.chmod(folder.project.path(name), found);
  await folder.again().recover();
  const now = Object.keys(modes).map((name) => (Deno.statSync(folder.project.path(name)).mode ?? 0) & 0o777);
  assert.deepEqual(now, [0o500, 0o600, 0o711]);
});

Deno.test("half an undo after a kill says how far it came, and goes on; what the user has made since is theirs", async () => {
  await using folder = await checkpointedFolder({ files: { "a.txt": A, "b.txt": A }, aliveMs: 100 });
  const before = await folder.tree();
  await turn(folder, { "a.txt": EDITED, "b.txt": EDITED });
  const done = await folder.tree();
  const [{ files } = { files: [] }] = folder.store.checkpoints.list("s1");
  // As far as an undo comes that is killed after its first file.
  folder.store.checkpoints.begin(
    { session: "s1", turn: 1, kind: "undo", target: 1 },
    files.map(({ path, before, after }) => ({ path, before: after, after: before })),
  );
  await folder.project.write("a.txt", A);
  const again = folder.again();
  await again.recover();
  assert.deepEqual(folder.notices, [
    "The undo of turn 1 was cut off: 1 of 2 files are done. `:Agent undo 1` continues.",
  ]);
  assert.match(again.takeNote() ?? "", /taken back changes that you made, in: a\.txt\./);
  const { signal } = new AbortController();
  const rest = await again.takeBack({ kind: "undo", turn: undefined }, signal);
  assert.deepEqual(rest.files.map(({ path, outcome }) => [path.endsWith("b.txt"), outcome]), [[
    true,
    "restored",
  ]]);
  assert.deepEqual(await folder.tree(), before);
  for (const _ of ["b.txt", "a.txt"]) await again.takeBack({ kind: "redo" }, signal);
  assert.deepEqual(await folder.tree(), done);

  folder.nextTurn();
  await again.before({ id: "command", paths: [], command: "foreground" });
  folder.store.checkpoints.setAlive = () => {
    throw new Error("it is dead");
  };
  await folder.project.write("c.txt", "agent\n");
  const { alive } = folder.store.checkpoints.list("s1").at(-1) ?? { alive: 0 };
  await waitUntil("the user", () => Date.now() > alive + 300);
  await folder.project.write("mine.txt", "mine\n");
  const other = folder.again("s2");
  await (await other.before({ id: "command", paths: [], command: "foreground" })).done([]);
  await folder.again().takeBack({ kind: "undo", turn: undefined }, signal);
  assert.deepEqual(await texts(folder), { "a.txt": EDITED, "b.txt": EDITED, "mine.txt": "mine\n" });
});

Deno.test("a folder that an undo made on its way, before a kill, goes again when it is done again", async () => {
  await using folder = await checkpointedFolder({ files: { "sub/a.txt": A } });
  await turn(folder, { "sub/a.txt": undefined });
  await Deno.remove(folder.project.path("sub"));
  const { checkpoints } = folder.store;
  const { finish } = checkpoints;
  checkpoints.finish = () => {
    throw new Error("it is dead");
  };
  await assert.rejects(folder.undo(), /it is dead/);
  checkpoints.finish = finish;
  assert.deepEqual(await texts(folder), { "sub/a.txt": A });
  await folder.again().takeBack({ kind: "redo" }, new AbortController().signal);
  assert.deepEqual(await folder.tree(), {});
});

Deno.test("what the user renamed after an undo does not come back under its old name", async () => {
  await using folder = await checkpointedFolder({ files: { "a.txt": A, "b.txt": A } });
  await turn(folder, { "a.txt": undefined });
  await folder.undo();
  await Deno.rename(folder.project.path("a.txt"), folder.project.path("mine.txt"));
  await turn(folder, { "b.txt": EDITED });
  assert.deepEqual(await folder.restore(1), { "b.txt": "restored" });
  assert.deepEqual(await texts(folder), { "mine.txt": A, "b.txt": A });
});

Deno.test("a buffer that would not take the text: nothing is written", async () => {
  let unsaved: string | undefined;
  const editor: Editor = {
    unsavedText: () => Promise.resolve(unsaved),
    writeUnsaved: () => Promise.reject(new Error("the buffer is locked")),
  };
  await using folder = await checkpointedFolder({ files: { "a.txt": A, "new.txt": "" }, editor });
  await turn(folder, { "a.txt": EDITED });
  unsaved = EDITED.replace("five", "5");
  assert.deepEqual(await folder.undo(), { "a.txt": "skipped" });
  unsaved = EDITED.replace("TWO", "2");
  assert.deepEqual(await folder.undo(), { "a.txt": "conflict" });
  assert.equal(await folder.project.read("a.txt"), EDITED);
});

Deno.test({
  name: "a file keeps its other names (hard links), and a name that was another file becomes one again",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using folder = await checkpointedFolder({ files: { "a.txt": A, "c.txt": "c\n", "d.txt": "d\n" } });
    const { project } = folder;
    await Deno.link(project.path("a.txt"), project.path("b.txt"));
    const { ino } = await Deno.lstat(project.path("a.txt"));
    const areOne = async (text: string) => {
      for (const name of ["a.txt", "b.txt"]) {
        assert.equal(await project.read(name), text);
        assert.equal((await Deno.lstat(project.path(name))).ino, ino);
      }
    };
    await turn(folder, { "a.txt": EDITED });
    await areOne(EDITED);
    assert.deepEqual(await folder.undo(), { "a.txt": "restored", "b.txt": "restored" });
    await areOne(A);
    folder.nextTurn();
    await folder.command(async () => {
      await project.write("b.txt", EDITED);
      await Deno.chmod(project.path("b.txt"), 0o600);
      await Deno.remove(project.path("d.txt"));
      await Deno.link(project.path("c.txt"), project.path("d.txt"));
    });
    await folder.undo();
    await areOne(A);
    assert.equal(((await Deno.lstat(project.path("a.txt"))).mode ?? 0) & 0o777, 0o644);
    assert.deepEqual([await project.read("c.txt"), await project.read("d.txt")], ["c\n", "d\n"]);
    await folder.redo();
    await areOne(EDITED);
  },
});

Deno.test({
  name: "a mode goes to the file that was written, not to another one that takes its name meanwhile",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using folder = await checkpointedFolder({ files: { "a.txt": EDITED, "other.txt": "other\n" } });
    const { project: { path, read }, store } = folder;
    await Deno.link(path("a.txt"), path("b.txt"));
    await Deno.chmod(path("other.txt"), 0o600);
    const snapshot = (text: string, mode: number) => ({
      ...{ type: "file" as const, mode },
      blob: store.checkpoints.contents.put(new TextEncoder().encode(text)),
    });
    await putBack(path("a.txt"), {
      ...{ now: snapshot(EDITED, 0o644), image: snapshot(A, 0o755), hasAllNames: true },
    }, {
      store: store.checkpoints,
      // The first moment after the write.
      journal: { begin: () => {}, end: () => Deno.renameSync(path("other.txt"), path("a.txt")) },
      makeLink: () => Promise.reject(new Error("no link is made")),
    });
    const modeOf = async (name: string) => ((await Deno.lstat(path(name))).mode ?? 0) & 0o777;
    assert.deepEqual([await read("a.txt"), await modeOf("a.txt")], ["other\n", 0o600]);
    assert.deepEqual([await read("b.txt"), await modeOf("b.txt")], [A, 0o755]);
  },
});

Deno.test("the model is told once, and only of what is different", async () => {
  await using folder = await checkpointedFolder({ files: { "a.txt": A } });
  await turn(folder, { "a.txt": EDITED });
  await folder.undo();
  await folder.redo();
  assert.equal(folder.checkpoints.takeNote(), undefined);
  await folder.undo();
  assert.match(
    folder.checkpoints.takeNote() ?? "",
    /^\[The user has taken back changes that you made, in: a\.txt\./,
  );
  assert.equal(folder.checkpoints.takeNote(), undefined);
});

Deno.test("what the user saves between the look and the write is no work of the undo: a redo leaves it", async () => {
  await using folder = await checkpointedFolder({ files: { "a.txt": A, "gone.txt": "gone\n" } });
  const { project, store } = folder;
  const path = (name: string) => join(project.root, name);
  await turn(folder, { "a.txt": EDITED, "gone.txt": undefined });
  const records = store.checkpoints.list("s1").flatMap(({ files }) => files);
  const { signal } = new AbortController();
  const editor: Editor = {
    unsavedText: () => Promise.resolve(undefined),
    writeUnsaved: () => Promise.resolve({ status: "not_open" }),
  };
  const restorer = new Restorer({
    ...{ store: store.checkpoints, editor, roots: [project.root], journal: store.writes },
    makeLink: (path, target) => Deno.symlink(target, path),
  });
  const plan = await restorer.plan([records], signal);
  await project.write("a.txt", EDITED.replace("five", "mine"));
  await project.write("gone.txt", "mine\n");
  const undo = { session: "s1", turn: 1, kind: "undo", target: 1 } as const;
  const done = await restorer.carryOut(plan, undo, signal);
  assert.deepEqual(done.files.map(({ outcome }) => outcome), ["skipped", "skipped"]);
  assert.deepEqual(done.records, []);
  assert.equal(await project.read("a.txt"), EDITED.replace("five", "mine"));
  assert.equal(await Deno.readTextFile(path("gone.txt")), "mine\n");
});
