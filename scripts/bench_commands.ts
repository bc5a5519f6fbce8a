/** What the sandbox of commands costs, for bench.ts: `true` in it against `true` in a plain shell, in turns. */
import { join } from "node:path";
import { commandEnvironment } from "../denops/agent/supervisor/system/environment.ts";
import { RunningCommand } from "../denops/agent/supervisor/commands/runner.ts";
import { CommandSandbox } from "../denops/agent/supervisor/commands/sandbox.ts";
import { DEPS } from "./environment.ts";
import { pause, type Scratch, scratch } from "../tests/support/project.ts";

export interface CommandTimes {
  readonly what: string;
  /** Milliseconds each. */
  readonly times: readonly number[];
  readonly floors: readonly number[];
  /** Over the floor. */
  readonly most: number;
}

const RUNS = 20;
const SETTLED_MS = 3_000;
const DENIED = ["**/.env", "**/.env.*", "**/*.pem", "**/*.key", "**/.npmrc"];

type Started = Omit<ConstructorParameters<typeof RunningCommand>[0], "line" | "cwd" | "timeoutMs">;

export async function commandTimes(): Promise<readonly CommandTimes[]> {
  // What is unpacked for tests is started through a script of its own, which users do not have.
  Deno.env.set("PATH", `${join(DEPS, "bwrap/usr/bin")}:${Deno.env.get("PATH") ?? ""}`);
  const found: CommandTimes[] = [];
  for (const { name, files, most } of [{ name: "", files: 20, most: 15 }, LARGE]) {
    await using project = await tree(files);
    for (const level of ["look", "write"] as const) {
      found.push({ what: `${level}_command${name}`, most, ...await measure(project, level) });
    }
    // So many take longer than a scratch folder waits.
    await Deno.remove(project.path("src"), { recursive: true });
  }
  return found;
}

const LARGE = { name: ", 20,000 files", files: 20_000, most: 60 };

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

async function measure(project: Scratch, access: "look" | "write") {
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
  const times: number[] = [];
  const floors: number[] = [];
  for (let count = 0; count < RUNS; count++) {
    floors.push(await timed(plain));
    times.push(await timed(held));
  }
  return { times, floors };
}
