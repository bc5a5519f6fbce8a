/** The engine's permissions, as Deno flags and as bubblewrap mounts. Pure, so that health can print them. */
import { join } from "node:path";
import { networkEnvironment } from "../system/network.ts";
import type { SystemLayout } from "../system/sandbox.ts";
import { NAMESPACES } from "../system/sandbox/mounts.ts";

export interface EngineGrants {
  /** Real paths of the workspace's roots, the project first. */
  readonly roots: readonly string[];
  /** The project's state folder; only it and the root are writable. */
  readonly state: string;
  /** Inside of the state folder; commands see it too. */
  readonly scratch: string;
  /** Hidden folders in the roots: logins, if the state folder is in a root. */
  readonly hidden: readonly string[];
  /** "host:port" of the model's provider, if there is one. */
  readonly host: string | undefined;
  /** Folder of the plugin, with the engine's code. */
  readonly plugin: string;
  /** The file with the engine's code. */
  readonly module: string;
  readonly deno: string;
  readonly denoDir: string;
  /** Files with the user's own CA certificates. */
  readonly certificates: readonly string[];
}

/** A comma separates paths in Deno's flags, and no escape for it works in every version. @throws {Error} one line */
function list(paths: readonly string[]): string {
  const impossible = paths.find((path) => path.includes(","));
  if (impossible !== undefined) {
    throw new Error(`Cannot use ${impossible}: Deno takes no path with a comma. Rename the folder.`);
  }
  return paths.join(",");
}

/**
 * Megabytes of each half of V8's young generation: by default it grows to 16 and never shrinks, which saves
 * no work.
 */
const YOUNG_OBJECTS = "--v8-flags=--max-semi-space-size=1";

/** The permissions that Deno enforces. */
type DenoGrants = Omit<EngineGrants, "scratch" | "certificates">;

export function denoArguments(grants: DenoGrants): readonly string[] {
  const { roots, state, hidden, host, plugin, module } = grants;
  return [
    "run",
    YOUNG_OBJECTS,
    "--no-prompt",
    "--quiet",
    "--cached-only",
    "--no-remote",
    "--frozen",
    `--config=${join(plugin, "deno.json")}`,
    `--allow-read=${list([...roots, state])}`,
    ...(hidden.length === 0 ? [] : [`--deny-read=${list(hidden)}`]),
    `--allow-write=${list([...roots, state])}`,
    `--deny-write=${list(roots.map((root) => join(root, ".git")))}`,
    ...(host === undefined ? [] : [`--allow-net=${host}`]),
    module,
    `--state=${state}`,
    ...roots,
  ];
}

/** The only variables that the engine gets. */
export function engineEnvironment(
  grants: EngineGrants,
  environment: Readonly<Record<string, string>>,
): Record<string, string> {
  const passed: Record<string, string> = {
    DENO_DIR: grants.denoDir,
    DENO_NO_UPDATE_CHECK: "1",
    // glibc keeps megabytes of freed memory for each thread.
    MALLOC_ARENA_MAX: "1",
    NO_COLOR: "1",
  };
  const system = Deno.build.os === "windows" ? ["SystemRoot", "TEMP", "TMP", "LOCALAPPDATA"] : [];
  // The days of the usage are the user's.
  for (const name of ["TZ", ...system]) {
    const value = environment[name];
    if (value !== undefined) passed[name] = value;
  }
  return { ...passed, ...networkEnvironment(environment) };
}

/**
 * @param gits the `.git` of each root that has one. The engine can read but not write them: hooks and config
 * make git run commands, and so do a new `commondir`, a new `config.worktree` and a moved `.git`.
 */
export function bwrapArguments(
  grants: EngineGrants,
  gits: readonly string[],
  system: SystemLayout,
): readonly string[] {
  const { roots, state, scratch, hidden, plugin, deno, denoDir, certificates } = grants;
  const readOnly = (path: string) => ["--ro-bind", path, path];
  const writable = (path: string) => ["--bind", path, path];
  return [
    ...NAMESPACES,
    "--die-with-parent",
    "--new-session",
    ...readOnly("/usr"),
    ...readOnly("/etc"),
    ...system.folders.flatMap(readOnly),
    ...system.links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...(system.resolvConf === undefined ? [] : readOnly(system.resolvConf)),
    // For root, the kernel's settings in /proc are writable files.
    ...["--proc", "/proc", "--remount-ro", "/proc"],
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    ...readOnly(denoDir),
    ...readOnly(deno),
    ...readOnly(plugin),
    ...certificates.flatMap(readOnly),
    ...roots.flatMap(writable),
    ...hidden.flatMap((path) => ["--tmpfs", path]),
    ...writable(state),
    // Mounts, so that they cannot be moved or replaced.
    ...writable(scratch),
    ...gits.flatMap(readOnly),
    "--chdir",
    roots[0] ?? "/",
    "--",
    deno,
    ...denoArguments(grants),
  ];
}
