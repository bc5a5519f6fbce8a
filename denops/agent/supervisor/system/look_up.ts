/** The sandbox of the supervisor's own programs: the mount tree and the filter of a command that only looks. */
import { dirname, join } from "node:path";
import { isInside } from "../../policy/path.ts";
import { runFolder } from "./run_folder.ts";
import { findProgram, sandbox } from "./sandbox.ts";
import { commandMounts } from "./sandbox/command_mounts.ts";
import { bwrapArguments, type Mount } from "./sandbox/mounts.ts";
import { type Architecture, seccompFilter } from "./sandbox/seccomp.ts";
import { userGit } from "./user_git.ts";

export interface LookUp {
  readonly root: string;
  readonly roots: readonly string[];
  /** False: the user has switched sandboxes off. */
  readonly sandboxed: boolean;
  /** Besides the roots. */
  readonly reads: readonly string[];
  readonly writes?: { readonly bound: readonly string[]; readonly guarded: readonly string[] };
  readonly env: Readonly<Record<string, string>>;
}

/** Hands the filter over by a descriptor, as bubblewrap wants it. */
const ENTER = `exec 3<"$1"; shift; exec "$@"`;

/** How a program is started; its own arguments follow. */
export async function sandboxedProgram(
  program: string,
  { root, roots, sandboxed, reads, writes, env }: LookUp,
): Promise<{ readonly program: string; readonly args: readonly string[] }> {
  const found = await sandbox(roots);
  const shell = await findProgram("sh", roots);
  const filter = await filterFile();
  if (!sandboxed || found.level !== "bubblewrap" || shell === undefined || filter === undefined) {
    return { program, args: [] };
  }
  const home = env.HOME;
  const user = await userGit(roots);
  const isBound = (path: string) => writes?.bound.some((place) => isInside(path, place)) === true;
  const ignores = user.ignoreFile === undefined ? [] : [user.ignoreFile];
  const mounts = [
    ...commandMounts({
      level: "look",
      roots: roots.filter((path) => !isBound(path)),
      home,
      system: found.system,
      git: { bound: [], guarded: [] },
      masks: { folders: [], files: [] },
      hidden: [],
      read: [...reads.filter((path) => !isBound(path)), ...ignores, ...ownFolder(program, home)],
      write: [],
      own: [],
      // ripgrep looks there for the user's ignored files.
      gitConfig: await written("gitconfig", new TextEncoder().encode(user.lookUpText)),
    }),
    ...(writes?.bound ?? []).map((path): Mount => ({ kind: "write", path })),
    ...(writes?.guarded ?? []).map((path): Mount => ({ kind: "read", path })),
  ];
  const args = bwrapArguments({ network: false, cwd: root, mounts });
  return {
    program: shell,
    args: ["-c", ENTER, "sh", filter, found.bwrap, "--new-session", "--seccomp", "3", ...args, "--", program],
  };
}

/** A program below the home folder has what it needs around its `bin`; never the home folder itself. */
function ownFolder(program: string, home: string | undefined): readonly string[] {
  const folder = dirname(program);
  const around = dirname(folder);
  const isTooMuch = [home, "/tmp"].some((place) => place !== undefined && isInside(place, around)) ||
    around === join(home ?? "/", ".local");
  return [isTooMuch ? folder : around];
}

async function filterFile(): Promise<string | undefined> {
  const { arch } = Deno.build;
  const machine: Architecture | undefined = arch === "x86_64" || arch === "aarch64" ? arch : undefined;
  if (machine === undefined) return undefined;
  return await written("look.bpf", seccompFilter({ architecture: machine, unixSockets: false }));
}

const files = new Map<string, Promise<string>>();

/** The same file for the same bytes. */
async function written(name: string, bytes: Uint8Array): Promise<string> {
  const folder = await runFolder();
  const key = `${folder} ${name} ${bytes.join()}`;
  const path = files.get(key) ?? write(join(folder, `${name}-${files.size}`), bytes);
  files.set(key, path);
  return await path;
}

async function write(path: string, bytes: Uint8Array): Promise<string> {
  await Deno.writeFile(path, bytes);
  return path;
}
