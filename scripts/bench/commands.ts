/** What the sandbox of commands costs: `true` in it against `true` in a plain shell, without the checkpoint around it. */
import { join } from "node:path";
import { commandEnvironment } from "../../denops/agent/supervisor/system/environment.ts";
import { RunningCommand } from "../../denops/agent/supervisor/commands/runner.ts";
import { CommandSandbox } from "../../denops/agent/supervisor/commands/sandbox.ts";
import { pause, type Scratch, scratch } from "../../tests/support/project.ts";
import { DEPS } from "../environment.ts";
import { group, median, over, type Row, row } from "./row.ts";

const RUNS = 20;
const SETTLED_MS = 3_000;
const DENIED = ["**/.env", "**/.env.*", "**/*.pem", "**/*.key", "**/.npmrc"];

type Started = Omit<ConstructorParameters<typeof RunningCommand>[0], "line" | "cwd" | "timeoutMs">;

export const commands = group(["look_command", "write_command"], async () => {
  const { look, write } = await inTree(20, 15);
  return { look_command: look, write_command: write };
});

/** In a project of 20,000 files. */
export const manyFiles = group(["look_command_20k_files", "write_command_20k_files"], async () => {
  const { look, write } = await inTree(20_000, 60);
  return { look_command_20k_files: look, write_command_20k_files: write };
});

/** @param more milliseconds over the floor */
async function inTree(files: number, more: number): Promise<{ look: Row; write: Row }> {
  // What is unpacked for tests is started through a script of its own, which users do not have.
  Deno.env.set("PATH", `${join(DEPS, "bwrap/usr/bin")}:${Deno.env.get("PATH") ?? ""}`);
  await using project = await tree(files);
  const look = await measure(project, "look", more);
  const write = await measure(project, "write", more);
  // So many take longer than a scratch folder waits.
  await Deno.remove(project.path("src"), { recursive: true });
  return { look, write };
}

/** Ten files to a folder, with a repository. */
async function tree(files: number): Promise<Scratch> {
  const project = await scratch({ "README.md": "# bench\n", ".env": "SECRET=1\n" }, { git: true });
  for (let file = 0; file < files; file += 10) {
    const folder = project.path("src", `part${file % 97}`, `folder${file}`);
    await Deno.mkdir(folder, { recursive: true });
    for (let one = 0; one < 10; one++) Deno.writeTextFileSync(`${folder}/file${one}.ts`, "export {};\n");
  }
  return project;
}

async function measure(project: Scratch, access: "look" | "write", more: number): Promise<Row> {
  await using state = await scratch();
  const sandbox = new CommandSandbox([project.root], {
    sandbox: "auto",
    command_read: [],
    command_write: [],
    command_environment: [],
    socket: undefined,
    state_dir: state.root,
  });
  const run = async (started: Started) => {
    const command = new RunningCommand(
      { ...started, line: "true", cwd: project.root, timeoutMs: 60_000 },
      () => {},
    );
    const end = await command.ended;
    if (end.type !== "exited" || end.code !== 0) throw new Error(`true failed: ${command.output}`);
  };
  const held = async () => {
    const started = await sandbox.specify({ access, cwd: project.root }, DENIED);
    if (started.args.length === 0) throw new Error("no sandbox works here");
    await run(started);
  };
  const env = commandEnvironment([], access);
  const plain = () => run({ program: "sh", args: [], env, sweep: () => Promise.resolve([]) });
  const timed = async (work: () => Promise<void>) => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };
  // The first look reads the whole project; what has changed in the last seconds is read again by the next ones.
  await pause(SETTLED_MS);
  await held();
  const values: number[] = [];
  const floors: number[] = [];
  for (let count = 0; count < RUNS; count++) {
    floors.push(await timed(plain));
    values.push(await timed(held));
  }
  return row("ms", median(values), over(more), median(floors));
}
