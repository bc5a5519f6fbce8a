/**
 * Traps of git that a command leaves in the project: the user's own git, run afterwards in every folder, must run
 * none of them. Each line is run without any sandbox, as if all mounts had failed: what holds here is the sweep alone.
 */
import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { gitGuards, sweepAfterCrash } from "../../denops/agent/supervisor/git/guard.ts";
import type { CommandLevel } from "../../denops/agent/protocol/commands.ts";
import { git, type Scratch, scratch, waitUntil } from "../support/project.ts";
import { sample } from "../support/sample.ts";

/** A project with a submodule, a clone with hooks and settings of the user's own, and a bare repository. */
interface World extends AsyncDisposable {
  readonly project: Scratch;
  /** The program that traps run: it writes its arguments below. */
  readonly trap: string;
  readonly ran: Scratch;
  readonly state: Scratch;
}

/** Made once; each world is a copy. */
let made: Promise<Scratch> | undefined;

Deno.test.afterAll(async () => {
  await (await made)?.[Symbol.asyncDispose]();
});

async function template(): Promise<Scratch> {
  // Its git is the user's own, which is to meet the traps of the command alone.
  const plain = { git: true, mined: false };
  const folder = await scratch({ "a.txt": "a\n", "lib/b.txt": "b\n" }, plain);
  await using source = await scratch({ "m.txt": "m\n" }, plain);
  const { root } = folder;
  await git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source.root, "module");
  await git(root, "commit", "--quiet", "--message=Module");
  await git(root, "clone", "--quiet", source.root, "clone");
  await git(root, "clone", "--quiet", "--bare", source.root, "fixtures/bare.git");
  return folder;
}

async function world(): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const ran = stack.use(await scratch());
  const state = stack.use(await scratch());
  const project = stack.use(await scratch());
  made ??= template();
  await new Deno.Command("cp", { args: ["-a", `${(await made).root}/.`, project.root] }).output();
  const trap = ran.path("trap");
  await ran.write("trap", `#!/bin/sh\necho "$0 $*" >> ${ran.root}/ran\n`);
  await ran.write("own", `#!/bin/sh\necho own >> ${ran.root}/own-ran\n`);
  for (const name of ["trap", "own"]) await Deno.chmod(ran.path(name), 0o755);
  const own = ran.path("own");
  await project.write(
    "clone/.git/config",
    `${await project.read("clone/.git/config")}[core]\nfsmonitor = ${own}\n[alias]\nown = !${own}\n`,
  );
  await Deno.copyFile(own, project.path("clone/.git/hooks/post-checkout"));
  const owned = stack.move();
  return { project, trap, ran, state, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** What a user does who looks around: git in each folder that it could take for a repository's. */
async function lookAround({ project, ran }: World): Promise<void> {
  const folders = [project.root];
  const places: string[] = [];
  for (const folder of folders) {
    const names: string[] = [];
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      names.push(name);
      if (isDirectory && name !== "objects") folders.push(join(folder, name));
    }
    if (names.includes(".git") || names.includes("HEAD")) places.push(folder);
  }
  // Files that have changed are read again, by filters too.
  await Deno.utime(project.path("a.txt"), new Date(), new Date());
  const looks = [
    "status",
    "diff",
    "add --all",
    "commit --allow-empty --quiet --message=x",
    "checkout --quiet -B other",
    "fetch --all",
  ];
  // Nothing goes on after its command.
  const user = "gc.auto=0 maintenance.auto=false user.name=Test user.email=test@example.invalid"
    .split(" ").map((setting) => `-c ${setting}`).join(" ");
  // One shell for all of them: starting each from here takes longer than git does.
  const script = `ran=$1; shift; for place; do cd "$place" || continue
${looks.map((look) => `[ -e "$ran" ] && exit; git ${user} ${look}`).join("\n")}
done`;
  const inherited = Object.entries(Deno.env.toObject()).filter(([name]) => !name.startsWith("GIT_"));
  await new Deno.Command("sh", {
    args: ["-c", script, "sh", ran.path("ran"), ...places.filter((path) => !path.endsWith("/logs"))],
    env: { ...Object.fromEntries(inherited), GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
    clearEnv: true,
    stdin: "null",
  }).output();
}

async function run(line: string, { project, trap }: World): Promise<void> {
  const env = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", TRAP: trap };
  const args = [
    "-euc",
    `g() { git -c user.name=a -c user.email=a@b -c core.hooksPath=/dev/null "$@"; }\n${line}`,
  ];
  const { success, stderr } = await new Deno.Command("sh", { args, cwd: project.root, env }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

const exists = (path: string) => Deno.lstat(path).then(() => true, () => false);
const hasRun = ({ ran }: World) => exists(ran.path("ran"));

/** Files of a bare repository in `evil`, whose settings name a program; its work tree is around it. */
const PLANT = `mkdir -p evil/objects evil/refs evil/hooks; echo ref: refs/heads/x > evil/HEAD
printf '[core]\\nrepositoryformatversion = 0\\nbare = false\\nworktree = ..\\nfsmonitor = %s\\n' "$TRAP" > evil/config`;

interface Attack {
  readonly name: string;
  readonly line: string;
  readonly level?: CommandLevel;
  /** What is put aside, as the report names it. */
  readonly says: RegExp;
}

const ATTACKS: readonly Attack[] = [
  {
    name: "a repository with a setting that names a program",
    line: 'git init -q sub; git -C sub config core.fsmonitor "$TRAP"',
    says: /^settings of sub\/\.git\/config were put aside, for core\.fsmonitor /,
  },
  {
    name: "a hook in a new repository",
    line: 'git init -q sub; cp "$TRAP" sub/.git/hooks/post-checkout; touch sub/f',
    says: /^sub\/\.git\/hooks\/post-checkout was put aside, for git runs it automatically\./,
  },
  {
    name: "the folder of hooks as a link",
    line:
      'git init -q sub; rm -r sub/.git/hooks; mkdir h; cp "$TRAP" h/post-checkout; ln -s ../../h sub/.git/hooks',
    says: /^sub\/\.git\/hooks was put aside/,
  },
  {
    name: "hooks moved by a setting, in a folder that packages are in",
    line:
      'git init -q node_modules/p; mkdir h; cp "$TRAP" h/post-commit; git -C node_modules/p config core.hooksPath "$PWD/h"',
    says: /^settings of node_modules\/p\/\.git\/config .*core\.hookspath/,
  },
  {
    name: "settings of another file",
    line:
      'git init -q sub; printf "[core]\\nfsmonitor=%s\\n" "$TRAP" > harmless; git -C sub config include.path ../../harmless',
    says: /^settings of sub\/\.git\/config .*include\.path/,
  },
  {
    name: "settings of another file, on a condition",
    line:
      'git init -q sub; printf "[core]\\nfsmonitor=%s\\n" "$TRAP" > harmless; git -C sub config includeIf.gitdir:/.path ../../harmless',
    says: /^settings of sub\/\.git\/config .*includeif/,
  },
  {
    name: "a filter",
    line: 'git init -q sub; git -C sub config filter.x.clean "$TRAP"; echo "* filter=x" > sub/.gitattributes',
    says: /^settings of sub\/\.git\/config .*filter\.x\.clean/,
  },
  {
    name: "a driver of differences",
    line: "git init -q sub; echo a > sub/a; g -C sub add a; g -C sub commit -qm a; echo b > sub/a; " +
      'git -C sub config diff.x.command "$TRAP"; echo "a diff=x" > sub/.gitattributes',
    says: /^settings of sub\/\.git\/config .*diff\.x\.command/,
  },
  {
    name: "settings of a work tree",
    line: "git init -q sub; git -C sub config extensions.worktreeConfig true; " +
      'printf "[core]\\nfsmonitor=%s\\n" "$TRAP" > sub/.git/config.worktree',
    says: /^settings of sub\/\.git\/config\.worktree/,
  },
  {
    name: "a command that connects",
    line:
      'git init -q sub; git -C sub remote add origin "ssh://x/y"; git -C sub config core.sshCommand "$TRAP"',
    says: /^settings of sub\/\.git\/config .*core\.sshcommand/,
  },
  {
    name: "a program on the other side",
    line:
      'git init -q sub; git -C sub remote add origin /x; git -C sub config remote.origin.uploadpack "$TRAP"',
    says: /^settings of sub\/\.git\/config .*remote\.origin\.uploadpack/,
  },
  {
    name: "a bare repository",
    line: `${PLANT}; sed -i "s|= \\.\\.|= $PWD/evil|" evil/config`,
    says: /^settings of evil\/config/,
  },
  {
    name: "a file .git that names a planted repository",
    line: `${PLANT}; mkdir sub; echo "gitdir: ../evil" > sub/.git`,
    says: /^settings of evil\/config/,
  },
  {
    name: "a file .git that names one inside of the project's own",
    line:
      `${PLANT}; mv evil .git/evil; sed -i 's|= \\.\\.|= ../..|' .git/evil/config; mkdir sub; echo "gitdir: ../.git/evil" > sub/.git`,
    says: /^settings of \.git\/evil\/config/,
    level: "git",
  },
  {
    name: "a link .git",
    line: `${PLANT}; mkdir sub; ln -s ../evil sub/.git`,
    says: /^settings of evil\/config|^sub\/\.git was put aside/,
  },
  {
    name: "a file .git that leads out of the project",
    line: `mkdir -p sub "\${TRAP%/*}/out"; ${
      PLANT.replaceAll("evil", '"${TRAP%/*}/out"')
    }; echo "gitdir: \${TRAP%/*}/out" > sub/.git`,
    says: /^sub\/\.git was put aside, for it leads git out of the project/,
  },
  {
    name: "a common folder elsewhere",
    line: `git init -q sub; ${PLANT}; rm evil/HEAD; echo ../../evil > sub/.git/commondir`,
    says: /^sub\/\.git\/commondir was put aside, for it moves git's hooks and configuration/,
  },
  {
    name: "a common folder of the project's own repository elsewhere",
    line: `${PLANT}; rm evil/HEAD; echo ../evil > .git/commondir`,
    says: /^\.git\/commondir was put aside/,
    level: "git",
  },
  {
    name: "a submodule in the index, which git looks into by itself",
    line:
      'git init -q sub; touch sub/a; g -C sub add a; g -C sub commit -qm a; git add sub 2>/dev/null; git -C sub config core.fsmonitor "$TRAP"',
    says: /^settings of sub\/\.git\/config/,
    level: "git",
  },
  {
    name: "a hook of the project's submodule",
    line: 'cp "$TRAP" .git/modules/module/hooks/post-checkout',
    says: /^\.git\/modules\/module\/hooks\/post-checkout was put aside/,
    level: "git",
  },
  {
    name: "submodules moved away, with others in their place",
    line:
      'mv .git/modules .git/m; mkdir .git/modules; cp -r .git/m/module .git/modules/module; git -C module config core.fsmonitor "$TRAP"',
    says: /^settings of \.git\/modules\/module\/config/,
    level: "git",
  },
  {
    name: "a new setting in the user's own clone",
    line: 'git -C clone config diff.external "$TRAP"; echo changed > clone/m.txt',
    says: /^settings of clone\/\.git\/config were put aside, for diff\.external /,
  },
  {
    name: "another hook in the place of the user's own",
    line: 'cp "$TRAP" clone/.git/hooks/post-checkout',
    says: /^clone\/\.git\/hooks\/post-checkout was put aside/,
  },
  {
    name: "a clone moved away, with another in its place",
    line: 'mv clone old; git init -q clone; git -C clone config core.fsmonitor "$TRAP"',
    says: /^settings of clone\/\.git\/config/,
  },
  {
    name: "a setting in a bare repository that was there",
    line:
      'git -C fixtures/bare.git config core.fsmonitor "$TRAP"; git -C fixtures/bare.git config core.bare false; git -C fixtures/bare.git config core.worktree ..',
    says: /^settings of fixtures\/bare\.git\/config/,
  },
];

for (const { name, line, says, level = "write" } of sample(ATTACKS, 7)) {
  Deno.test({
    name: `a command leaves for git: ${name}`,
    ignore: Deno.build.os === "windows",
    async fn() {
      {
        await using open = await world();
        await run(line, open);
        await lookAround(open);
        assert.ok(await hasRun(open), "the trap is none");
      }
      await using held = await world();
      const guard = await gitGuards([held.project.root], level, held.state.root);
      await run(line, held);
      const said = await guard.sweep();
      await lookAround(held);
      const why = await exists(held.ran.path("ran")) ? await held.ran.read("ran") : "";
      assert.equal(why, "", said.join("\n"));
      assert.match(said.join("\n"), new RegExp(says.source, "m"));
      assert.ok(said.every((text) => !text.includes("could not")), said.join("\n"));
    },
  });
}

/** Names and contents of all that git could obey, links as what they name. */
async function everything(folder: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for await (const { name, isDirectory, isSymlink } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) Object.assign(found, await everything(path), { [path]: "folder" });
    else {found[path] = isSymlink
        ? await Deno.readLink(path)
        : new TextDecoder("latin1").decode(await Deno.readFile(path));}
  }
  return found;
}

for (const level of ["look", "write", "git"] as const) {
  Deno.test(`what was there before stays as it was, also after the mounts; level: ${level}`, async () => {
    await using here = await world();
    const before = await everything(here.project.root);
    const guards = [];
    // Several commands at once.
    for (let count = 0; count < 3; count++) {
      guards.push(await gitGuards([here.project.root], level, here.state.root));
    }
    for (const guard of guards) {
      for (const path of [...guard.bound, ...guard.guarded]) assert.ok(await exists(path), path);
    }
    if (level === "git") {
      const parts = ["config", "hooks", "commondir", "config.worktree"];
      for (const folder of [".git", ".git/modules/module"]) {
        for (const part of parts) {
          for (const { guarded } of guards) {
            assert.ok(guarded.includes(here.project.path(folder, part)), part);
          }
        }
      }
      // Git works all the same.
      assert.equal(await git(here.project.root, "status", "--porcelain"), "?? clone/\n?? fixtures/");
      assert.equal(await git(here.project.path("module"), "log", "--format=%s"), "Start");
    }
    if (level === "write") assert.deepEqual(guards[0]?.guarded, [here.project.path(".git")]);
    for (const guard of guards) {
      assert.ok(level !== "git" || await exists(here.project.path(".git/commondir")));
      assert.deepEqual(await guard.sweep(), []);
    }
    const after = await everything(here.project.root);
    // To look at it git writes its index.
    const isIndex = (path: string) => /[\\/]index$/.test(path);
    for (const path of Object.keys(after).filter(isIndex)) assert.ok(path in before);
    const plain = (files: typeof before) =>
      Object.fromEntries(Object.entries(files).filter(([path]) => !isIndex(path)));
    assert.deepEqual(plain(after), plain(before));
  });
}

Deno.test("what a command does with git in good faith is left alone", async () => {
  await using here = await world();
  const guard = await gitGuards([here.project.root], "git", here.state.root);
  await run(
    `mv clone moved; git clone -q moved again; git init -q new; git -C new config user.name x
     git -C new config core.fsmonitor true; git -C new remote add origin https://example.invalid/a.git
     git -C new config branch.main.remote origin; git worktree add -q tree; git clone -q --bare moved x.git
     git -c protocol.file.allow=always submodule --quiet add "$PWD/moved" second; g commit -qam second`,
    here,
  );
  assert.deepEqual(await guard.sweep(), []);
  assert.ok(await exists(here.project.path("moved/.git/hooks/post-checkout")));
  await git(here.project.path("moved"), "own");
  assert.ok(await exists(here.ran.path("own-ran")));
});

Deno.test("what was put aside can be brought back as the line says", async () => {
  await using here = await world();
  await run('git init -q "it\'s"', here);
  const guard = await gitGuards([here.project.root], "write", here.state.root);
  const wanted = '[alias]\n\tx = !echo back\n[user]\n\tname = "a \\"b\\" \\\\ c"\n';
  await run(`cp "$TRAP" "it's/.git/hooks/pre-push"`, here);
  await Deno.writeTextFile(here.project.path("it's/.git/config"), wanted);
  const said = await guard.sweep();
  assert.equal(said.length, 2);
  const cleaned = here.project.path("it's/.git/config");
  assert.equal(await git("/", "config", "--file", cleaned, "user.name"), 'a "b" \\ c');
  await assert.rejects(git("/", "config", "--file", cleaned, "alias.x"));
  for (const text of said) {
    const [, line] = /To restore: (mv .*)$/.exec(text) ?? [];
    assert.ok(line !== undefined);
    await run(line, here);
  }
  assert.equal(await here.project.read("it's/.git/config"), wanted);
  assert.ok(await exists(here.project.path("it's/.git/hooks/pre-push")));
});

Deno.test("a trap is swept while the command still runs", async () => {
  await using here = await world();
  const guard = await gitGuards([here.project.root], "write", here.state.root);
  await run('git init -q sub; cp "$TRAP" sub/.git/hooks/post-checkout', here);
  await waitUntil(
    "the hook to be gone",
    async () => !await exists(here.project.path("sub/.git/hooks/post-checkout")),
  );
  assert.match((await guard.sweep()).join("\n"), /^sub\/\.git\/hooks\/post-checkout was put aside/);
});

Deno.test("a supervisor that dies leaves nothing: the next start sweeps, and removes what was made", async () => {
  await using here = await world();
  const { project, state } = here;
  const module = new URL("../../denops/agent/supervisor/git/guard.ts", import.meta.url).href;
  const code = `const { gitGuards } = await import("${module}");
    await gitGuards([${JSON.stringify(project.root)}], "git", ${JSON.stringify(state.root)});
    console.log("guarded");
    await new Promise((resolve) => setTimeout(resolve, 60_000));`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--no-check", "-"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(code));
  await writer.close();
  for await (const _ of child.stdout) break;
  assert.ok(await exists(project.path(".git/commondir")));
  await run('git init -q sub; git -C sub config core.fsmonitor "$TRAP"', here);
  // As long as it lives, its command may run.
  assert.deepEqual(await sweepAfterCrash(project.root, state.root), []);
  assert.ok(await exists(project.path(".git/commondir")));
  child.kill("SIGKILL");
  await child.status;
  assert.match(
    (await sweepAfterCrash(project.root, state.root)).join("\n"),
    /^settings of sub\/\.git\/config/,
  );
  for (const name of ["commondir", "config.worktree"]) {
    assert.ok(!await exists(project.path(".git", name)), name);
  }
  assert.deepEqual(await sweepAfterCrash(project.root, state.root), []);
  await lookAround(here);
  assert.ok(!await hasRun(here));
});

Deno.test("of a linked worktree and of a submodule the repository is mounted, of what only says so nothing", async () => {
  await using here = await world();
  await using beside = await scratch();
  const { project, state } = here;
  await git(project.root, "worktree", "add", "--quiet", beside.path("one"));
  await git(project.root, "worktree", "add", "--quiet", beside.path("two"));
  const common = project.path(".git");
  const guard = async (root: string, level: CommandLevel) => {
    const { sweep, ...mounts } = await gitGuards([root], level, state.root);
    assert.deepEqual(await sweep(), []);
    return mounts;
  };
  const one = beside.path("one");
  assert.deepEqual(await guard(one, "look"), { bound: [], guarded: [common] });
  assert.deepEqual(await guard(one, "write"), { bound: [], guarded: [join(one, ".git"), common] });
  const { bound, guarded } = await guard(one, "git");
  for (const path of [common, join(common, "worktrees/one")]) assert.ok(bound.includes(path), path);
  const closed = [
    join(one, ".git"),
    ...["config", "hooks", "worktrees/two", "worktrees/one/commondir"].map((name) => join(common, name)),
  ];
  for (const path of closed) assert.ok(guarded.includes(path), path);
  assert.ok(!bound.includes(join(common, "worktrees/two")));
  const module = join(common, "modules/module");
  assert.deepEqual(await guard(project.path("module"), "write"), {
    bound: [],
    guarded: [project.path("module/.git"), module],
  });
  assert.deepEqual((await guard(project.path("module"), "git")).bound, [module]);
  // A command may have written these.
  await using forged = await scratch({ ".git": `gitdir: ${module}\n`, "link/a": "" });
  await Deno.symlink(common, forged.path("link/.git"));
  for (const level of ["look", "write", "git"] as const) {
    for (const root of [forged.root, forged.path("link")]) {
      assert.deepEqual(await guard(root, level), { bound: [], guarded: [] }, `${basename(root)} ${level}`);
    }
  }
});
