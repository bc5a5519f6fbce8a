/** The sandbox of the supervisor's own programs: the mount tree and the filter of a command that only looks. */
import { dirname, join } from "node:path";
import { isInside } from "../../policy/path.ts";
import { PROFILES } from "./programs.ts";
import { runFolder } from "./run_folder.ts";
import { findProgram, sandbox } from "./sandbox.ts";
import { commandMounts } from "./sandbox/command_mounts.ts";
import { bwrapArguments, type Mount } from "./sandbox/mounts.ts";
import { type Architecture, seccompFilter } from "./sandbox/seccomp.ts";
import { SHOWN } from "./sandbox/shown.ts";
import { userGit } from "./user_git.ts";
import { wholeFile } from "./whole_file.ts";

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

/** A file of a repository can be a link to /dev/zero: git and ripgrep would fill the memory with it. */
const MOST_KILOBYTES = 2 * 1024 * 1024;
const LIMITED = `ulimit -d ${MOST_KILOBYTES} 2>/dev/null`;
/** Hands the filter over by a descriptor, as bubblewrap wants it. */
const ENTER = `${LIMITED}; exec 3<"$1"; shift; exec "$@"`;

/** How a program is started; its own arguments follow. */
export async function sandboxedProgram(
  profile: "look_up" | "repository",
  program: string,
  { root, roots, sandboxed, reads, writes, env }: LookUp,
): Promise<{ readonly program: string; readonly args: readonly string[] }> {
  const found = await sandbox(roots);
  const shell = await findProgram("sh", roots);
  if (shell === undefined) return { program, args: [] };
  const folder = await runFolder();
  const filter = await filterFile(folder, PROFILES[profile].unixSockets);
  if (!sandboxed || found.level !== "bubblewrap" || filter === undefined) {
    return { program: shell, args: ["-c", `${LIMITED}; exec "$@"`, "sh", program] };
  }
  const home = env.HOME;
  const realHome = home === undefined ? undefined : await Deno.realPath(home).catch(() => home);
  const ownFolders = [program, await Deno.realPath(program)].flatMap((path) => ownFolder(path, realHome));
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
      read: [...reads.filter((path) => !isBound(path)), ...ignores, ...ownFolders],
      write: [],
      own: [],
      // ripgrep looks there for the user's ignored files.
      gitConfig: await wholeFile(join(folder, "gitconfig"), new TextEncoder().encode(user.lookUpText)),
    }),
    ...(writes?.bound ?? []).map((path): Mount => ({ kind: "write", path })),
    ...(writes?.guarded ?? []).map((path): Mount => ({ kind: "read", path })),
  ];
  const args = bwrapArguments({ network: PROFILES[profile].network !== "none", cwd: root, mounts });
  return {
    program: shell,
    args: ["-c", ENTER, "sh", filter, found.bwrap, "--new-session", "--seccomp", "3", ...args, "--", program],
  };
}

/**
 * A program outside of the toolchain folders has what it needs around its `bin`. The home folder itself is never shown.
 * @param path of the program, or of what it links to
 */
function ownFolder(path: string, home = "/"): readonly string[] {
  const isShown = SHOWN.some((place) => isInside(path, place.path.replace(/^~(?=\/)/, home)));
  if (isShown) return [];
  const folder = dirname(path);
  const around = dirname(folder);
  return [[home, "/tmp"].some((place) => isInside(place, around)) ? folder : around];
}

async function filterFile(folder: string, unixSockets: boolean): Promise<string | undefined> {
  const { arch } = Deno.build;
  const machine: Architecture | undefined = arch === "x86_64" || arch === "aarch64" ? arch : undefined;
  if (machine === undefined) return undefined;
  const bytes = seccompFilter({ architecture: machine, unixSockets });
  return await wholeFile(join(folder, "look.bpf"), bytes);
}
