/** Copies in the place of overlays: they tell the same of a turn, and are as closed. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import fc from "fast-check";
import { TurnCopy } from "../../denops/agent/supervisor/commands/overlay/turn_copy.ts";
import { TurnOverlay } from "../../denops/agent/supervisor/commands/overlay/turn_overlay.ts";
import type { TurnRoots } from "../../denops/agent/supervisor/commands/overlay/turn_roots.ts";
import { startAgent } from "../support/agent.ts";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import { agentProgram } from "../support/foreign/program.ts";
import { sandboxedShell } from "../support/foreign/sandboxed_shell.ts";
import { DEFAULT_TIMEOUT, type Scratch, scratch, waitUntil } from "../support/project.ts";
import { leftovers } from "../support/rehearsal.ts";
import { IS_FULL } from "../support/sample.ts";
import { script, sequences, START } from "../support/shell_sequences.ts";
import { treeOf } from "../support/trees.ts";

const ignore = Deno.build.os !== "linux";
const NOTHING = { folders: [], files: [] };

async function list(turnRoots: TurnRoots) {
  const [found] = await turnRoots.list(AbortSignal.timeout(DEFAULT_TIMEOUT));
  return found?.changes.map(({ path, after }) => `${path}: ${after?.type ?? "deleted"}`).sort();
}

/** Without what git writes differently each time. */
async function changesOf(turnRoots: TurnRoots) {
  const [found] = await turnRoots.list(AbortSignal.timeout(DEFAULT_TIMEOUT));
  const byPath = (a: { readonly path: string }, b: { readonly path: string }) => a.path < b.path ? -1 : 1;
  const isGit = (path: string) => path.startsWith(".git/");
  return {
    changes: found?.changes.filter(({ path }) => !isGit(path)).toSorted(byPath),
    refused: found?.refused.toSorted(byPath),
  };
}

Deno.test({
  name: "random changes of a turn: a list of a copy is that of an overlay, turn after turn",
  ignore,
  async fn() {
    await using project = await scratch(START, { git: true });
    await using state = await scratch();
    const options = { roots: [project.root], state: state.root };
    await using overlay = await TurnOverlay.start({ ...options, store: "disk" }, NOTHING);
    await using copy = await TurnCopy.start(options, NOTHING);
    await using overlaid = await sandboxedShell(overlay, project.root, state.root);
    await using copied = await sandboxedShell(copy, project.root, state.root);
    const before = treeOf(project.root, { exact: true });
    const play = async (steps: readonly string[]) => {
      const line = `(cd ${project.root}; ${script(steps)}\n)`;
      for (const [turnRoots, shell] of [[overlay, overlaid], [copy, copied]] as const) {
        await turnRoots.freeze();
        await turnRoots.renew(NOTHING);
        await shell.run(line);
      }
      await overlay.freeze();
      assert.deepEqual(await changesOf(copy), await changesOf(overlay));
    };
    await fc.assert(fc.asyncProperty(sequences, play), { numRuns: IS_FULL ? 300 : 5 });
    assert.deepEqual(treeOf(project.root, { exact: true }), before);
  },
});

Deno.test({
  name: "a copy has the project as it is at the begin of each turn, and nothing that was written before",
  ignore,
  async fn() {
    await using project = await scratch({ "a.txt": "one\n", "d/b.txt": "b\n", "shut/c": "c\n" });
    await using state = await scratch();
    const { root } = project;
    await using copy = await TurnCopy.start({ roots: [root], state: state.root }, NOTHING);
    await using agent = await sandboxedShell(copy, root, state.root);
    await agent.run(`cd ${root}; echo early > early; echo two >> a.txt; rm -r d; chmod 500 shut`);
    await project.write("a.txt", "one\nuser\n");
    await project.write("e/new", "new\n");
    await Deno.remove(project.path("shut"), { recursive: true });
    await copy.renew(NOTHING);
    assert.equal(
      await agent.run(`cd ${root}; cat a.txt d/b.txt e/new; ls`),
      "one\nuser\nb\nnew\na.txt\nd\ne\n",
    );
    assert.deepEqual(await list(copy), []);

    await agent.run(`cd ${root}; echo three >> a.txt; touch -r d/b.txt a.txt; mkdir made; mv d/b.txt made`);
    // The user's new files are not the agent's deletions.
    await project.write("d/later", "user\n");
    assert.deepEqual(await list(copy), [
      "a.txt: file",
      "d/b.txt: deleted",
      "made/b.txt: file",
      "made: folder",
    ]);
    // What was listed stays as it was.
    await agent.run(`cd ${root}; echo four >> a.txt`);
    assert.equal(await Deno.readTextFile(`${copy.upper(0)}/a.txt`), "one\nuser\nthree\n");
    assert.equal(await project.read("a.txt"), "one\nuser\n");
  },
});

Deno.test({
  name: "hidden files are not in a copy, also those that are hidden later, and links lead out of none",
  ignore,
  async fn() {
    await using outside = await scratch({ "secret": "hush\n" });
    await using project = await scratch({ ".env": "hush\n", "keys/one": "hush\n", "later": "hush\n" });
    await using state = await scratch();
    await Deno.symlink(outside.root, project.path("out"));
    const hidden = { folders: [project.path("keys")], files: [project.path(".env")] };
    {
      await using copy = await TurnCopy.start({ roots: [project.root], state: state.root }, hidden);
      await using agent = await sandboxedShell(copy, project.root, state.root);
      await copy.renew({ ...hidden, files: [...hidden.files, project.path("later")] });
      const look =
        `cd ${project.root}; cat .env keys/* later out/*; echo x > .env; mkdir -p keys; echo x > keys/x`;
      assert.doesNotMatch(await agent.run(look), /hush/);
      assert.deepEqual(await list(copy), []);
      assert.doesNotMatch(await agent.run(`rm -r keys; mv .env e; ln -s ${state.root} keys; true`), /hush/);
      await copy.renew(hidden);
      assert.deepEqual(await list(copy), []);
      assert.equal(await project.read("keys/one"), "hush\n");
      assert.equal(await outside.read("secret"), "hush\n");
    }
    assert.deepEqual(leftovers(state.root), []);
  },
});

/** Replaces folders and files of the copy by links out of it, and puts them back, as fast as it can. */
const SWAPS = `my ($out, $stop) = @ARGV; my $n = 0;
until (-e $stop) {
  my $d = "d" . $n++ % 8; my $f = "d0/f" . $n % 8;
  rename $d, "t" and symlink $out, $d; select undef, undef, undef, 0.0002;
  unlink $d; rename "t", $d;
  unlink $f; symlink "$out/secret", $f; select undef, undef, undef, 0.0001;
  unlink $f; open my $h, ">", $f; print $h "mine $n"; close $h; chmod 0, $f if $n % 3 == 0;
}`;
const SWAP_ROUNDS = 15;

Deno.test({
  name: "a program that no signal stops replaces folders by links: nothing behind them is read or changed",
  ignore,
  async fn() {
    const names = (of: string) => [0, 1, 2, 3, 4, 5, 6, 7].map((number) => `${of}${number}`);
    const files = names("f").map((name) => [name, "the user's\n"] as const);
    await using outside = await scratch({
      ...Object.fromEntries(files),
      secret: "hush-4417\n",
      "extra/x": "x",
    });
    for (const path of ["f1", "extra"]) await Deno.chmod(outside.path(path), 0o500);
    await using project = await scratch(
      Object.fromEntries(
        names("d").flatMap((folder) => files.map(([name]) => [`${folder}/${name}`, "old\n"])),
      ),
    );
    await using state = await scratch();
    const { root } = project;
    await using copy = await TurnCopy.start({ roots: [root], state: state.root }, NOTHING);
    await using agent = await sandboxedShell(copy, root, state.root);
    const before = treeOf(outside.root, { exact: true });
    await agent.run(`cd ${root}; perl -e '${SWAPS}' ${outside.root} /tmp/stop >/dev/null 2>&1 &`);
    for (let round = 0; round < SWAP_ROUNDS; round++) {
      // Each may fail, and then keeps nothing.
      await copy.renew(NOTHING).catch(() => {});
      await list(copy).catch(() => {});
      const uppers = await Deno.stat(copy.upper(0)).then(() => treeOf(copy.upper(0)), () => []);
      for (const [path, entry] of uppers) {
        if (!entry.startsWith("file")) continue;
        assert.doesNotMatch(await Deno.readTextFile(`${copy.upper(0)}/${path}`), /hush|the user's/, path);
      }
    }
    assert.deepEqual(treeOf(outside.root, { exact: true }), before);
    await agent.run("touch /tmp/stop; wait");
    await copy.renew(NOTHING);
    assert.deepEqual(await list(copy), []);
    assert.equal(await agent.run(`cat ${root}/d*/f* | sort -u`), "old\n");
  },
});

Deno.test({
  name: "strange names, modes and sizes: a list is the same twice, and nothing of them stays",
  ignore,
  async fn() {
    await using project = await scratch({ "shut/a": "a\n", "b": "b\n" });
    await using state = await scratch();
    const { root } = project;
    {
      await using copy = await TurnCopy.start({ roots: [root], state: state.root }, NOTHING);
      await using agent = await sandboxedShell(copy, root, state.root);
      await agent.run(`cd ${root}; chmod 0 shut b; mkfifo pipe; mkdir -p new/$'\\xff'/in; chmod 0 new/*`);
      const first = await changesOf(copy);
      assert.deepEqual(first.refused?.map(({ path }) => path), ["new/\ufffd", "pipe"]);
      assert.deepEqual(await changesOf(copy), first);
      await agent.run(`cd ${root}; truncate -s 1T huge`);
      await assert.rejects(list(copy), /it wrote more than 2048 MiB/);
      await agent.run(`cd ${root}; chmod 700 new/*; echo x > $'\\xff'`);
      await assert.rejects(copy.renew(NOTHING), /a file whose name is not UTF-8/);
      await agent.run(`cd ${root}; mkdir -p $'\\xfe'/in; chmod 0 $'\\xfe'`);
    }
    assert.deepEqual(leftovers(state.root), []);
  },
});

Deno.test({
  name: "a project that is too large is not copied, and an agent that writes too much is found",
  ignore,
  async fn() {
    await using project = await scratch({ "a.txt": "a\n", "b.txt": "b\n" });
    await using state = await scratch();
    const options = { roots: [project.root], state: state.root, limits: { bytes: 2 ** 20, files: 100 } };
    const most = { bytes: 2 ** 30, files: 1 };
    await assert.rejects(
      TurnCopy.start({ ...options, most }, NOTHING),
      /more than 1 files or 1 GiB, too much to copy/,
    );
    assert.deepEqual(leftovers(state.root), []);
    await using copy = await TurnCopy.start(options, NOTHING);
    await using agent = await sandboxedShell(copy, project.root, state.root);
    assert.equal(await copy.isPastLimits(), false);
    await agent.run(`cd ${project.root}; head -c 1500000 /dev/zero > big`);
    // If another program frees as much space meanwhile, it is counted a little later.
    await waitUntil("it to be found", () => copy.isPastLimits());
    await assert.rejects(list(copy), /it wrote more than 1 MiB/);
    await copy.renew(NOTHING);
    assert.deepEqual(await list(copy), []);
  },
});

/** Enough that a copy of them is not done before a key is pressed. Links: git need not know them, a copy makes files. */
async function writeMany(project: Scratch): Promise<void> {
  await Deno.writeTextFile(project.path(".git/info/exclude"), "/many/\n", { append: true });
  await project.write("many/0", "0\n");
  for (let number = 1; number < 6_000; number++) {
    const folder = project.path("many", `in${number % 50}`);
    if (number <= 50) Deno.mkdirSync(folder);
    Deno.linkSync(project.path("many/0"), `${folder}/${number}`);
  }
}

Deno.test({
  name: "where no overlay can be mounted, another agent works on a copy",
  ignore,
  async fn(test) {
    await using tools = await scratch({ "nsenter": "#!/bin/sh\nexit 1\n" });
    await Deno.chmod(tools.path("nsenter"), 0o755);
    await using program = await agentProgram();
    const steps =
      "sed -i s/Hello/Servus/ src/greet.ts; mkdir -p .github/workflows; echo on > .github/workflows/ci.yml";
    await program.plays("edit", { sh: steps }, { say: "Renamed it." });
    await program.plays("make", { sh: "echo x > made.txt" }, { say: "Made it." });
    await using agent = await startAgent({
      script: "",
      options: `sessions = { title = false }, agent = "scripted", agents = { ${program.row} }`,
      env: { PATH: `${tools.root}:${Deno.env.get("PATH")}` },
      lines: 40,
    });
    const { nvim, project, state } = agent;
    const copies = () =>
      leftovers(state.root).filter((run) => existsSync(state.path(`overlays/${run}/roots/0/many`))).length;

    await test.step("a stop while the project is copied ends the copying, the next message works", async () => {
      await writeMany(project);
      await nvim.command("Agent play make");
      await waitUntil("the copy to begin", () => copies() > 0);
      await nvim.keys("<C-c>");
      await waitForChat(nvim, "Stopped.");
      await waitUntil("the copy to be gone", () => copies() === 0);
      // One is enough for the next copy.
      for (let folder = 0; folder < 50; folder++) {
        await Deno.remove(project.path(`many/in${folder}`), { recursive: true });
      }
      await nvim.command("Agent play make");
      await waitForChat(nvim, "Made it.");
      await waitForTurn(nvim);
      assert.equal(await project.read("made.txt"), "x\n");
    });

    await test.step("changes are kept, asked about and undone", async () => {
      await nvim.command("Agent play edit");
      await nvim.waitForScreen(/ci\.yml[^]*CI runs it[^]*a keep/);
      assert.match(await project.read("src/greet.ts"), /Hello/, "nothing is kept before the answer");
      await nvim.keys("a");
      await waitForTurn(nvim);
      assert.match(await project.read("src/greet.ts"), /Servus/);
      await assert.rejects(Deno.stat(project.path(".github")), Deno.errors.NotFound, "it was not ticked");
      await nvim.command("Agent undo 3");
      await waitUntil("the undo", async () => (await project.read("src/greet.ts")).includes("Hello"));
      await nvim.command("silent! checkhealth agent");
      await nvim.waitFor(`vim.fn.search("they work on a copy of the project: ") > 0`);
    });

    await test.step("a quit leaves no copy", async () => {
      assert.equal(copies(), 1);
      await nvim.quit();
      await waitUntil("the copy to be gone", () => copies() === 0);
    });
  },
});
