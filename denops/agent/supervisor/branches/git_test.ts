import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { ANY_CHARACTER } from "../../../../tests/support/any_character.ts";
import { git, type Scratch, scratch } from "../../../../tests/support/project.ts";
import { branchName, checkedOut, makeBranch } from "./git.ts";

const NOW = new Date(2026, 10, 3, 23, 59);

Deno.test("a branch's name says when and what", () => {
  const named = (text: string) => branchName("agent/", text, NOW, "0a1b");
  assert.equal(named("Rename greet to salute"), "agent/2026-11-03-rename-greet-to-salute-0a1b");
  assert.equal(named("\n  Don't use É, ü!\nand more"), "agent/2026-11-03-dont-use-e-u-0a1b");
  assert.equal(named("one two three four five six"), "agent/2026-11-03-one-two-three-four-five-0a1b");
  assert.equal(named("x".repeat(99)), `agent/2026-11-03-${"x".repeat(32)}-0a1b`);
  assert.equal(named("修复解析器"), "agent/2026-11-03-0a1b");
  fc.assert(fc.property(fc.string({ unit: ANY_CHARACTER }), (text) => {
    assert.match(named(text), /^agent\/2026-11-03-(?:[a-z0-9]+-){0,5}0a1b$/);
    assert.ok(named(text).length < 80);
  }));
});

{
  // A repository above the temporary folder is none of ours.
  await using folder = await scratch();
  Deno.env.set("GIT_CEILING_DIRECTORIES", dirname(folder.root));
}

const FILES = { "a.txt": "a\n", "part/b.txt": "b\n" };
const NAME = "agent/2026-11-03-0a1b";

function place(root: string, sandboxed = true) {
  return { roots: [root], sandboxed };
}

/** HEAD, the branches, and what has changed. */
async function stateOf(root: string): Promise<readonly string[]> {
  const head = await Deno.readTextFile(join(root, ".git", "HEAD"));
  return [head, await git(root, "branch", "--list"), await git(root, "status", "--porcelain")];
}

async function refused(root: string, why: RegExp): Promise<void> {
  const made = await makeBranch(NAME, place(root));
  assert.equal(made.type, "refused");
  assert.match(made.type === "refused" ? made.why : "", why);
}

for (const sandboxed of [true, false]) {
  Deno.test(`changes stay as they are, and the repository's programs do not run; sandbox: ${sandboxed}`, async () => {
    await using project = await scratch(FILES, { git: true });
    await using ran = await scratch();
    const program = project.path("program");
    await project.write("program", `#!/bin/sh\ntouch "${ran.root}/$(basename "$0")"\ncat\n`);
    await Deno.chmod(program, 0o755);
    for (const hook of ["post-checkout", "reference-transaction", "post-index-change"]) {
      await Deno.copyFile(program, project.path(".git/hooks", hook));
    }
    await project.write(".git/info/attributes", "* filter=own\n");
    await git(project.root, "config", "filter.own.clean", program);
    await git(project.root, "config", "core.fsmonitor", program);
    await git(project.root, "config", "branch.autoSetupMerge", "always");
    await git(project.root, "config", "submodule.recurse", "true");
    await project.write("a.txt", "staged\n");
    await git(project.root, "-c", "core.hooksPath=/dev/null", "add", "a.txt");
    await project.write("a.txt", "changed\n");
    // Of the same size: to compare it git would have to read it.
    await project.write("part/b.txt", "c\n");
    await project.write("new.txt", "new\n");
    const config = await project.read(".git/config");
    for await (const { name } of Deno.readDir(ran.root)) await Deno.remove(ran.path(name));
    const index = await Deno.readFile(project.path(".git/index"));

    assert.deepEqual(await makeBranch(NAME, place(project.root, sandboxed)), { type: "made", branch: NAME });
    assert.deepEqual([...Deno.readDirSync(ran.root)], []);
    assert.equal(await checkedOut(place(project.root, sandboxed)), NAME);
    assert.deepEqual(await Deno.readFile(project.path(".git/index")), index);
    assert.equal(await project.read(".git/config"), config);
    assert.equal(await project.read("a.txt"), "changed\n");
    const quiet = ["-c", "core.fsmonitor=false", "-c", "filter.own.clean="];
    assert.equal(
      await git(project.root, ...quiet, "status", "--porcelain"),
      "MM a.txt\n M part/b.txt\n?? new.txt\n?? program",
    );
    // The user's way back.
    await git(project.root, ...quiet, "-c", "core.hooksPath=/dev/null", "switch", "--quiet", "-");
    assert.equal(await checkedOut(place(project.root, sandboxed)), "main");
  });
}

const REFUSED: Readonly<Record<string, { why: RegExp; make(project: Scratch): Promise<unknown> }>> = {
  "a detached HEAD": {
    why: /^HEAD is detached$/,
    make: ({ root }) => git(root, "switch", "--quiet", "--detach"),
  },
  "a merge in progress": {
    why: /^a merge is in progress$/,
    make: async ({ root, write }) => {
      await git(root, "switch", "--quiet", "-c", "other");
      await write("a.txt", "other\n");
      await git(root, "commit", "--quiet", "--all", "--message=Other");
      await git(root, "switch", "--quiet", "main");
      await write("a.txt", "main\n");
      await git(root, "commit", "--quiet", "--all", "--message=Main");
      await assert.rejects(git(root, "merge", "other"));
    },
  },
  "a rebase in progress": {
    why: /^a rebase is in progress$/,
    make: async ({ root }) => {
      await git(root, "commit", "--quiet", "--allow-empty", "--message=Second");
      await assert.rejects(git(root, "rebase", "--exec", "false", "HEAD~"));
    },
  },
  "a bisect in progress": {
    why: /^a bisect is in progress$/,
    make: ({ root }) => git(root, "bisect", "start"),
  },
  "a branch in the way": {
    why: /^git says: .*refs\/heads\/agent/,
    make: ({ root }) => git(root, "branch", "agent"),
  },
  "a lock of another git": {
    why: /^another git command is in progress$/,
    make: ({ write }) => write(".git/HEAD.lock", ""),
  },
  "a .git that is none": {
    why: /is none$/,
    make: async ({ path }) => {
      await Deno.rename(path(".git/refs"), path(".git/refs.away"));
      return () => Deno.rename(path(".git/refs.away"), path(".git/refs"));
    },
  },
};

for (const [what, { why, make }] of Object.entries(REFUSED)) {
  Deno.test(`no branch: ${what}`, async () => {
    // git's own scripts, such as bisect, run hooks for a test that prepares its repository with them.
    await using project = await scratch(FILES, { git: true, mined: false });
    const mend = await make(project);
    const before = mend instanceof Function ? [] : await stateOf(project.root);
    await refused(project.root, why);
    if (mend instanceof Function) await mend();
    else assert.deepEqual(await stateOf(project.root), before);
    assert.equal(await git(project.root, "branch", "--list", "agent/*"), "");
  });
}

Deno.test("no branch: no commit yet, a folder of a repository, no repository", async () => {
  await using unborn = await scratch(FILES);
  assert.deepEqual(await makeBranch(NAME, place(unborn.root)), { type: "no_repository" });
  await git(unborn.root, "init", "--quiet", "--initial-branch=main");
  await refused(unborn.root, /^the repository has no commit yet$/);

  await using project = await scratch(FILES, { git: true });
  await refused(project.path("part"), new RegExp(`folder of the repository ${project.root},`));
  assert.equal(await checkedOut(place(project.root)), "main");
});

Deno.test("in a worktree the branch is checked out there only", async () => {
  await using project = await scratch(FILES, { git: true });
  await using other = await scratch();
  const tree = other.path("tree");
  await git(project.root, "worktree", "add", "--quiet", "-b", "side", tree);
  assert.deepEqual(await makeBranch(NAME, place(tree)), { type: "made", branch: NAME });
  assert.equal(await checkedOut(place(tree)), NAME);
  assert.equal(await checkedOut(place(project.root)), "main");
});

Deno.test("a .git that somebody has put there switches no other repository", async () => {
  await using victim = await scratch(FILES, { git: true });
  await using trap = await scratch(FILES);
  const before = await stateOf(victim.root);
  const gitdir = trap.path("fake/worktrees/x");
  const traps: readonly (() => Promise<unknown>)[] = [
    () => trap.write(".git", `gitdir: ${victim.path(".git")}\n`),
    async () => {
      await trap.write("fake/worktrees/x/gitdir", `${trap.path(".git")}\n`);
      await trap.write("fake/worktrees/x/commondir", `${victim.path(".git")}\n`);
      await trap.write("fake/worktrees/x/HEAD", "ref: refs/heads/main\n");
      await trap.write(".git", `gitdir: ${gitdir}\n`);
    },
    async () => {
      await Deno.remove(trap.path(".git"));
      await Deno.symlink(victim.path(".git"), trap.path(".git"));
    },
    async () => {
      await Deno.remove(trap.path(".git"));
      await trap.write(".git/commondir", `${victim.path(".git")}\n`);
      await trap.write(".git/HEAD", "ref: refs/heads/main\n");
    },
    async () => {
      await Deno.remove(trap.path(".git"), { recursive: true });
      await git(trap.root, "init", "--quiet", "--initial-branch=main");
      const own = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"];
      await git(trap.root, ...own, "commit", "--quiet", "--allow-empty", "--message=Start");
      await git(trap.root, "config", "core.worktree", victim.root);
    },
  ];
  for (const [index, set] of traps.entries()) {
    await set();
    const made = await makeBranch(NAME, place(trap.root, false));
    assert.equal(made.type, "refused", `trap ${index}`);
    assert.deepEqual(await stateOf(victim.root), before, `trap ${index}`);
  }
});

for (const sandboxed of [true, false]) {
  Deno.test(`no missing commit is fetched: a repository names the program for that; sandbox: ${sandboxed}`, async () => {
    await using project = await scratch(FILES, { git: true });
    const mark = project.path(".git/ran");
    const head = (await git(project.root, "rev-parse", "HEAD")).trim();
    const missing = "12".repeat(20);
    // Only git with settings of our own finds the commit.
    await project.write(`.git/refs/replace/${missing}`, `${head}\n`);
    await project.write(".git/refs/heads/main", `${missing}\n`);
    const settings = `[core]
	repositoryformatversion = 1
	useReplaceRefs = false
[extensions]
	partialClone = evil
[remote "evil"]
	url = ${project.root}
	promisor = true
	uploadpack = touch '${mark}'; git-upload-pack
[protocol "file"]
	allow = always
`;
    await Deno.writeTextFile(project.path(".git/config"), settings, { append: true });
    const made = await makeBranch(NAME, place(project.root, sandboxed));
    assert.match(made.type === "refused" ? made.why : made.type, /^git says: /);
    await assert.rejects(Deno.stat(mark), Deno.errors.NotFound);
  });
}

Deno.test("no branch is made where a setting of the repository can run a program as a hook, on whatever condition", async () => {
  const places = {
    "hook.mine.command": "[include]\n\tpath = more\n",
    "hook.mine.command ": '[includeIf "onbranch:agent/**"]\n\tpath = more\n',
    "include.path": "[include]\n\tpath = ~other/more\n",
  };
  for (const [key, include] of Object.entries(places)) {
    await using project = await scratch(FILES, { git: true });
    await project.write(
      ".git/more",
      '[hook "mine"]\n\tevent = reference-transaction\n\tcommand = touch ran\n',
    );
    await Deno.writeTextFile(project.path(".git/config"), include, { append: true });
    await refused(project.root, RegExp(`^git says: the setting ${key.trim()} can run a program$`));
  }
});
