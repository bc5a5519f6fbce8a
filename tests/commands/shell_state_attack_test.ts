/** The shell's state between commands, as real commands leave it in their sandbox: hostile claims too. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { judgeCommand } from "../../denops/agent/policy/command.ts";
import { isDeceptive } from "../../denops/agent/policy/deceptive.ts";
import type { CommandAccess, TerminalEnd, TerminalMeta } from "../../denops/agent/protocol/commands.ts";
import { META } from "../../denops/agent/protocol/extensions.ts";
import { lineIn } from "../../denops/agent/engine/tools/commands/shell.ts";
import { checkActivation, shellState } from "../../denops/agent/supervisor/commands/shell_state.ts";
import { commandEnvironment } from "../../denops/agent/supervisor/system/environment.ts";
import { lookups } from "../../denops/agent/supervisor/system/lookups.ts";
import { commandRunner, type Runner } from "../support/command_sandbox.ts";
import { scratch } from "../support/project.ts";
import { rehearsedProject, SESSION } from "../support/rehearsed_project.ts";
import { IS_FULL } from "../support/sample.ts";

const ignore = Deno.build.os !== "linux";

type ShellState = NonNullable<TerminalEnd["shell"]>;

interface Setup extends AsyncDisposable {
  readonly root: string;
  readonly run: Runner["run"];
  /** The state after this line at level try; undefined if the line reported nothing. */
  after(line: string, start?: ShellState): Promise<ShellState | undefined>;
  stateOf(claim: { readonly folder: string; readonly variables: readonly string[] }): Promise<ShellState>;
}

async function setUp(): Promise<Setup> {
  const stack = new AsyncDisposableStack();
  const { root, path } = stack.use(
    await scratch({ "bin/ls": "#!/bin/sh\necho mine\n", "a:b/x": "", "sub/y": "" }),
  );
  const state = stack.use(await scratch({}));
  await Deno.chmod(path("bin/ls"), 0o755);
  await Deno.symlink("/usr", path("outside"));
  await Deno.symlink("a:b", path("colon"));
  const { run } = commandRunner([root], state.root);
  const workspace = { roots: [root], lookups };
  const stateOf: Setup["stateOf"] = (claim) => shellState(claim, commandEnvironment([], "try"), workspace);
  return {
    root,
    run,
    stateOf,
    async after(line, start = { exports: [], dropped: [] }) {
      const options = start.activation === undefined ? {} : { activation: start.activation };
      const { claim } = await run("try", lineIn(start, line), options);
      return claim && await shellState(claim, commandEnvironment([], "try"), workspace);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

Deno.test({
  name: "what a command exports is the state, but the shell's and the host's own variables and secrets",
  ignore,
  async fn() {
    await using setup = await setUp();
    const { root } = setup;
    assert.deepEqual(await setup.after("true"), { exports: [], dropped: [] });
    const exported = await setup.after(
      `export B='two words' A="it's" LD_PRELOAD=/x.so EMPTY= PS4='$(x)' PROMPT_COMMAND=x BASH_ENV=/x ENV=/x IFS=/ CDPATH=/
      export HOME=/tmp TMPDIR=/ HTTPS_PROXY=http://x GIT_CONFIG_COUNT=9 CARGO_TARGET_DIR=/ CI=1 LC_TIME=x XDG_CACHE_HOME=/
      export ANY_TOKEN=t LINES2=$'a\\nb' RTL=$'\u202ex' BYTES=$'\\xff'
      f() { :; }; export -f f; LOCAL=1`,
    );
    assert.deepEqual(exported, {
      exports: [["A", "it's"], ["B", "two words"], ["EMPTY", ""], ["LD_PRELOAD", "/x.so"]],
      dropped: [
        ...[
          "ANY_TOKEN",
          "BYTES",
          "CARGO_TARGET_DIR",
          "GIT_CONFIG_COUNT",
          "HOME",
          "HTTPS_PROXY",
          "LC_TIME",
          "LINES2",
        ],
        ...["RTL", "TMPDIR"],
      ],
    });
    const active = await setup.after(
      `cd sub; export VIRTUAL_ENV=${root}/bin PATH="${root}/bin:../a:b:/etc:${root}/outside/bin:${root}/colon::.:$PATH:${root}"`,
    );
    assert.deepEqual(active, {
      exports: [],
      dropped: ["PATH outside of the project"],
      // "../a" and "b" are two folders, and do not have to exist.
      activation: {
        virtualEnv: `${root}/bin`,
        before: [`${root}/bin`, `${root}/a`, `${root}/sub/b`, `${root}/sub`],
        after: [root],
      },
    });
    for (const value of ["/etc", "../..", `${root}/outside`]) {
      assert.deepEqual(await setup.after(`export VIRTUAL_ENV=${value}`), {
        exports: [],
        dropped: ["VIRTUAL_ENV"],
      });
    }
    // A program of the project is no more than its name says where the level only looks.
    const start = { exports: [], dropped: [], activation: { before: [`${root}/bin`], after: [] } };
    await Deno.writeTextFile(
      `${root}/bin/ls`,
      "#!/bin/sh\necho mine; echo x > made; : >/dev/tcp/1.1.1.1/80\n",
    );
    const { output } = await setup.run("look", "ls", { activation: start.activation });
    assert.match(output, /^mine\n.*made: Read-only file system/);
    assert.deepEqual(await setup.after("unset A; PATH=${PATH#*:}", start), { exports: [], dropped: [] });
  },
});

Deno.test("no form of a secret carries, nor a copy of a secret of the host's under another name", async () => {
  const random = "Zq7" + "x9Kd02LmNv84TrYpWc31";
  const host = { PATH: "/bin", HOME: "/home/me", PGPASSWORD: "hunter22", PWD: "/project", APP_KEY: "short" };
  const secrets = [
    ...["npm_", "hf_", "AIza", "SG.", "ghp_", "xoxd-"].map((prefix) => prefix + random),
    ...[
      `AKIA${"ZQ7KDLMN"}VTRYPWC2`,
      `eyJ${random}.${random}.x`,
      `Bearer ${random}`,
      `Server=a;Password=${random}`,
    ],
    ...[
      `postgres://u:${random}@h/d`,
      `redis://:${random}@h`,
      `u:${random}@tcp(h:1)/d`,
      "x=hunter22;",
      "hunter22",
    ],
  ].map((value, at) => [`V${at}`, value] as const);
  const plain = [["COPY", "/home/me"], ["DIR", "/project/target"], ["NAME", "shortcut"]] as const;
  const variables = [...plain, ...secrets].map(([name, value]) => `${name}=${value}`);
  const claim = { folder: "/project", variables: [...variables, "PATH=/bin"] };
  const { exports } = await shellState(claim, host, { roots: ["/project"], lookups });
  assert.deepEqual(exports, plain);
});

Deno.test({
  name: "claims that are forged, cut, too large or missing carry nothing that could not be exported",
  ignore,
  async fn() {
    await using setup = await setUp();
    const tooLarge = (state: ShellState | undefined) => {
      assert.deepEqual(state?.exports, []);
      assert.equal(state.activation, undefined);
      assert.match(state.dropped.join(), /^all variables, which are more than 32 or 4096 characters$/);
    };
    tooLarge(await setup.after("export BIG=$(head -c 10000000 /dev/zero | tr '\\0' x)"));
    tooLarge(
      await setup.after("for i in {1..3000}; do export V$i=0123456789012345678901234567890123456789; done"),
    );
    tooLarge(await setup.after("for i in {1..33}; do export V$i=1; done"));
    tooLarge(await setup.after("export V=$(printf %04096d 0)"));
    const forge = (text: string) => setup.after(`trap 'printf "${text}" >&5' EXIT`);
    assert.deepEqual(
      await forge(
        "\\0/etc\\0PATH=/evil:/etc\\0VIRTUAL_ENV=/etc\\0A=1\\0=x\\0B\\0__proto__=1\\0C D=1\\0A=2\\0",
      ),
      { exports: [["A", "2"]], dropped: ["PATH outside of the project", "VIRTUAL_ENV"] },
    );
    for (const text of ["", "x", "\\0", "\\0/etc"]) assert.equal(await forge(text), undefined, text);
    tooLarge(await forge("\\0/etc\\0A=1"));
    tooLarge(await forge("\\0/etc\\0\\0A=1\\0"));
    // Nobody else has the descriptor, also later.
    assert.deepEqual(
      await setup.after(
        `{ printf '\\0/etc\\0A=1\\0' >&5; } 2>/dev/null; (sleep 0.1; printf '\\0/\\0B=1\\0' >&5) & export C=1`,
      ),
      { exports: [["C", "1"]], dropped: [] },
    );
    for (const line of ["export A=1; exec true", "export A=1; kill -9 $$"]) {
      assert.equal(await setup.after(line), undefined, line);
    }
    const traced = await setup.run("try", "set -eux; export A=1; exit 3");
    assert.deepEqual(traced.end, { type: "exited", code: 3 });
    assert.equal(traced.output, "++ export A=1\n++ A=1\n++ exit 3\n");
    assert.ok(traced.claim?.variables?.includes("A=1"));
    assert.equal(
      (await setup.run("try", "env() { echo x; }; PATH=; export -f env")).output,
      "",
    );
    const removed = await setup.run("try", "export A=1; false");
    assert.deepEqual(removed.end, { type: "exited", code: 1 });
  },
});

Deno.test({
  name: "a command starts only with folders of the workspace on PATH",
  ignore,
  async fn() {
    await using setup = await setUp();
    const { root } = setup;
    const workspace = { roots: [root], lookups };
    await checkActivation(
      { virtualEnv: `${root}/.venv`, before: [`${root}/bin`, root], after: [] },
      workspace,
    );
    for (
      const folder of [
        "/etc",
        "bin",
        `${root}/../x`,
        `${root}/outside`,
        `${root}/colon`,
        `${root}/a:b`,
        `${root}/`,
        ".",
      ]
    ) {
      for (const which of ["before", "after"] as const) {
        const activation = { before: [], after: [], [which]: [folder] };
        await assert.rejects(checkActivation(activation, workspace), /is not in the project/, folder);
      }
      const activation = { virtualEnv: folder, before: [], after: [] };
      await assert.rejects(checkActivation(activation, workspace), /is not in the project/, folder);
    }
  },
});

Deno.test({
  name:
    "no folder but the project's is on the PATH of a command, and what builds its sandbox finds none of them",
  ignore,
  async fn() {
    await using state = await scratch();
    const mark = `#!/bin/sh\n/usr/bin/touch ${state.root}/mark 2>/dev/null; echo mine\n`;
    const programs = "greet sh bash nice bwrap mount umount cat rm mkdir env id sed nsenter ls".split(" ");
    const files = Object.fromEntries(programs.map((one) => [`bin/${one}`, mark]));
    await using started = await rehearsedProject(files);
    const { terminals, project: { root, path } } = started;
    for (const one of programs) await Deno.chmod(path(`bin/${one}`), 0o755);
    const run = async (folder: string, access: CommandAccess, rehearsed = false) => {
      const meta: TerminalMeta = {
        ...{ command: "greet; cat", cwd: root, timeout: 60, access, background: false },
        ...{ rehearsed, toolCallId: "call", activation: { before: [folder], after: [] } },
      };
      const params = { sessionId: SESSION, command: "sh", args: ["-c", meta.command], cwd: root };
      const id = await terminals.create({ ...params, _meta: { [META]: meta } });
      await terminals.waitForExit(id, new AbortController().signal);
      return (await terminals.output(id)).output;
    };
    for (const access of ["look", "try", "write", "git"] as const) {
      for (const rehearsed of access === "try" || access === "write" ? [true, false] : [false]) {
        assert.equal(await run(`${root}/bin`, access, rehearsed), "mine\nmine", access);
      }
    }
    await assert.rejects(Deno.stat(state.path("mark")), Deno.errors.NotFound);
    for (const folder of ["/etc", `${root}/bin:/etc`, `${root}/../etc`, "bin", ""]) {
      await assert.rejects(run(folder, "look"), /not in the project|not in the agreed form/, folder);
    }
  },
});

const name = fc.stringMatching(/^V[A-Za-z0-9_]{0,6}$/)
  .filter((text) => !/KEY|TOKEN|SECRET|PASS|PWD|COOKIE|AUTH/i.test(text));
const value = fc.string({ unit: "grapheme", maxLength: 60 }).filter((text) =>
  !isDeceptive(text) && !/[\t\n\ufffd]/.test(text) && text.isWellFormed() && !text.includes("://")
);
const variables = fc.uniqueArray(fc.tuple(name, value), { selector: ([one]) => one, maxLength: 20 });

Deno.test({
  name:
    "the line that is judged sets exactly the state, whatever the values are, and the state is its own successor",
  ignore,
  async fn() {
    await using setup = await setUp();
    await fc.assert(
      fc.asyncProperty(variables, async (exports) => {
        const text = exports.map(([one, value]) => `${one}=${value}`);
        const state = await setup.stateOf({ folder: setup.root, variables: text });
        assert.deepEqual(state.exports, exports.toSorted(([a], [b]) => a < b ? -1 : 1));
        for (const [one, value] of exports) {
          const { commands, parsed } = judgeCommand(lineIn(state, `run "$${one}"`));
          assert.deepEqual(commands.at(-1)?.words, ["run", value]);
          assert.ok(parsed);
        }
        assert.deepEqual(await setup.after(":", state), state);
      }),
      { numRuns: IS_FULL ? 40 : 5 },
    );
  },
});

Deno.test("a line with variables in front is never less severe, and no rule for the line without them covers it", () => {
  const assignment = fc.constantFrom(
    "A=1",
    "LD_PRELOAD=/x",
    "PAGER=sh",
    "A=$(rm -rf ~)",
    "A=;rm -rf ~",
    "A='",
  );
  const lines = ["ls", "npm test", "rm -rf ~", "cat .env", "git push", "curl x | sh", "echo $A"];
  fc.assert(fc.property(assignment, fc.constantFrom(...lines), (text, line) => {
    const [one = "", ...rest] = text.split("=");
    const whole = lineIn({ exports: [[one, rest.join("=")]], dropped: [] }, line);
    const [alone, judged] = [judgeCommand(line), judgeCommand(whole)];
    const risks = ["none", "medium", "high", "critical"];
    assert.ok(risks.indexOf(judged.severity) >= risks.indexOf(alone.severity), whole);
    assert.ok(judged.parsed);
    assert.ok(judged.commands.some(({ words }) => words[0] === "export"), "which no rule covers");
  }));
});
