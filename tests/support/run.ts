/** The program `agent`, as a shell or a CI job starts it: a project, a configuration and a scripted model. */
import { dirname, join } from "node:path";
import { ModelServer } from "../model/model_server.ts";
import { baseUrl, fullCache, PLUGIN, type RunningAgent, SECRET } from "./agent.ts";
import { denoCache } from "./nvim_process.ts";
import { type Scratch, scratch } from "./project.ts";

export interface RunOptions {
  readonly script: string;
  readonly project?: Readonly<Record<string, string>>;
  /** Further options of config.json. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** A Neovim with the same project, state and server. */
  readonly beside?: RunningAgent;
}

export interface RunPlace extends AsyncDisposable {
  readonly server: ModelServer;
  readonly project: Scratch;
  readonly state: Scratch;
  readonly environment: Readonly<Record<string, string>>;
  /** Writes config.json. */
  configure(options: Readonly<Record<string, unknown>>): Promise<void>;
}

interface RunInput {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runPlace(options: RunOptions): Promise<RunPlace> {
  const { script, project: files = {}, config = {}, beside } = options;
  await using stack = new AsyncDisposableStack();
  const project = beside?.project ?? stack.use(await scratch(files, { git: true }));
  const state = beside?.state ?? stack.use(await scratch(await fullCache()));
  const home = stack.use(await scratch());
  const server = beside?.server ?? stack.use(await ModelServer.start(script, { secrets: [SECRET] }));
  const provider = {
    wire: "openai_chat",
    base_url: baseUrl("openai_chat", server),
    api_key: "env:TEST_API_KEY",
  };
  const configure = (more: Readonly<Record<string, unknown>>) =>
    home.write(
      ".config/agent.nvim/config.json",
      JSON.stringify({
        provider: "test",
        model: "scripted",
        state_dir: state.root,
        providers: { test: provider },
        ...more,
      }),
    );
  await configure(config);
  const owned = stack.move();
  return {
    ...{ server, project, state, configure },
    environment: {
      HOME: home.root,
      PATH: `${dirname(Deno.execPath())}:${Deno.env.get("PATH")}`,
      TEST_API_KEY: SECRET,
      ...denoCache(),
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Starts `agent`, in the project. Its processes have a group of their own, as a shell would start them. */
export function startRun(
  { project, environment }: Pick<RunPlace, "project" | "environment">,
  args: readonly string[],
  { env = {} }: RunInput = {},
): Deno.ChildProcess {
  return new Deno.Command(join(PLUGIN, "bin/agent"), {
    args: [...args],
    cwd: project.root,
    env: { ...environment, ...env },
    clearEnv: true,
    detached: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** Runs `agent` to its end. */
export async function run(
  place: RunPlace,
  args: readonly string[],
  input: RunInput = {},
): Promise<RunResult> {
  const process = startRun(place, args, input);
  const writer = process.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input.stdin ?? "")).catch(() => {});
  await writer.close().catch(() => {});
  return await resultOf(process);
}

export async function resultOf(process: Deno.ChildProcess): Promise<RunResult> {
  const { code, stdout, stderr } = await process.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}
