import assert from "node:assert/strict";
import { scratch, waitUntil } from "../../../../tests/support/project.ts";
import type { Surroundings } from "../../protocol/surroundings.ts";
import { adoptEnvironment } from "../system/neovim_environment.ts";
import { shownIn, surroundings } from "./surroundings.ts";

const RULES = { deny_read: ["**/.env", "secret/**"], read_rules: { deny: [], ask: ["asked/**"] } };

async function git(cwd: string, ...args: readonly string[]): Promise<void> {
  const own = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"];
  const { success, stderr } = await new Deno.Command("git", { args: [...own, ...args], cwd }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

const ALL = ["files", "rules", "branch", "status"] as const;

function look(root: string, changes: Partial<Parameters<typeof surroundings>[1]> = {}) {
  const { signal } = new AbortController();
  const options = { roots: [root], rules: RULES, sandboxed: false, configDir: undefined };
  return surroundings({ facts: [...ALL] }, { ...options, ...changes }, signal);
}

/** On a busy machine some of it comes too late, and is left out. */
function lookInTime(root: string): Promise<Surroundings> {
  return waitUntil("all of it in time", async () => {
    const found = await look(root);
    const isWhole = found.files !== undefined && found.files.late !== true && found.git?.status !== undefined;
    return isWhole && found;
  });
}

Deno.test("files, files of rules and git's view, named from the project's own folder; no word of what may not be read", async () => {
  await using project = await scratch({
    "repo/work/a.ts": "1\n",
    "repo/work/AGENTS.md": "Be kind.\n",
    "repo/work/lib/.github/instructions/ts.instructions.md": "x\n",
    "repo/work/dep/AGENTS.md": "Ignored.\n",
    "repo/work/.gitignore": "dep/\n",
    "repo/work/secret/key.ts": "1\n",
    "repo/work/asked/b.ts": "1\n",
    "repo/work/.env": "KEY=1\n",
    "repo/other.ts": "1\n",
  });
  const root = project.path("repo/work");
  await git(project.path("repo"), "init", "-q");
  await git(project.path("repo"), "add", "work/a.ts", "work/secret", "other.ts");
  await git(project.path("repo"), "commit", "-qm", "one");
  // A repository that names its files otherwise changes nothing.
  await git(project.path("repo"), "config", "status.relativePaths", "false");
  for (const name of ["work/a.ts", "work/secret/key.ts", "other.ts"]) {
    await Deno.writeTextFile(project.path(`repo/${name}`), "2\n");
  }
  const found = await lookInTime(root);
  assert.deepEqual(found.files?.paths.toSorted(), [
    ".gitignore",
    "AGENTS.md",
    "a.ts",
    "lib/.github/instructions/ts.instructions.md",
  ]);
  assert.deepEqual(found.files?.rules, ["AGENTS.md", "lib/.github/instructions/ts.instructions.md"]);
  assert.deepEqual(found.git, {
    branch: "main",
    status: { changed: ["M a.ts", "?? .gitignore", "?? AGENTS.md", "?? lib"], more: 0 },
  });
});

Deno.test("the branch is known from HEAD alone, also of a worktree, and none where a commit is checked out", async () => {
  await using project = await scratch({ "repo/a.ts": "1\n" });
  const repo = project.path("repo");
  await git(repo, "init", "-q");
  await git(repo, "add", ".");
  await git(repo, "commit", "-qm", "one");
  await git(repo, "worktree", "add", "-q", "-b", "agent/x", "../tree");
  const branch = async (root: string) => {
    const options = { roots: [root], rules: RULES, sandboxed: false, configDir: undefined };
    return (await surroundings({ facts: ["branch"] }, options, new AbortController().signal)).git;
  };
  assert.deepEqual(await branch(repo), { branch: "main" });
  assert.deepEqual(await branch(project.path("tree")), { branch: "agent/x" });
  await git(repo, "switch", "-q", "-c", "other");
  assert.deepEqual(await branch(repo), { branch: "other" });
  await git(repo, "switch", "-q", "--detach");
  assert.deepEqual(await branch(repo), {});
});

Deno.test("a repository without a commit has a branch, and no repository is no trouble", async () => {
  await using project = await scratch({ "a.ts": "1\n" });
  assert.equal((await look(project.root)).git, undefined);
  await git(project.root, "init", "-q");
  assert.deepEqual((await lookInTime(project.root)).git, {
    branch: "main",
    status: { changed: ["?? a.ts"], more: 0 },
  });
});

Deno.test("what the user looks at is named only inside of the project, and only if it may be read", async () => {
  await using project = await scratch({ "a.ts": "1\n", ".env": "KEY=1\n", "x\nDate: 1": "" });
  const path = (name: string) => ({ path: project.path(name), modified: true });
  const shown = (current: string) =>
    shownIn({
      current: { ...path(current), line: 3 },
      buffers: [path(".env"), path("a.ts"), path("x\nDate: 1"), { path: "/etc/passwd", modified: false }],
      errors: 1,
      warnings: 0,
      terminal: { command: "sh\u001b[1m", text: "\u001b[31mred\u001b[0m\n$ \n" },
    }, { roots: [project.root], rules: RULES });
  const buffers = ["a.ts", "x Date: 1"].map((path) => ({ path, modified: true }));
  const terminal = { command: "sh", text: "red\n$ \n" };
  assert.deepEqual(shown(".env"), { buffers, errors: 1, warnings: 0, terminal });
  assert.deepEqual(shown("a.ts").current, { path: "a.ts", line: 3, modified: true });
});

Deno.test("the user's own rules come from Neovim's folder of settings", async () => {
  await using project = await scratch({ "config/agent/AGENTS.md": "Use tabs.\n", "work/a.ts": "" });
  const found = await look(project.path("work"), { configDir: project.path("config") });
  assert.equal(found.rules, "Use tabs.\n");
});

Deno.test("a listing that is late is cut: what was found in time is told, and that there is more", async () => {
  await using project = await scratch({
    "bin/rg": "#!/bin/sh\necho a.ts\necho lib/AGENTS.md\nexec sleep 30\n",
    "work/a.ts": "",
  });
  await Deno.chmod(project.path("bin/rg"), 0o755);
  const env = Deno.env.toObject();
  try {
    adoptEnvironment({ ...env, PATH: `${project.path("bin")}:${env.PATH}` });
    const { files } = await look(project.path("work"));
    assert.deepEqual(files, {
      paths: ["a.ts", "lib/AGENTS.md"],
      more: true,
      rules: ["lib/AGENTS.md"],
      late: true,
    });
  } finally {
    adoptEnvironment(env);
  }
});

Deno.test("too many files: a selection of them, and the rules of all", async () => {
  await using project = await scratch({
    "AGENTS.md": "1\n",
    "zzz/deep/AGENTS.md": "2\n",
    "many/AGENTS.md": "3\n",
    "many/0": "",
  });
  // A link costs less than a file.
  for (let at = 1; at < 5_001; at++) Deno.linkSync(project.path("many/0"), project.path(`many/${at}`));
  const files = await waitUntil("a list in time", async () => {
    const { files } = await look(project.root);
    return files !== undefined && files.late !== true && files;
  });
  assert.equal(files.paths.length, 5_000);
  assert.equal(files.more, true);
  assert.deepEqual(files.rules, ["AGENTS.md", "many/AGENTS.md", "zzz/deep/AGENTS.md"]);
});
