import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { suiteOf } from "./debian.ts";
import { withLoader } from "./elf.ts";
import { ensureTools, type Host, parseNeovimVersion, type ToolName, toolPath } from "./tools.ts";
import { languageServers } from "./language_servers.ts";
import { depsFolder } from "./own_folder.ts";
import { findUnpacked, unpackTools } from "./unpack.ts";

const debian = `ID=debian\nVERSION_CODENAME=bookworm\n`;
const fedora = `NAME="Fedora Linux"\nID=fedora\n`;

/** A Linux with nothing on its PATH and no variables, unless told otherwise. */
function bareHost(changes: Partial<Host> = {}): Host {
  return {
    os: "linux",
    env: () => undefined,
    osRelease: () => Promise.resolve(fedora),
    lookup: () => Promise.resolve(undefined),
    ...changes,
  };
}

async function temporaryFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "agent tools'" }));
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

async function writeScript(path: string, body: string): Promise<string> {
  await Deno.writeTextFile(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return path;
}

/** Calls it with a folder that must stay as it was, and gives the error's message. */
async function refusal(names: readonly ToolName[], host: Host): Promise<string> {
  await using folder = await temporaryFolder();
  const depsDir = join(folder.path, ".deps");
  try {
    await ensureTools(names, { depsDir, host, log: (line) => assert.fail(`logged ${line}`) });
  } catch (error) {
    assert.ok(error instanceof Error);
    await assert.rejects(Deno.stat(depsDir), Deno.errors.NotFound);
    assert.ok(error.message.split("\n").length <= 2, error.message);
    return error.message;
  }
  return assert.fail("nothing was missing");
}

const isUnix = Deno.build.os !== "windows";

Deno.test("the version is read from a release, a nightly build and nothing else", () => {
  assert.deepEqual(parseNeovimVersion("NVIM v0.12.3\nBuild type: Release\n"), [0, 12, 3]);
  assert.deepEqual(parseNeovimVersion("NVIM v0.13.0-dev-12+g1234567\n"), [0, 13, 0]);
  assert.equal(parseNeovimVersion("VIM - Vi IMproved 9.1\n"), undefined);
  assert.equal(parseNeovimVersion(""), undefined);
});

Deno.test({ name: "AGENT_NVIM wins over the PATH", ignore: !isUnix }, async () => {
  await using folder = await temporaryFolder();
  const path = await writeScript(join(folder.path, "my-nvim"), "echo NVIM v1.0.0");
  const host = bareHost({
    env: (name) => name === "AGENT_NVIM" ? path : undefined,
    lookup: () => assert.fail("looked at the PATH"),
  });
  const tools = await ensureTools(["nvim"], { depsDir: folder.path, host, log: () => {} });
  assert.deepEqual(tools.get("nvim"), { name: "nvim", path, source: "env" });
});

Deno.test({ name: "an AGENT_NVIM that is too old or no Neovim is refused", ignore: !isUnix }, async () => {
  await using folder = await temporaryFolder();
  const old = await writeScript(join(folder.path, "old"), "echo NVIM v0.10.4");
  const vim = await writeScript(join(folder.path, "vim"), "echo 'VIM - Vi IMproved 9.1'");
  const advice = "Try one that is 0.12 or newer, or unset AGENT_NVIM.";
  assert.equal(
    await refusal(["nvim"], bareHost({ env: () => old })),
    `Cannot use AGENT_NVIM=${old}: it is Neovim 0.10.4. ${advice}`,
  );
  for (const path of [vim, join(folder.path, "absent")]) {
    const message = await refusal(["nvim"], bareHost({ env: () => path }));
    assert.equal(message, `Cannot use AGENT_NVIM=${path}: it does not run as Neovim. ${advice}`);
  }
});

Deno.test({ name: "a Neovim on the PATH counts only if it is recent", ignore: !isUnix }, async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "nvim");
  const host = bareHost({ lookup: (program) => Promise.resolve(program === "nvim" ? path : undefined) });
  for (const version of ["0.12.0", "0.12.4", "1.2.0"]) {
    await writeScript(path, `echo NVIM v${version}`);
    const tools = await ensureTools(["nvim", "nvim"], { depsDir: folder.path, host, log: () => {} });
    assert.deepEqual([...tools.values()], [{ name: "nvim", path, source: "path" }]);
  }
  await writeScript(path, "echo NVIM v0.11.7");
  assert.match(
    await refusal(["nvim"], host),
    /^Cannot find nvim \(0\.12 or newer\)\. Try Neovim from https:/,
  );
});

Deno.test("where nothing can be fetched, one line says all that is missing and how to get it", async () => {
  const all = ["nvim", "git", "rg", "bwrap", "luacheck"] as const;
  assert.equal(
    await refusal(["git", "rg", "luacheck"], bareHost()),
    "Cannot find git, rg, luacheck. Try your system's packages of git ripgrep luacheck.",
  );
  const ubuntu = bareHost({ osRelease: () => Promise.resolve(`ID=ubuntu\nID_LIKE="debian"\n`) });
  assert.equal(
    await refusal(["bwrap", "luacheck"], ubuntu),
    "Cannot find bwrap, luacheck. Try `apt install bubblewrap lua-check`.",
  );
  assert.equal(
    await refusal(all, bareHost({ os: "darwin", osRelease: () => Promise.resolve("") })),
    "Cannot find nvim (0.12 or newer), git, rg, luacheck. Try `brew install neovim git ripgrep luacheck`.",
  );
  assert.match(
    await refusal(all, bareHost({ os: "windows", osRelease: () => Promise.resolve("") })),
    /Try `winget install Neovim\.Neovim Git\.Git BurntSushi\.ripgrep\.MSVC`, and luacheck from https:/,
  );
});

Deno.test("other systems than Linux do without bwrap", async () => {
  const host = bareHost({ os: "darwin", lookup: (program) => Promise.resolve(`/bin/${program}`) });
  const tools = await ensureTools(["bwrap", "git"], { depsDir: "unused", host, log: () => {} });
  assert.deepEqual([...tools.keys()], ["git"]);
});

Deno.test("Debian's own suite is used with its libraries, any other system gets all from testing", () => {
  assert.deepEqual([suiteOf(debian).name, suiteOf(debian).installed], ["bookworm", "system"]);
  for (const text of ["ID=debian\n", "ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\n", ""]) {
    assert.deepEqual([suiteOf(text).name, suiteOf(text).installed], ["testing", "none"]);
  }
});

Deno.test(
  { name: "what is unpacked is found, also after a move and by two at once", ignore: !isUnix },
  async () => {
    await using folder = await temporaryFolder();
    const before = join(folder.path, "before");
    const depsDir = join(folder.path, "after");
    const log = (line: string) => assert.fail(`logged ${line}`);
    const unpack = async (dir: string) =>
      unpackTools(["rg"], { folder: await depsFolder(dir), suite: suiteOf(debian), log });
    await Deno.mkdir(join(before, "rg/usr/bin"), { recursive: true });
    await writeScript(join(before, "rg/usr/bin/rg"), `echo "$(readlink -f "$0")" "$@"`);
    assert.equal(await findUnpacked("rg", before), undefined);
    await unpack(before);
    assert.equal(await findUnpacked("rg", before), join(toolPath(before), "rg"));

    await Deno.rename(before, depsDir);
    assert.equal(await findUnpacked("rg", depsDir), undefined);
    await Deno.mkdir(join(depsDir, ".new-left-by-a-killed-process"));
    await Promise.all([unpack(depsDir), unpack(depsDir)]);
    const tools = await ensureTools(["rg"], { depsDir, host: bareHost(), log });
    const path = join(toolPath(depsDir), "rg");
    assert.deepEqual(tools.get("rg"), { name: "rg", path, source: ".deps" });
    const { stdout } = await new Deno.Command(path, { args: ["a b", "'"] }).output();
    assert.equal(new TextDecoder().decode(stdout), `${join(depsDir, "rg/usr/bin/rg")} a b '\n`);
    const names = await Array.fromAsync(Deno.readDir(depsDir), ({ name }) => name);
    assert.deepEqual(names.toSorted(), [".lock", "bin", "rg"]);

    await Deno.remove(join(depsDir, "rg"), { recursive: true });
    assert.equal(await findUnpacked("rg", depsDir), undefined);
  },
);

Deno.test(
  {
    name: "through a link to another checkout's folder programs are used, and nothing there changes",
    ignore: !isUnix,
  },
  async () => {
    await using folder = await temporaryFolder();
    const log = (line: string) => assert.fail(`logged ${line}`);
    const theirs = join(folder.path, "theirs/.deps");
    const link = join(folder.path, "ours/.deps");
    await Deno.mkdir(join(theirs, "rg/usr/bin"), { recursive: true });
    await Deno.mkdir(dirname(link));
    await Deno.symlink(theirs, link);
    await writeScript(join(theirs, "rg/usr/bin/rg"), "echo theirs");
    const host = bareHost({
      osRelease: () => Promise.resolve(debian),
      lookup: () => Promise.resolve(undefined),
    });
    const use = () => ensureTools(["rg"], { depsDir: link, host, log });
    const everything = async () => {
      const command = new Deno.Command("find", { args: [theirs, "-printf", "%p %T@ %s %i\\n"] });
      return new TextDecoder().decode((await command.output()).stdout);
    };
    const before = await everything();
    const refused =
      /^Cannot use rg of .*theirs.*: missing there, or made for another folder.*ours.* is a link/;
    await assert.rejects(use(), { message: refused });
    await assert.rejects(languageServers(link), { message: /^Cannot use the language servers of .*theirs/ });
    assert.equal(await everything(), before);

    await unpackTools(["rg"], { folder: await depsFolder(theirs), suite: suiteOf(debian), log });
    const made = await everything();
    const path = join(toolPath(theirs), "rg");
    assert.deepEqual((await use()).get("rg"), { name: "rg", path, source: ".deps" });
    assert.equal(await everything(), made);

    // One program that is a link, in a folder of our own.
    const own = join(folder.path, "own/.deps");
    await Deno.mkdir(own, { recursive: true });
    await Deno.symlink(join(theirs, "rg"), join(own, "rg"));
    const unpack = unpackTools(["rg"], { folder: await depsFolder(own), suite: suiteOf(debian), log });
    await assert.rejects(unpack, { message: /^Cannot change .*own.*rg: it leads to .*theirs/ });
    assert.equal(await everything(), made);
  },
);

Deno.test(
  { name: "a program starts with the loader it was given", ignore: Deno.build.os !== "linux" },
  async () => {
    await using folder = await temporaryFolder();
    const original = await Deno.readFile(await Deno.realPath("/bin/sh"));
    const loader = /\/lib[\w./-]*\/ld-[\w.-]+/.exec(new TextDecoder("latin1").decode(original))?.[0];
    assert.ok(loader !== undefined);
    const copy = join(folder.path, "loader");
    await Deno.copyFile(await Deno.realPath(loader), copy);

    const path = join(folder.path, "sh");
    const once = withLoader(original, join(folder.path, "absent"), "$ORIGIN/lib");
    await Deno.writeFile(path, withLoader(once, copy, "$ORIGIN/lib"), { mode: 0o755 });
    const script = 'while read -r line; do echo "$line"; done < /proc/self/maps; readlink /proc/$$/exe';
    const { stdout } = await new Deno.Command(path, { args: ["-c", script] }).output();
    const lines = new TextDecoder().decode(stdout).trim().split("\n");
    assert.equal(lines.at(-1), path);
    assert.ok(lines.some((line) => line.endsWith(copy)), lines.join("\n"));
    assert.throws(() => withLoader(original, copy, "$ORIGIN/".padEnd(40, "x")), /no room/);
    assert.throws(() => withLoader(new Uint8Array(100), copy, "lib"), /not a 64-bit/);
  },
);
