/** What a command finds in its mount tree, as arguments of bubblewrap. Pure. */

export type Mount =
  /** `source` is the path itself unless told. */
  | { readonly kind: "read" | "write"; readonly path: string; readonly source?: string }
  /** Of the sandbox's own, gone with it. In a closed folder nothing is but what is mounted there. */
  | {
    readonly kind: "scratch" | "small_scratch" | "closed_folder" | "hidden_folder" | "hidden_file";
    readonly path: string;
  }
  | { readonly kind: "link"; readonly path: string; readonly target: string };

export interface MountPlan {
  readonly network: boolean;
  readonly cwd: string;
  /** In any order, but that of several for one path the last one counts. */
  readonly mounts: readonly Mount[];
}

/** Bytes that one command may have in a scratch folder: they are memory. */
const SCRATCH_BYTES = 2 * 1024 ** 3;
const SMALL_BYTES = 256 * 1024 ** 2;

/**
 * Namespaces of every sandbox, and of the probe that decides whether there is one. Not --unshare-all: for root it does
 * without a user namespace where none may be made, and the engine then fails to start.
 */
export const NAMESPACES = [
  "--unshare-user",
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  // Of bubblewrap 0.8 and later.
  "--disable-userns",
] as const;

/** Up to the program; the program and its own arguments follow. */
export function bwrapArguments({ network, cwd, mounts }: MountPlan): readonly string[] {
  const ordered = inOrder(mounts);
  const closed = ordered.filter(({ kind }) => kind === "closed_folder").map(({ path }) => path);
  return [
    ...NAMESPACES,
    ...(network ? [] : ["--unshare-net"]),
    "--die-with-parent",
    // Who is root has all of them, in a namespace of their own.
    ...["--cap-drop", "ALL"],
    // A session of its own has whoever starts it: another one would be as nice as all others again.
    // For root, the kernel's settings in there are files like others.
    ...["--proc", "/proc", "--remount-ro", "/proc"],
    ...["--dev", "/dev"],
    ...ordered.flatMap(argumentsOf),
    // The tree that all this hangs in is a scratch folder too: nothing is to be put beside.
    ...closed.flatMap((path) => ["--remount-ro", path]),
    ...["--remount-ro", "/dev", "--remount-ro", "/"],
    ...["--chdir", cwd],
  ];
}

/** What is mounted later covers what was there: folders come before what is in them. */
function inOrder(mounts: readonly Mount[]): readonly Mount[] {
  const byPath = new Map(mounts.map((mount) => [mount.path, mount]));
  const depth = ({ path }: Mount) => path === "/" ? 0 : path.split("/").length;
  return [...byPath.values()].map((mount) => ({ mount, depth: depth(mount) }))
    .sort((a, b) => a.depth - b.depth)
    .map(({ mount }) => mount);
}

function argumentsOf(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case "read":
      return ["--ro-bind", mount.source ?? mount.path, mount.path];
    case "write":
      return ["--bind", mount.source ?? mount.path, mount.path];
    case "scratch":
      return ["--perms", "0700", "--size", String(SCRATCH_BYTES), "--tmpfs", mount.path];
    case "small_scratch":
    case "closed_folder":
      return ["--perms", "0700", "--size", String(SMALL_BYTES), "--tmpfs", mount.path];
    case "hidden_folder":
      return ["--perms", "0500", "--size", "4096", "--tmpfs", mount.path, "--remount-ro", mount.path];
    case "hidden_file":
      return ["--ro-bind", "/dev/null", mount.path];
    case "link":
      return ["--symlink", mount.target, mount.path];
  }
}
