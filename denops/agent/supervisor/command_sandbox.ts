/** The sandbox of a shell command: everything readable but secrets, only the project writable. Pure. */
import { isInside } from "../policy/path.ts";
import type { GitGuard } from "./git_guard.ts";

export interface CommandPlaces {
  /** The workspace's roots; only they, and `writable`, may be written. */
  readonly roots: readonly string[];
  /** Where the command starts: in one of them. */
  readonly cwd: string;
  readonly home: string | undefined;
  /** Existing folders and files that commands may not see: keys, other programs' state, Neovim's sockets. */
  readonly maskedFolders: readonly string[];
  readonly maskedFiles: readonly string[];
  /** Folders outside of the project that the user lets commands write. */
  readonly writable: readonly string[];
  readonly network: boolean;
}

/** Below the home folder; those that exist are masked. */
export const SECRET_FOLDERS = [
  ".ssh",
  ".aws",
  ".azure",
  ".gnupg",
  ".kube",
  ".docker",
  ".password-store",
  ".mozilla",
  ".thunderbird",
  ".config/gh",
  ".config/gcloud",
  ".config/op",
  ".config/google-chrome",
  ".config/chromium",
  ".local/share/keyrings",
  "Library/Keychains",
  "Library/Application Support/Google/Chrome",
  "Library/Application Support/Firefox",
];

export const SECRET_FILES = [
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
  ".config/git/credentials",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".bash_history",
  ".zsh_history",
  ".python_history",
  ".node_repl_history",
  ".psql_history",
];

/** Arguments of bubblewrap up to the program; the program and its own follow. */
export function bwrapCommandArguments(
  places: CommandPlaces,
  git: Pick<GitGuard, "bound" | "guarded">,
): readonly string[] {
  const { roots, cwd, network } = places;
  const writable = (path: string) => ["--bind", path, path];
  const readOnly = (path: string) => ["--ro-bind", path, path];
  return [
    "--unshare-user",
    "--disable-userns",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    ...(network ? [] : ["--unshare-net"]),
    "--die-with-parent",
    "--new-session",
    ...["--ro-bind", "/", "/"],
    ...["--dev", "/dev"],
    ...["--proc", "/proc"],
    // Unix sockets pass a read-only mount, so the folders where they live are empty ones.
    ...["--tmpfs", "/tmp"],
    ...["--tmpfs", "/run"],
    ...["--tmpfs", "/var/tmp"],
    ...mask(places, (path) => !isInAny(path, roots)),
    ...places.writable.flatMap(writable),
    ...roots.flatMap(writable),
    // What is mounted later covers what was there: secrets inside of the project come after the project.
    ...mask(places, (path) => isInAny(path, roots)),
    ...git.bound.flatMap(writable),
    ...git.guarded.flatMap(readOnly),
    ...["--chdir", cwd],
    "--",
  ];
}

function isInAny(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => isInside(path, root));
}

function mask(places: CommandPlaces, chosen: (path: string) => boolean): readonly string[] {
  return [
    ...places.maskedFolders.filter(chosen).flatMap((path) => ["--tmpfs", path]),
    ...places.maskedFiles.filter(chosen).flatMap((path) => ["--ro-bind", "/dev/null", path]),
  ];
}
