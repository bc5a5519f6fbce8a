/** A Neovim process of its own: nothing of the user's configuration, state or environment reaches it. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BytePipe, childPipe } from "../../denops/agent/shared/byte_pipe.ts";
import { removeTree, within } from "./project.ts";

export interface ChildOptions {
  /** The executable; the environment's AGENT_NVIM, else `nvim`, unless told. */
  readonly nvim?: string;
  /** The screen's size; 80 × 24 unless told. */
  readonly columns?: number;
  readonly lines?: number;
  /** An empty folder unless told. */
  readonly cwd?: string;
  /** Added to the environment, over everything that is set here. */
  readonly env?: Readonly<Record<string, string>>;
  /** Start from an empty environment (but for PATH) instead of the tests' own. */
  readonly clearEnv?: boolean;
  /** Folders put first on 'runtimepath'; their plugin files are sourced as at any start. */
  readonly runtime?: readonly string[];
  /** The text of init.lua. */
  readonly lua?: string;
  /** Ex commands of the command line, as `-c` takes them. */
  readonly commands?: readonly string[];
  /** Opened at the start, relative to `cwd`. */
  readonly files?: readonly string[];
  /** Let the start end at a prompt, if one comes before VimEnter, instead of failing there. */
  readonly allowPrompt?: boolean;
}

export interface NvimProcess extends AsyncDisposable {
  readonly pid: number;
  readonly pipe: BytePipe;
  readonly exited: Promise<Deno.CommandStatus>;
  /** What it has written to standard error so far. */
  stderr(): string;
  kill(signal: Deno.Signal): void;
}

/** How long Neovim may take to end before it is killed, then how long its pipes may stay open. Milliseconds. */
const GRACE = 5_000;

/** These would lead Neovim, git or a child to what is the user's, or change the language of messages. */
const FOREIGN = /^(N?VIM|VIMRUNTIME|VIMINIT|EXINIT|MYVIMRC|NVIM_.*|XDG_.*|GIT_.*|LC_.*|LANG|LANGUAGE)$/;

/** Arguments of each Neovim of the tests. The bench, which measures what a user has, starts Neovim without them. */
export const EARLY: readonly string[] = Deno.env.get("AGENT_TEST_EARLY") === undefined
  ? []
  : ["--cmd", `luafile ${fileURLToPath(new URL("early.lua", import.meta.url))}`];

export async function spawnNvim(options: ChildOptions): Promise<NvimProcess> {
  const home = await Deno.realPath(await Deno.makeTempDir({ prefix: "nvim-" }));
  try {
    const folders = await makeFolders(home);
    const init = join(home, "init.lua");
    await Deno.writeTextFile(init, options.lua ?? "");
    const commands = (options.commands ?? []).flatMap((command) => ["-c", command]);
    const executable = options.nvim ?? Deno.env.get("AGENT_NVIM") ?? "nvim";
    const command = new Deno.Command(executable, {
      args: ["--embed", "-n", "-i", "NONE", ...EARLY, "-u", init, ...commands, "--", ...options.files ?? []],
      cwd: options.cwd ?? join(home, "work"),
      env: { ...inherited(options.clearEnv ?? false), ...folders, ...options.env },
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    });
    return wrap(spawn(command), home);
  } catch (error) {
    await removeTree(home);
    throw error;
  }
}

function spawn(command: Deno.Command): Deno.ChildProcess {
  try {
    return command.spawn();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error(`Cannot start Neovim: ${error.message}. Try AGENT_NVIM=/path/to/nvim`);
  }
}

function wrap(child: Deno.ChildProcess, home: string): NvimProcess {
  const stdin = child.stdin.getWriter();
  let stderr = "";
  const stderrEnd = child.stderr.pipeThrough(new TextDecoderStream()).pipeTo(
    new WritableStream({ write: (chunk) => void (stderr += chunk) }),
  ).catch(() => {});
  const kill = (signal: Deno.Signal) => {
    try {
      child.kill(signal);
    } catch {
      // It has ended already.
    }
  };
  return {
    pid: child.pid,
    pipe: childPipe({
      stdout: child.stdout,
      // Its own writer is what can be aborted at the end.
      stdin: new WritableStream({ write: (chunk) => stdin.write(chunk) }),
    }),
    exited: child.status,
    stderr: () => stderr,
    kill,
    async [Symbol.asyncDispose]() {
      // First politely, so that Neovim ends its own children too.
      kill("SIGTERM");
      if (!(await within(GRACE, child.status)).done) kill("SIGKILL");
      await child.status;
      await stdin.abort().catch(() => {});
      await within(GRACE, stderrEnd);
      await removeTree(home);
    },
  };
}

/** The folders of a user who has just installed Neovim, as environment variables. */
async function makeFolders(home: string): Promise<Record<string, string>> {
  const folders = {
    HOME: "home",
    TMPDIR: "tmp",
    XDG_CACHE_HOME: "cache",
    XDG_CONFIG_DIRS: "etc",
    XDG_CONFIG_HOME: "config",
    XDG_DATA_DIRS: "share",
    XDG_DATA_HOME: "data",
    XDG_RUNTIME_DIR: "run",
    XDG_STATE_HOME: "state",
  };
  const paths = Object.entries(folders).map(([name, folder]) => [name, join(home, folder)] as const);
  for (const path of [...paths.map(([, path]) => path), join(home, "work")]) {
    await Deno.mkdir(path, { mode: 0o700 });
  }
  return { ...Object.fromEntries(paths), ...denoCache(), LC_ALL: "C.UTF-8", SHELL: "/bin/sh" };
}

/** Deno's cache holds no one's settings, and a child without it would download its packages again. */
export function denoCache(): { readonly DENO_DIR: string } {
  const { DENO_DIR, HOME = "/", XDG_CACHE_HOME } = Deno.env.toObject();
  const cache = XDG_CACHE_HOME ?? join(HOME, Deno.build.os === "darwin" ? "Library/Caches" : ".cache");
  return { DENO_DIR: DENO_DIR ?? join(cache, "deno") };
}

function inherited(clear: boolean): Record<string, string> {
  const own = Object.entries(Deno.env.toObject());
  return Object.fromEntries(own.filter(([name]) => clear ? name === "PATH" : !FOREIGN.test(name)));
}
