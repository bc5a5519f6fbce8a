/** What developers and models run all day to look at a project runs unasked, and prints what it prints without a sandbox. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { CommandSandbox } from "../../denops/agent/supervisor/commands/sandbox.ts";
import type { CommandView } from "../../denops/agent/supervisor/commands/command_place.ts";
import { commandEnvironment } from "../../denops/agent/supervisor/system/environment.ts";
import { RunningCommand } from "../../denops/agent/supervisor/commands/runner.ts";
import { ApprovalLog } from "../../denops/agent/supervisor/gate/approval_log.ts";
import { decide } from "../../denops/agent/policy/decide.ts";
import { circumstancesOf } from "../../denops/agent/supervisor/gate/approval_view.ts";
import { RuleBook } from "../../denops/agent/supervisor/gate/rule_book.ts";
import { DEPS, PROJECT } from "../../scripts/environment.ts";
import { type Scratch, scratch } from "../support/project.ts";
import { addPacked, readingProject } from "../support/reading_project.ts";
import { gateContext } from "../support/gate.ts";
import { IS_FULL, sample } from "../support/sample.ts";
import { programPlaces } from "./inside.ts";

/** Of a hundred lines so many may fail, and so many have to be tried at least: not every machine has every program. */
const MOST_FAILING = 1;
const FEWEST_TRIED = 72;
/** So many of all lines, and of the first lines of each program, are run in a run of all tests; `--full` runs them all. */
const SAMPLE = 40;
const AT_ONCE = 3;
const NOT_INSTALLED = 127;
const DENIED = ["**/.env", "**/.env.*", "**/*.pem", "**/*.key"];

const lines = (await Deno.readTextFile(join(PROJECT, "tests/commands/reading_commands.txt"))).split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));

function programOf(line: string): string {
  return line.split(" ", 1)[0] ?? "";
}

function chosen(): readonly string[] {
  if (IS_FULL) return lines;
  const firsts = new Map(lines.toReversed().map((line) => [programOf(line), line]));
  return [...new Set([...sample(lines, SAMPLE), ...sample([...firsts.values()], SAMPLE)])];
}

interface World extends AsyncDisposable {
  readonly project: Scratch;
  readonly state: Scratch;
  readonly sandbox: CommandSandbox;
}

async function world(): Promise<World> {
  const project = await readingProject();
  await addPacked(project.root);
  const state = await scratch({ "home/.keep": "" });
  // What is compared is not whether commands see the folders in which a machine has its programs.
  const sandbox = new CommandSandbox([project.root], {
    sandbox: "auto",
    command_read: [DEPS, ...programPlaces(lines.map(programOf))],
    command_write: [],
    command_environment: [],
    socket: undefined,
    state_dir: state.root,
  });
  return {
    project,
    state,
    sandbox,
    async [Symbol.asyncDispose]() {
      await project[Symbol.asyncDispose]();
      await state[Symbol.asyncDispose]();
    },
  };
}

interface Result {
  readonly code: number | undefined;
  readonly output: string;
}

type Started = Omit<ConstructorParameters<typeof RunningCommand>[0], "line" | "cwd" | "timeoutMs">;

async function run(line: string, cwd: string, started: Started): Promise<Result> {
  const command = new RunningCommand({ ...started, line, cwd, timeoutMs: 60_000 }, () => {});
  const end = await command.ended;
  return { code: end.type === "exited" ? end.code : undefined, output: command.output };
}

/** The user's own settings are not what is compared. */
const NO_SETTINGS = { GIT_CONFIG_GLOBAL: "/dev/null", npm_config_userconfig: "/dev/null" };

/** For git blame what is not committed is of now. */
function timeless(output: string): string {
  return output.replace(/(Not Committed Yet) [-\d]+ [:\d]+/g, "$1");
}

/** Calls `work` for each, a few at a time. */
async function each(lines: readonly string[], work: (line: string) => Promise<void>): Promise<void> {
  const waiting = [...lines];
  const worker = async () => {
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) await work(line);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

Deno.test("ordinary reading commands print in a look what they print without a sandbox", async () => {
  await using place = await world();
  const { root } = place.project;
  const plain: Started = {
    program: "bash",
    args: [],
    env: { ...commandEnvironment([], "look"), ...NO_SETTINGS, HOME: place.state.path("home") },
    sweep: () => Promise.resolve([]),
  };
  const missing: string[] = [];
  const different: string[] = [];
  const some = chosen();
  await each(some, async (line) => {
    const expected = await run(line, root, plain);
    if (expected.code === NOT_INSTALLED) {
      missing.push(line);
      return;
    }
    const started = await place.sandbox.specify({ access: "look", cwd: root }, DENIED);
    const got = await run(line, root, { ...started, env: { ...started.env, ...NO_SETTINGS } });
    if (expected.code !== got.code || timeless(expected.output) !== timeless(got.output)) {
      different.push(
        `$ ${line}\n${expected.output}[exit code ${expected.code}]\nin a look:\n${got.output}[exit code ${got.code}]`,
      );
    }
  });
  console.log(`${some.length} lines, ${missing.length} of them skipped: no such program`);
  const tried = some.length - missing.length;
  assert.ok(tried * 100 >= some.length * FEWEST_TRIED, `too few could be tried:\n${missing.join("\n")}`);
  assert.ok(different.length * 100 <= tried * MOST_FAILING, different.join("\n\n"));
});

Deno.test("ordinary reading commands run unasked", async () => {
  await using place = await world();
  const { root } = place.project;
  const view: CommandView = await place.sandbox.view(DENIED);
  assert.ok(view.masks.complete);
  const context = gateContext({
    chat: 1,
    root,
    rules: await RuleBook.open(place.state.root, root, { allow: [], ask: [], deny: [] }),
    log: new ApprovalLog(place.state.root),
    commands: "look",
    view,
    rehearses: true,
  });
  const asking = lines.flatMap((command) => {
    const input = { kind: "command", command, cwd: root, timeout: 60, background: false } as const;
    const { decision, requestedAccess: asked } = decide(input, circumstancesOf(context, ""));
    if (decision.verdict === "allow" && asked === "try") return [];
    return [`${command}  (${asked}, ${decision.verdict}: ${decision.rule})`];
  });
  const share = `${asking.length} of ${lines.length} ask:\n${asking.join("\n")}`;
  assert.ok(asking.length * 100 <= lines.length * MOST_FAILING, share);
});
