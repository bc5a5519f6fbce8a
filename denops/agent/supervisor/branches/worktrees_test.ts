import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { git, type Scratch, scratch } from "../../../../tests/support/project.ts";
import { sample } from "../../../../tests/support/sample.ts";
import { originOf } from "../system/worktree_place.ts";
import { listDisk, removeListed } from "./worktree_disk.ts";
import { Worktrees } from "./worktrees.ts";

const FILES = { "a.txt": "a\nb\n", "part/b.txt": "b\n", "gone.txt": "gone\n", "same.txt": "same\n" };
const RULES = { deny_read: ["**/.env"], read_rules: { allow: [], ask: [], deny: [] } };

const STATE = await scratch();
Deno.test.afterAll(async () => await STATE[Symbol.asyncDispose]());
Deno.env.set("GIT_CEILING_DIRECTORIES", dirname(STATE.root));

function of(root: string, sandboxed = true): Promise<Worktrees> {
  return Worktrees.of({ roots: [root], sandboxed, stateDir: STATE.root, prefix: undefined });
}

const never = () => Promise.resolve();

/** What the worktree would lose: it is not removed. */
async function lossOf(trees: Worktrees, name: string, consent?: string) {
  const refused = await trees.remove(name, consent, never);
  assert.ok(!refused.removed);
  return refused;
}

async function branches({ root }: Scratch): Promise<string> {
  return await git(root, "branch", "--list", "--format=%(refname:short)");
}

for (const sandboxed of sample([true, false], 1)) {
  Deno.test(`a worktree is made, told of, merged and removed, and no program of the repository runs; sandbox: ${sandboxed}`, async () => {
    await using project = await scratch({ ...FILES, ".gitignore": "ignored\n" }, { git: true });
    await using ran = await scratch();
    await project.write("program", `#!/bin/sh\ntouch "${ran.root}/$(basename "$0")"\ncat\n`);
    const program = project.path("program");
    await Deno.chmod(program, 0o755);
    for (const hook of ["post-checkout", "reference-transaction", "post-index-change"]) {
      await Deno.copyFile(program, project.path(".git/hooks", hook));
    }
    await project.write(".git/info/attributes", "* filter=own diff=own\n");
    const own = { filter: ["clean", "smudge", "process"], diff: ["textconv"] };
    const sections = Object.entries(own).map(([kind, keys]) =>
      `[${kind} "own"]\n${keys.map((key) => `${key} = ${program}\n`).join("")}`
    );
    const config = `${await project.read(".git/config")}[core]\nfsmonitor = ${program}\n${
      sections.join("")
    }[filter "own"]\nrequired = true\n`;
    await project.write(".git/config", config);
    // As git reads it.
    assert.equal(await git(project.root, "config", "filter.own.process"), program);
    await project.write("a.txt", "not committed\n");

    const trees = await of(project.root, sandboxed);
    const made = await trees.make("fix");
    assert.deepEqual([made.branch, made.known, made.filters], ["agent/fix", false, ["own"]]);
    assert.deepEqual(made.submodules, []);
    assert.equal(made.uncommitted, 2, "a.txt and the program");
    assert.equal(await originOf(made.path, STATE.root), project.root);
    const tree = (path: string) => join(made.path, path);
    assert.equal(await Deno.readTextFile(tree("a.txt")), "a\nb\n");
    assert.deepEqual([(await trees.make("fix")).known, (await trees.list())[0]?.files], [true, 0]);

    await Deno.writeTextFile(tree("a.txt"), "a\nB\n");
    await Deno.remove(tree("gone.txt"));
    await Deno.mkdir(tree("new"));
    await Deno.writeTextFile(tree("new/c.txt"), "c");
    await Deno.writeTextFile(tree("ignored"), "");
    await Deno.writeTextFile(tree(".env"), "KEY=1");
    await Deno.writeFile(tree("image"), new Uint8Array([0, 1, 255]));
    await Deno.symlink("/etc/hostname", tree("link"));
    await Deno.remove(tree("part"), { recursive: true });
    await Deno.symlink("/etc", tree("part"));
    const { files, left } = await trees.merge("fix", RULES);
    const rows = files.map(({ path, base, theirs }) => [path, base, theirs]).sort();
    assert.deepEqual(rows, [
      ["a.txt", "a\nb\n", "a\nB\n"],
      ["gone.txt", "gone\n", undefined],
      ["new/c.txt", undefined, "c"],
      ["part/b.txt", "b\n", undefined],
    ]);
    assert.deepEqual(Object.fromEntries(left.map(({ path, why }) => [path, why])), {
      ".env": "it may not be read",
      image: "it is binary",
      link: "it is a link",
      part: "it is a link",
    });
    const again = (await trees.merge("fix", RULES)).files.find(({ path }) => path === "a.txt");
    assert.equal(again?.merged, "a\nB\n");
    const all = files.length + left.length;
    const loss = await lossOf(trees, "fix");
    // "ignored", and what lies behind the link to another folder is not counted.
    assert.deepEqual([loss.files, loss.ignored, loss.commits], [all, 1, 0]);
    assert.equal(await Deno.readTextFile(tree("new/c.txt")), "c");
    // What the project has by now is not lost.
    await project.write("a.txt", "a\nB\n");
    assert.equal((await trees.list())[0]?.files, all - 1);

    const { listing } = await lossOf(trees, "fix");
    assert.equal((await trees.remove("fix", listing, never)).removed, true);
    await assert.rejects(Deno.lstat(made.path), Deno.errors.NotFound);
    assert.equal(await branches(project), "main");
    assert.equal(await project.read(".git/config"), config);
    assert.deepEqual([...Deno.readDirSync(ran.root)], []);
    assert.deepEqual(await trees.list(), []);
  });
}

Deno.test("names that would lead elsewhere are refused, and so is a branch that is there", async () => {
  await using project = await scratch(FILES, { git: true });
  const trees = await of(project.root);
  const bad = [
    "..",
    "a..b",
    "a/b",
    "../x",
    "two words",
    "-b",
    "--force",
    ".git",
    ".origin",
    "x.lock",
    "x.",
    "",
    "é",
  ];
  for (const name of [...bad, "x".repeat(99)]) {
    await assert.rejects(trees.make(name), /^Error: Cannot make the worktree .*: use letters/, name);
    assert.throws(() => trees.path(name), /^Error: No worktree has the name/);
  }
  await git(project.root, "branch", "agent/mine");
  await assert.rejects(
    trees.make("mine"),
    /: the branch agent\/mine is there already\. Choose another name\.$/,
  );
  await git(project.root, "branch", "agent/worktree-1");
  assert.equal((await trees.make(undefined)).name, "worktree-2");
  await git(project.root, "branch", "-D", "agent/mine", "agent/worktree-1");
  await trees.remove("worktree-2", undefined, never);
  await git(project.root, "branch", "agent");
  await assert.rejects(trees.make("mine"), /git says: /);
  assert.deepEqual([await branches(project), await trees.list()], ["agent\nmain", []]);
});

Deno.test("no repository allows a file that some system takes for its .git", async () => {
  await using project = await scratch(FILES, { git: true });
  const { root } = project;
  await git(root, "config", "core.protectNTFS", "false");
  const blob = (await git(root, "rev-parse", "HEAD:a.txt")).trim();
  await git(root, "update-index", "--add", "--cacheinfo", `100644,${blob},git~1`);
  await git(root, "commit", "--quiet", "--message", "Trap");
  const trees = await of(root);
  await assert.rejects(trees.make("x"), /: git says: invalid path 'git~1'\.$/);
  assert.deepEqual([await branches(project), await trees.list()], ["main", []]);
});

Deno.test("no repository, no commit, a submodule, a folder of a repository: one line each; a detached HEAD will do", async () => {
  await using plain = await scratch(FILES);
  await assert.rejects(
    of(plain.root),
    /^Error: Cannot use worktrees: the project is not in a git repository\.$/,
  );
  await git(plain.root, "init", "--quiet", "--initial-branch=main");
  await assert.rejects((await of(plain.root)).make("x"), /: the repository has no commit yet\.$/);
  await using project = await scratch(FILES, { git: true });
  await assert.rejects(of(project.path("part")), /: the project is a folder of the repository .*\.$/);
  await git(
    project.root,
    ...["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", project.root, "sub"],
  );
  await assert.rejects(of(project.path("sub")), /it is a submodule\.$/);
  await git(project.root, "switch", "--quiet", "--detach");
  const trees = await of(project.root);
  assert.equal((await trees.make("x")).branch, "agent/x");
  assert.equal((await trees.remove("x", undefined, never)).removed, true);
});

Deno.test("from a worktree its project's are meant; commits stay with their branch, and none is lost", async () => {
  await using project = await scratch(FILES, { git: true });
  const { path } = await (await of(project.root)).make("one");
  const inside = await of(path);
  assert.deepEqual([inside.origin, inside.here, await inside.name(undefined)], [project.root, "one", "one"]);
  assert.equal(dirname((await inside.make("two")).path), dirname(path), "beside it, not in it");
  await assert.rejects(
    (await of(project.root)).name(undefined),
    /^Error: Which worktree\? There are: one, two\.$/,
  );
  await assert.rejects(inside.name("..x"), /^Error: No worktree has the name \.\.x\. There are: one, two\.$/);
  await Deno.writeTextFile(join(path, "a.txt"), "committed\n");
  await git(path, "commit", "--quiet", "--all", "--message=One");
  const { files, ignored, commits } = await lossOf(inside, "one");
  assert.deepEqual([files, ignored, commits], [1, 0, 1]);
  await project.write("a.txt", "committed\n");
  assert.deepEqual(await inside.remove("one", undefined, never), {
    removed: true,
    branch: "agent/one",
    commits: 1,
  });
  assert.match(await branches(project), /agent\/one/);
  const two = join(dirname(path), "two");
  await git(two, "switch", "--quiet", "--detach");
  await git(two, "commit", "--quiet", "--allow-empty", "--message=Lost");
  const trees = await of(project.root);
  await assert.rejects(trees.remove("two", undefined, never), /commits that no branch has/);
  await git(two, "switch", "--quiet", "agent/two");
  await git(two, "worktree", "lock", two);
  await assert.rejects(
    trees.remove("two", undefined, never),
    /it is locked\. Unlock it: git worktree unlock /,
  );
  assert.equal(await Deno.readTextFile(join(two, "a.txt")), "a\nb\n");
});

Deno.test("a worktree with any file that git does not have stays, until the user agrees to lose just these", async () => {
  await using project = await scratch({ ...FILES, ".gitignore": "node_modules\n*.log\n" }, { git: true });
  const trees = await of(project.root);
  const { path } = await trees.make("fix");
  const put = async (name: string, text: string) => {
    await Deno.mkdir(dirname(join(path, name)), { recursive: true });
    await Deno.writeTextFile(join(path, name), text);
  };
  // Git compares no file with these marks.
  await git(path, "update-index", "--skip-worktree", "a.txt");
  await git(path, "update-index", "--assume-unchanged", "same.txt");
  const made = {
    "node_modules/x/index.js": "12345",
    "run.log": "log",
    "a.txt": "mine\n",
    "same.txt": "my\n",
  };
  for (const [name, text] of Object.entries(made)) await put(name, text);
  const first = await lossOf(trees, "fix");
  assert.deepEqual([first.files, first.ignored, first.size], [0, 4, 16]);
  assert.deepEqual((await trees.list()).map(({ ignored, size }) => [ignored, size]), [[4, 16]]);

  // Made or changed after the user was asked.
  await put("node_modules/y.js", "y");
  const second = await lossOf(trees, "fix", first.listing);
  assert.deepEqual([second.ignored, second.size], [5, 17]);
  await put("run.log", "gol");
  const third = await lossOf(trees, "fix", second.listing);
  // While what runs there is stopped.
  const late = () => put("late.txt", "late");
  const fourth = await trees.remove("fix", third.listing, late);
  assert.ok(!fourth.removed && fourth.files === 1);
  for (const [name, text] of Object.entries({ ...made, "run.log": "gol", "late.txt": "late" })) {
    assert.equal(await Deno.readTextFile(join(path, name)), text);
  }
  // A repository of its own, with all that is in it.
  await git(path, "init", "--quiet", "nested");
  await put("nested/deep/file", "deep");
  const last = await lossOf(trees, "fix", fourth.listing);
  assert.ok(last.ignored > fourth.ignored, "its own files, too");
  assert.equal((await trees.remove("fix", last.listing, never)).removed, true);
  await assert.rejects(Deno.lstat(path), Deno.errors.NotFound);
  assert.deepEqual([await branches(project), await trees.list()], ["main", []]);
});

Deno.test("the removal deletes only what the listing names; one that was cut off is put back", async () => {
  await using project = await scratch(FILES, { git: true });
  const trees = await of(project.root);
  const { path } = await trees.make("fix");
  const listing = await listDisk(path);
  await Deno.writeTextFile(join(path, "part/new"), "new");
  assert.equal(await removeListed(path, listing), false);
  assert.equal(await Deno.readTextFile(join(path, "part/new")), "new");
  assert.equal(await git(path, "status", "--porcelain"), "?? part/new");
  await Deno.rename(path, join(dirname(path), ".fix.removing"));
  assert.deepEqual((await trees.list()).map(({ name, files }) => [name, files]), [["fix", 1]]);
  assert.equal(await Deno.readTextFile(join(path, "part/new")), "new");
});

Deno.test("line ends, encodings, LFS pointers and submodules: as git would check them out, and git finds nothing changed", async () => {
  const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n";
  await using project = await scratch({
    ".gitattributes":
      "*.bat text eol=crlf\n*.utf16 text working-tree-encoding=UTF-16LE-BOM eol=lf\n*.bin filter=lfs -text\n",
    "run.bat": "echo one\r\necho two\r\n",
    "wide.utf16": new Uint8Array([0xff, 0xfe, 0x61, 0, 0x0a, 0]),
    "large.bin": pointer,
    "plain.txt": "one\n",
  }, { git: true });
  await using other = await scratch({ "s.txt": "s\n" }, { git: true });
  const add = ["-c", "protocol.file.allow=always", "submodule", "add", "--quiet", other.root, "deps/sub"];
  await git(project.root, ...add);
  await git(project.root, "commit", "--quiet", "--all", "--message=With a submodule");
  const { path, filters, submodules } = await (await of(project.root)).make("ends");
  assert.deepEqual([filters, submodules], [["lfs", "mine"], ["deps/sub"]]);
  const bytes = (name: string) => Deno.readFile(join(path, name));
  assert.deepEqual(await bytes("run.bat"), await Deno.readFile(project.path("run.bat")));
  assert.deepEqual(await bytes("wide.utf16"), await Deno.readFile(project.path("wide.utf16")));
  assert.equal(new TextDecoder().decode(await bytes("large.bin")), pointer);
  assert.equal(await git(path, "status", "--porcelain"), "");
});
