/** What the supervisor's own look-ups can reach, and that nothing of a repository runs in them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { changes } from "../../denops/agent/supervisor/project/changes.ts";
import { SearchPlace } from "../../denops/agent/supervisor/project/place.ts";
import { adoptEnvironment } from "../../denops/agent/supervisor/system/neovim_environment.ts";
import { repositoryProblem } from "../../denops/agent/supervisor/system/git/git_view.ts";
import { run } from "../../denops/agent/supervisor/system/run.ts";
import { userGit } from "../../denops/agent/supervisor/system/git/user_git.ts";
import type { SearchRequest } from "../../denops/agent/protocol/search.ts";
import { startAgent } from "../support/agent.ts";
import { waitForChat } from "../support/chat.ts";
import { assertNoMarks } from "../support/mines.ts";
import { DEFAULT_TIMEOUT, git, type Scratch, scratch, within } from "../support/project.ts";
import { sample } from "../support/sample.ts";

const RULES = { deny_read: [], read_rules: { deny: [], ask: [] } };

type Changes = Extract<SearchRequest, { op: "changes" }>;

async function look(root: string, request: Partial<Changes>, sandboxed: boolean): Promise<string> {
  const place = await SearchPlace.find("", { roots: [root], rules: RULES, sandboxed });
  const response = await changes(
    { op: "changes", path: "", ...request },
    place,
    new AbortController().signal,
  );
  return response.op === "changes" ? response.text : "";
}

/** A change of the same size and time as the index knows: only its content tells. */
async function touchChange({ root, path, write }: Scratch): Promise<void> {
  await write("a.txt", "two\n");
  await git(root, "add", "a.txt");
  await write("a.txt", "six\n");
  await Deno.utime(path("a.txt"), new Date(), new Date());
}

for (const sandboxed of [true, false]) {
  Deno.test(`git tells every kind of change, and no program of the repository runs; sandbox: ${sandboxed}`, async () => {
    await using project = await scratch({ "a.txt": "one\n", "sub/b.txt": "b\n" }, { git: true });
    const { root } = project;
    await touchChange(project);
    assert.match(await look(root, {}, sandboxed), /^MM a\.txt\n\n.*-one\n\+six/s);
    assert.match(await look(root, { base: "HEAD" }, sandboxed), /-one\n\+six/);
    assert.match(await look(root, { staged: true }, sandboxed), /-one\n\+two/);
    assert.match(await look(root, { since: "2001-01-01" }, sandboxed), /: Start\n[^]*a\.txt +\| 1 \+/);
    assert.match(await look(root, { query: "one" }, sandboxed), /: Start\n[^]*\+one/);
    await assertNoMarks(root);
  });
}

Deno.test("the mines go off where git reads the repository's settings", async () => {
  const project = await scratch({ "a.txt": "one\n" }, { git: true });
  await touchChange(project);
  const { success } = await new Deno.Command("git", { args: ["status"], cwd: project.root, stdout: "null" })
    .output();
  assert.ok(success);
  await assert.rejects(assertNoMarks(project.root), /A program of the repository ran:\n.*mine/);
  await assert.rejects(async () => await project[Symbol.asyncDispose]());
});

Deno.test("a `.git` that leads elsewhere is not followed, and a submodule's own settings are not read", async () => {
  await using other = await scratch({ "secret.txt": "of others\n" }, { git: true });
  await using project = await scratch({ ".git": `gitdir: ${other.path(".git")}\n` });
  await assert.rejects(look(project.root, { base: "HEAD" }, false), /leads to a repository elsewhere/);

  await using top = await scratch({ "a.txt": "a\n" }, { git: true });
  const add = ["-c", "protocol.file.allow=always", "submodule", "add", "--quiet", other.root, "sub"];
  await git(top.root, ...add);
  const own = top.path(".git/modules/sub/config");
  const ran = top.path("ran");
  await Deno.writeTextFile(
    own,
    `[core]\n\tfsmonitor = touch ${ran}\n[filter "x"]\n\tclean = touch ${ran}\n`,
    {
      append: true,
    },
  );
  await top.write(".git/modules/sub/info/attributes", "* filter=x\n");
  await top.write("sub/secret.txt", "OF OTHERS\n");
  assert.match(await look(top.root, {}, false), /A {2}sub/);
  await assert.rejects(Deno.stat(ran), Deno.errors.NotFound);
});

Deno.test({
  name:
    "a repository of another user is looked at only if the user's own settings name it, and the chat says so",
  ignore: Deno.uid() !== 0,
  async fn() {
    await using agent = await startAgent({ script: "say Hi.", options: "sessions = { title = false }" });
    const { nvim, project: { root, path } } = agent;
    await Deno.chown(path(".git"), 12_345, 12_345);
    await nvim.command("Agent hello");
    await waitForChat(
      nvim,
      "Git is not used here: the repository belongs to another user. To allow it: git config",
    );
    await waitForChat(nvim, "Hi.");
    await using home = await scratch({});
    const before = Deno.env.toObject();
    const own = { ...before, HOME: home.root, GIT_CONFIG_NOSYSTEM: "1" };
    for (const name of ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "XDG_CONFIG_HOME"]) {
      Reflect.deleteProperty(own, name);
    }
    adoptEnvironment(own);
    try {
      await assert.rejects(look(root, {}, true), /belongs to another user/);
      await home.write(".gitconfig", `[safe]\n\tdirectory = ${root}\n`);
      assert.match(await look(root, {}, true), /Nothing has changed/);
    } finally {
      adoptEnvironment(before);
    }
  },
});

/** Stands for git and ripgrep: says what it can reach. */
const PROBE = `#!/bin/sh
cat "$HOME/canary" 2>/dev/null && echo home
touch "$PWD/written" 2>/dev/null && echo project
touch "$HOME/written" 2>/dev/null && test -e "$OUTSIDE" && echo outside
perl -MIO::Socket::UNIX -e 'print "socket\\n" if socket(my $s, 1, 1, 0)' 2>/dev/null
perl -MIO::Socket::INET -e 'print "network\\n" if IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ARGV[0]")' PORT
echo end
`;

Deno.test({
  name: "a look-up sees no file of the user's, makes no Unix socket, reaches no network and writes nothing",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using project = await scratch({ "a.txt": "a\n" });
    await using home = await scratch({ canary: "secret\n" });
    await using listener = Deno.serve({ port: 0, onListen() {} }, () => new Response("here"));
    await using bin = await scratch({
      "bin/rg": PROBE.replace("PORT", String(listener.addr.port)),
    });
    await Deno.chmod(bin.path("bin/rg"), 0o755);
    const before = Deno.env.toObject();
    adoptEnvironment({ ...before, HOME: home.root, PATH: `${bin.path("bin")}:${before.PATH}` });
    try {
      const lines: string[] = [];
      const place = { root: project.root, roots: [project.root], sandboxed: true };
      await run("rg", [], place, new AbortController().signal, (line) => lines.push(line) > 0);
      assert.deepEqual(lines, ["end"]);
      await assert.rejects(Deno.stat(join(project.root, "written")), Deno.errors.NotFound);
    } finally {
      adoptEnvironment(before);
    }
  },
});

/** Mines would lie in what these tests replace: they use plain repositories. */
const ENTRIES = ["HEAD", "config", "index", "objects", "refs", "info", "packed-refs"];

Deno.test("entries of a git folder that lead elsewhere are not followed, and the line names them", async () => {
  await using other = await scratch({ "secret.txt": "of others\n" }, { git: true, mined: false });
  await git(other.root, "pack-refs", "--all");
  for (const name of ENTRIES) {
    await using project = await scratch({ "a.txt": "a\n" }, { git: true, mined: false });
    await Deno.remove(project.path(".git", name), { recursive: true }).catch(() => {});
    await Deno.symlink(other.path(".git", name), project.path(".git", name));
    await assert.rejects(
      look(project.root, { query: "of others" }, false),
      /is a link to a place elsewhere$/,
      name,
    );
  }
});

Deno.test("branches that a setting says lie elsewhere are not looked at", async () => {
  await using project = await scratch({ "a.txt": "a\n" }, { git: true });
  const setting = "[extensions]\n\trefStorage = files:///elsewhere\n";
  await Deno.writeTextFile(project.path(".git/config"), setting, { append: true });
  await assert.rejects(
    look(project.root, {}, false),
    /^Error: extensions\.refstorage names a place elsewhere$/,
  );
});

/** Files of a git folder that the supervisor itself reads. */
const READ = ["HEAD", "config", "commondir", "objects/info/alternates", "info/attributes"];

Deno.test({
  name: "pipes and endless files in a git folder: one line, no waiting",
  ignore: Deno.build.os === "windows",
  async fn() {
    for (const name of READ) {
      for (const kind of ["pipe", "endless"]) {
        await using project = await scratch({ "a.txt": "a\n" }, { git: true, mined: false });
        const path = project.path(".git", name);
        await Deno.remove(path).catch(() => {});
        if (kind === "endless") await Deno.symlink("/dev/zero", path);
        else assert.ok((await new Deno.Command("mkfifo", { args: [path] }).output()).success);
        const { done } = await within(DEFAULT_TIMEOUT, repositoryProblem(project.root, [project.root]));
        assert.ok(done, `${name}, ${kind}`);
      }
    }
  },
});

/** A program, and whether it runs in the sandbox. */
const ENDLESS = [["rg", true], ["git", true], ["git", false], ["rg", false]] as const;

Deno.test({
  name: "ignored names and branches that are endless files: the look-up ends, and the memory is limited",
  ignore: Deno.build.os !== "linux",
  async fn() {
    for (const [program, sandboxed] of sample(ENDLESS, 1)) {
      await using project = await scratch({ "a.txt": "needle\n" }, { git: true, mined: false });
      await Deno.symlink("/dev/zero", project.path(".gitignore"));
      await Deno.symlink("/dev/zero", project.path(".git/refs/heads/endless"));
      const place = { root: project.root, roots: [project.root], sandboxed, longest: 120_000 };
      const args = program === "rg" ? ["needle"] : ["for-each-ref"];
      const { stderr } = await run(program, args, place, new AbortController().signal, () => true);
      assert.match(stderr, /memory/i, `${program} ${sandboxed}`);
    }
  },
});

Deno.test({
  name: "a program in a toolchain's folder does not open the rest of it",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using project = await scratch({ "a.txt": "a\n" });
    await using home = await scratch({
      ".cargo/credentials.toml": "secret\n",
      ".cargo/bin/rg": `#!/bin/sh\ncat "$HOME/.cargo/credentials.toml" 2>/dev/null\necho end\n`,
    });
    await Deno.chmod(home.path(".cargo/bin/rg"), 0o755);
    const before = Deno.env.toObject();
    adoptEnvironment({ ...before, HOME: home.root, PATH: `${home.path(".cargo/bin")}:${before.PATH}` });
    try {
      const lines: string[] = [];
      const place = { root: project.root, roots: [project.root], sandboxed: true };
      await run("rg", [], place, new AbortController().signal, (line) => lines.push(line) > 0);
      assert.deepEqual(lines, ["end"]);
    } finally {
      adoptEnvironment(before);
    }
  },
});

Deno.test("the user's git settings are found wherever git finds them", async () => {
  const settings = "[core]\n\tquotePath = false\n";
  const places = {
    GIT_CONFIG_GLOBAL: "global",
    GIT_CONFIG_SYSTEM: "system",
    XDG_CONFIG_HOME: "xdg",
    HOME: "home",
  };
  await using folder = await scratch({
    global: settings,
    system: settings,
    "xdg/git/config": settings,
    "home/.gitconfig": settings,
  });
  const before = Deno.env.toObject();
  try {
    for (const [name, path] of Object.entries(places)) {
      const { GIT_CONFIG_GLOBAL: _g, GIT_CONFIG_SYSTEM: _s, XDG_CONFIG_HOME: _x, ...others } = before;
      adoptEnvironment({ ...others, HOME: folder.root, [name]: folder.path(path) });
      assert.match((await userGit([])).text, /quotepath = "false"/, name);
    }
  } finally {
    adoptEnvironment(before);
  }
});
