/** Taking back what the user has changed since, and what must not be touched. */
import assert from "node:assert/strict";
import { type Kept, keptFolder } from "../../../../tests/support/checkpoints.ts";
import { waitUntil } from "../../../../tests/support/project.ts";
import type { Editor } from "../core/ports.ts";

const A = "one\ntwo\nthree\nfour\nfive\n";
const EDITED = A.replace("two", "TWO");

/** One turn of a tool that writes these files; undefined deletes. */
async function turn(kept: Kept, files: Readonly<Record<string, string | undefined>>): Promise<void> {
  kept.nextTurn();
  await kept.tool(Object.keys(files), async () => {
    for (const [path, text] of Object.entries(files)) {
      if (text === undefined) await Deno.remove(kept.project.path(path));
      else await kept.project.write(path, text);
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

async function texts(kept: Kept): Promise<Record<string, string>> {
  const files = Object.entries(await kept.tree()).filter(([, what]) => what.startsWith("file"));
  return Object.fromEntries(
    await Promise.all(files.map(async ([path]) => [path, await kept.project.read(path)] as const)),
  );
}

for (const { what, before, agent, user, outcomes, after } of CASES) {
  Deno.test(`undo: ${what}`, async () => {
    await using kept = await keptFolder({ files: before });
    await turn(kept, agent);
    for (const [path, text] of Object.entries(user)) {
      if (text === undefined) await Deno.remove(kept.project.path(path));
      else await kept.project.write(path, text);
    }
    const left = await texts(kept);
    assert.deepEqual(await kept.undo(), outcomes);
    assert.deepEqual(await texts(kept), after);
    const isUndone = Object.values(outcomes).some((outcome) =>
      outcome === "restored" || outcome === "merged"
    );
    if (!isUndone) return await assert.rejects(kept.redo(), /nothing to redo/);
    await kept.redo();
    assert.deepEqual(await texts(kept), left);
  });
}

Deno.test("an older turn is taken back beneath a newer one", async () => {
  await using kept = await keptFolder({ files: { "a.txt": A } });
  await turn(kept, { "a.txt": EDITED });
  await turn(kept, { "a.txt": EDITED.replace("five", "FIVE") });
  assert.deepEqual(await kept.undo(1), { "a.txt": "merged" });
  assert.equal(await kept.project.read("a.txt"), A.replace("five", "FIVE"));
  assert.deepEqual(await kept.undo(), { "a.txt": "merged" });
  assert.equal(await kept.project.read("a.txt"), A);
  await assert.rejects(kept.undo(), /nothing to undo/);
  await kept.redo();
  await kept.redo();
  assert.equal(await kept.project.read("a.txt"), EDITED.replace("five", "FIVE"));
});

Deno.test("a new turn ends what can be done again", async () => {
  await using kept = await keptFolder({ files: { "a.txt": A } });
  await turn(kept, { "a.txt": EDITED });
  await kept.undo();
  kept.nextTurn();
  await assert.rejects(kept.redo(), /nothing to redo/);
});

Deno.test("a moved file goes back with what the user has changed in it; a name that is taken is not", async () => {
  await using kept = await keptFolder({ files: { "a.txt": A, "b.txt": A } });
  kept.nextTurn();
  await kept.command(async () => {
    await Deno.mkdir(kept.project.path("sub"));
    await Deno.rename(kept.project.path("a.txt"), kept.project.path("sub/moved.txt"));
    await Deno.rename(kept.project.path("b.txt"), kept.project.path("sub/other.txt"));
  });
  await kept.project.write("sub/moved.txt", A.replace("five", "5"));
  await kept.project.write("b.txt", "mine\n");
  assert.deepEqual(await kept.undo(), { "a.txt": "merged", "b.txt": "conflict" });
  assert.deepEqual(await texts(kept), {
    "a.txt": A.replace("five", "5"),
    "b.txt": "mine\n",
    "sub/other.txt": A,
  });
});

Deno.test("a folder that has become a link leads nowhere, and .git is never touched", async () => {
  await using elsewhere = await keptFolder({ files: { "a.txt": EDITED } });
  await using kept = await keptFolder({ files: { "sub/a.txt": A, ".git/config": A } });
  await turn(kept, { "sub/a.txt": EDITED, ".git/config": EDITED });
  await Deno.remove(kept.project.path("sub"), { recursive: true });
  await Deno.symlink(elsewhere.project.root, kept.project.path("sub"));
  assert.deepEqual(await kept.undo(), { "sub/a.txt": "skipped", ".git/config": "skipped" });
  assert.equal(await elsewhere.project.read("a.txt"), EDITED);
  assert.equal(await kept.project.read(".git/config"), EDITED);
});

Deno.test("a file that has become a link is left alone, and so is what it leads to", async () => {
  await using kept = await keptFolder({ files: { "a.txt": A, "mine.txt": EDITED } });
  await turn(kept, { "a.txt": EDITED });
  await Deno.remove(kept.project.path("a.txt"));
  await Deno.symlink("mine.txt", kept.project.path("a.txt"));
  assert.deepEqual(await kept.undo(), { "a.txt": "conflict" });
  assert.equal(await kept.project.read("mine.txt"), EDITED);
});

Deno.test("a crash in the middle of a tool or a command: what it did by then is taken back", async () => {
  await using kept = await keptFolder({ files: { "a.txt": A, "b.txt": A, "sub/c.txt": A } });
  const before = await kept.tree();
  kept.nextTurn();
  await kept.checkpoints.before({
    id: "tool",
    paths: [kept.project.path("a.txt"), kept.project.path("new/n.txt")],
  });
  await kept.project.write("a.txt", EDITED);
  await kept.project.write("new/n.txt", "half");
  const second = kept.again();
  await second.before({ id: "command", paths: [], command: "foreground" });
  await kept.project.write("b.txt", EDITED);
  await Deno.remove(kept.project.path("sub"), { recursive: true });
  const third = kept.again();
  const { signal } = new AbortController();
  const { files } = await third.takeBack({ kind: "undo", turn: undefined }, signal);
  assert.equal(files.filter(({ outcome }) => outcome === "restored").length, 4);
  assert.deepEqual(await kept.tree(), before);
});

Deno.test("half an undo after a kill says how far it came, and goes on; what the user has made since is theirs", async () => {
  await using kept = await keptFolder({ files: { "a.txt": A, "b.txt": A }, aliveMs: 100 });
  const before = await kept.tree();
  await turn(kept, { "a.txt": EDITED, "b.txt": EDITED });
  const done = await kept.tree();
  const [{ files } = { files: [] }] = kept.store.checkpoints.list("s1");
  // As far as an undo comes that is killed after its first file.
  kept.store.checkpoints.begin(
    { session: "s1", turn: 1, kind: "undo", target: 1 },
    files.map(({ path, before, after }) => ({ path, before: after, after: before })),
  );
  await kept.project.write("a.txt", A);
  const again = kept.again();
  await again.recover();
  assert.deepEqual(kept.notices, [
    "The undo of turn 1 was cut off: 1 of 2 files are done. `:Agent undo 1` goes on.",
  ]);
  assert.match(again.takeNote() ?? "", /taken back changes that you made, in: a\.txt\./);
  const { signal } = new AbortController();
  const rest = await again.takeBack({ kind: "undo", turn: undefined }, signal);
  assert.deepEqual(rest.files.map(({ path, outcome }) => [path.endsWith("b.txt"), outcome]), [[
    true,
    "restored",
  ]]);
  assert.deepEqual(await kept.tree(), before);
  for (const _ of ["b.txt", "a.txt"]) await again.takeBack({ kind: "redo" }, signal);
  assert.deepEqual(await kept.tree(), done);

  kept.nextTurn();
  await again.before({ id: "command", paths: [], command: "foreground" });
  kept.store.checkpoints.setAlive = () => {
    throw new Error("it is dead");
  };
  await kept.project.write("c.txt", "agent\n");
  const { alive } = kept.store.checkpoints.list("s1").at(-1) ?? { alive: 0 };
  await waitUntil("the user", () => Date.now() > alive + 300);
  await kept.project.write("mine.txt", "mine\n");
  const other = kept.again("s2");
  await (await other.before({ id: "command", paths: [], command: "foreground" })).done([]);
  await kept.again().takeBack({ kind: "undo", turn: undefined }, signal);
  assert.deepEqual(await texts(kept), { "a.txt": EDITED, "b.txt": EDITED, "mine.txt": "mine\n" });
});

Deno.test("a buffer that would not take the text: nothing is written", async () => {
  let unsaved: string | undefined;
  const editor: Editor = {
    unsavedText: () => Promise.resolve(unsaved),
    writeUnsaved: () => Promise.reject(new Error("the buffer is locked")),
  };
  await using kept = await keptFolder({ files: { "a.txt": A, "new.txt": "" }, editor });
  await turn(kept, { "a.txt": EDITED });
  unsaved = EDITED.replace("five", "5");
  assert.deepEqual(await kept.undo(), { "a.txt": "skipped" });
  unsaved = EDITED.replace("TWO", "2");
  assert.deepEqual(await kept.undo(), { "a.txt": "conflict" });
  assert.equal(await kept.project.read("a.txt"), EDITED);
});

Deno.test("the model is told once, and only of what is different", async () => {
  await using kept = await keptFolder({ files: { "a.txt": A } });
  await turn(kept, { "a.txt": EDITED });
  await kept.undo();
  await kept.redo();
  assert.equal(kept.checkpoints.takeNote(), undefined);
  await kept.undo();
  assert.match(
    kept.checkpoints.takeNote() ?? "",
    /^\[The user has taken back changes that you made, in: a\.txt\./,
  );
  assert.equal(kept.checkpoints.takeNote(), undefined);
});
