/** Converts a command's mount tree to arguments of bubblewrap. Pure. */

export type Mount =
  /** `source` is the same path by default. */
  | { readonly kind: "read" | "write"; readonly path: string; readonly source?: string }
  /** A temporary folder of the sandbox. A closed folder contains only what is mounted in it. */
  | {
    readonly kind: "scratch" | "small_scratch" | "closed_folder" | "hidden_folder" | "hidden_file";
    readonly path: string;
  }
  | { readonly kind: "link"; readonly path: string; readonly target: string };

export interface MountPlan {
  readonly network: boolean;
  readonly cwd: string;
  /** In any order; of several mounts for one path the last one counts. */
  readonly mounts: readonly Mount[];
  /** The program creates sandboxes of its own in it. `isRoot`: it is the machine's root, though without capabilities. */
  readonly nested?: { readonly isRoot: boolean };
}

/** Bytes that one command may store in a scratch folder, which is in memory. */
const SCRATCH_BYTES = 2 * 1024 ** 3;
const SMALL_BYTES = 256 * 1024 ** 2;

/**
 * Namespaces of every sandbox, and of the probe for its availability. Not --unshare-all: for root it silently
 * skips the user namespace where none may be created, and the engine then fails to start.
 */
export const NAMESPACES = [
  "--unshare-user",
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  // Requires bubblewrap 0.8.
  "--disable-userns",
] as const;

/** All arguments up to the program, whose own arguments follow. */
export function bwrapArguments({ network, cwd, mounts, nested }: MountPlan): readonly string[] {
  const ordered = inOrder(mounts);
  const closed = ordered.filter(({ kind }) => kind === "closed_folder").map(({ path }) => path);
  return [
    ...NAMESPACES.filter((word) => nested === undefined || word !== "--disable-userns"),
    ...(network ? [] : ["--unshare-net"]),
    "--die-with-parent",
    // In its own namespace, root has all capabilities.
    ...["--cap-drop", "ALL"],
    // The starter provides the session: another one would share the processor equally with all others.
    ...procArguments(nested),
    ...["--dev", "/dev"],
    ...ordered.flatMap(argumentsOf),
    // The root of this tree is a scratch folder too, and must not be writable.
    ...closed.flatMap((path) => ["--remount-ro", path]),
    ...["--remount-ro", "/dev", "--remount-ro", "/"],
    ...["--chdir", cwd],
  ];
}

/** For root, the kernel's settings in /proc are writable files. A nested sandbox writes its user ids there. */
function procArguments(nested: MountPlan["nested"]): readonly string[] {
  if (nested === undefined) return ["--proc", "/proc", "--remount-ro", "/proc"];
  const settings = nested.isRoot ? KERNEL_SETTINGS : [];
  return ["--proc", "/proc", ...settings.flatMap((path) => ["--ro-bind-try", path, path])];
}

const KERNEL_SETTINGS = ["bus", "fs", "irq", "scsi", "sys", "sysrq-trigger"].map((name) => `/proc/${name}`);

/** Later mounts cover earlier ones, so folders precede their contents. */
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
