/** What the sandbox of commands costs: `true` in it against `true` in a plain shell, without the checkpoint around it. */
import { join } from "node:path";
import { commandEnvironment } from "../../denops/agent/supervisor/system/environment.ts";
import { RunningCommand } from "../../denops/agent/supervisor/commands/runner.ts";
import { CommandSandbox } from "../../denops/agent/supervisor/commands/sandbox.ts";
import { pause, type Scratch, scratch } from "../../tests/support/project.ts";
import { DEPS } from "../environment.ts";
import { atMost, group, median, over, type Row, row } from "./row.ts";
import { makeTree } from "./tree.ts";

const RUNS = 20;
const FIRST_RUNS = 5;
const SETTLED_MS = 3_000;
const DENIED = ["**/.env", "**/.env.*", "**/*.pem", "**/*.key", "**/.npmrc"];

type Access = "look" | "try" | "write";
type Started = Omit<ConstructorParameters<typeof RunningCommand>[0], "line" | "cwd" | "timeoutMs">;

export const commands = group(["look_command", "try_command", "write_command"], async () => {
  const { look, tried, write } = await inTree(20, 15);
  return { look_command: look, try_command: tried, write_command: write };
});

/** In a project of 20,000 files. */
const MANY = [
  "first_command_20k_files",
  "look_command_20k_files",
  "try_command_20k_files",
  "write_command_20k_files",
] as const;

/** In a project of 20,000 files. */
export const manyFiles = group(MANY, async () => {
  const { first, look, tried, write } = await inTree(20_000, 60);
  return {
    first_command_20k_files: first,
    look_command_20k_files: look,
    try_command_20k_files: tried,
    write_command_20k_files: write,
  };
});

/** Of commands that are rehearsed, which need an overlay each. */
const TRY_MORE_MS = 40;
/** Of the first one of a project, when that has been open for a moment. */
const FIRST_MS = 100;

type Rows = Readonly<Record<"first" | "look" | "tried" | "write", Row>>;

/** @param more milliseconds over the floor */
async function inTree(files: number, more: number): Promise<Rows> {
  // What is unpacked for tests is started through a script of its own, which users do not have.
  Deno.env.set("PATH", `${join(DEPS, "bwrap/usr/bin")}:${Deno.env.get("PATH") ?? ""}`);
  await using project = await tree(files);
  // What has changed in the last seconds is read again.
  await pause(SETTLED_MS);
  const first = await measureFirst(project);
  const look = await measure(project, "look", more);
  const tried = await measure(project, "try", more - 15 + TRY_MORE_MS);
  const write = await measure(project, "write", more);
  // So many take longer than a scratch folder waits.
  await Deno.remove(project.path("src"), { recursive: true });
  return { first, look, tried, write };
}

async function tree(files: number): Promise<Scratch> {
  const project = await scratch({ "README.md": "# bench\n", ".env": "SECRET=1\n" }, { git: true });
  makeTree(project, files);
  return project;
}

function sandboxOf(project: Scratch, state: Scratch): CommandSandbox {
  return new CommandSandbox([project.root], {
    sandbox: "auto",
    command_read: [],
    command_write: [],
    command_environment: [],
    socket: undefined,
    state_dir: state.root,
  });
}

async function run(project: Scratch, started: Started): Promise<void> {
  const spec = { ...started, line: "true", cwd: project.root, timeoutMs: 60_000 };
  const command = new RunningCommand(spec, () => {});
  const end = await command.ended;
  if (end.type !== "exited" || end.code !== 0) throw new Error(`true failed: ${command.output}`);
  await started.rehearsal?.finish(true);
}

async function runHeld(project: Scratch, sandbox: CommandSandbox, access: Access): Promise<void> {
  const placed = { access, cwd: project.root, rehearsed: access === "try" };
  const started = await sandbox.specify(placed, DENIED);
  if (started.args.length === 0) throw new Error("no sandbox works here");
  await run(project, started);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** The first command, with what a project does before it when it has just been opened. */
async function measureFirst(project: Scratch): Promise<Row> {
  const values: number[] = [];
  for (let count = 0; count < FIRST_RUNS; count++) {
    await using state = await scratch();
    const sandbox = sandboxOf(project, state);
    await Promise.all([sandbox.rehearses(), sandbox.view(DENIED)]);
    values.push(await timed(() => runHeld(project, sandbox, "try")));
  }
  return row("ms", median(values), atMost(FIRST_MS));
}

async function measure(project: Scratch, access: Access, more: number): Promise<Row> {
  await using state = await scratch();
  const sandbox = sandboxOf(project, state);
  const held = () => runHeld(project, sandbox, access);
  const env = commandEnvironment([], access);
  const plain = () => run(project, { program: "sh", args: [], env, sweep: () => Promise.resolve([]) });
  // The first look reads the whole project.
  await held();
  const values: number[] = [];
  const floors: number[] = [];
  for (let count = 0; count < RUNS; count++) {
    floors.push(await timed(plain));
    values.push(await timed(held));
  }
  return row("ms", median(values), over(more), median(floors));
}
