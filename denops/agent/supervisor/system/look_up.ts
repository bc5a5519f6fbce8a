/**
 * The sandbox of the supervisor's own programs: the system call filter of a read-only command, and mounts of
 * the project and of what git and ripgrep need.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInside } from "../../policy/path.ts";
import { PROFILES } from "./programs.ts";
import { runFolder } from "./run_folder.ts";
import { findProgram, sandbox } from "./sandbox.ts";
import { bwrapArguments, type Mount } from "./sandbox/mounts.ts";
import { type Architecture, seccompFilter } from "./sandbox/seccomp.ts";
import { SHOWN } from "./sandbox/visible_places.ts";
import { userGit } from "./git/user_git.ts";
import { wholeFile } from "./whole_file.ts";

interface LookUp {
  readonly root: string;
  readonly roots: readonly string[];
  /** False: the user has disabled sandboxes. */
  readonly sandboxed: boolean;
  /** Paths outside of the roots. */
  readonly reads: readonly string[];
  readonly writes?: { readonly bound: readonly string[]; readonly guarded: readonly string[] };
  readonly env: Readonly<Record<string, string>>;
}

/** Programs, libraries and the time zone; nothing else of /etc. */
const SYSTEM = [
  ...SHOWN.map(({ path }) => path).filter((path) => /^\/(?!etc|var)/.test(path)),
  ...["ld.so.cache", "alternatives", "localtime", "passwd"].map((name) => `/etc/${name}`),
];
/** Memory limit: a repository may contain a link to /dev/zero, which git and ripgrep would read. */
const MOST_KILOBYTES = 2 * 1024 * 1024;
const LIMITED = `ulimit -d ${MOST_KILOBYTES} 2>/dev/null`;
/** Passes the filter as a descriptor, as bubblewrap requires. */
const ENTER = `${LIMITED}; exec 3<"$1"; shift; exec "$@"`;

/** The command line that starts a program; its own arguments follow. */
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
  const home = env.HOME === undefined ? undefined : await Deno.realPath(env.HOME).catch(() => env.HOME);
  const user = await userGit(roots);
  const programs = [program, await Deno.realPath(program)].map((path) => folderOf(path, home));
  const ignores = [user.ignoreFile, ...["ignore", "attributes"].map((name) => `${home}/.config/git/${name}`)];
  const isBound = (path: string) => writes?.bound.some((place) => isInside(path, place)) === true;
  const places = [
    ...SYSTEM,
    ...programs,
    ...ignores,
    ...[...roots, ...reads].filter((path) => !isBound(path)),
  ]
    .filter((path): path is string => path !== undefined && existsSync(path));
  const gitConfig = await wholeFile(join(folder, "gitconfig"), new TextEncoder().encode(user.lookUpText));
  const mounts: readonly Mount[] = [
    { kind: "scratch", path: "/tmp" },
    ...found.system.links.map(({ path, target }): Mount => ({ kind: "link", path, target })),
    ...[...found.system.folders, ...places].map((path): Mount => ({ kind: "read", path })),
    // ripgrep reads the user's ignore file there.
    ...(home === undefined
      ? []
      : [{ kind: "read", path: join(home, ".gitconfig"), source: gitConfig } as const]),
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
 * The folder that a program needs: its toolchain, or the parent of its `bin`. The home folder itself is never
 * mounted.
 * @param path of the program, or of the target of its link
 */
function folderOf(path: string, home = "/"): string {
  const toolchain = SHOWN.map((place) => place.path.replace(/^~(?=\/)/, home))
    .find((place) => isInside(path, place));
  if (toolchain !== undefined) return toolchain;
  const folder = dirname(path);
  const around = dirname(folder);
  return [home, "/tmp"].some((place) => isInside(place, around)) ? folder : around;
}

async function filterFile(folder: string, unixSockets: boolean): Promise<string | undefined> {
  const { arch } = Deno.build;
  const machine: Architecture | undefined = arch === "x86_64" || arch === "aarch64" ? arch : undefined;
  if (machine === undefined) return undefined;
  const bytes = seccompFilter({ architecture: machine, unixSockets });
  return await wholeFile(join(folder, "look.bpf"), bytes);
}
