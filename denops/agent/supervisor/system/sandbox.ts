/** Whether the operating system can sandbox the engine and commands, and where the programs for that are. */
import { join } from "node:path";
import { isInside } from "../../policy/path.ts";
import { messageOf } from "../../shared/errors.ts";
import { trustedPath } from "./environment.ts";
import { neovimEnvironment } from "./neovim_environment.ts";
import { openProgram } from "./programs.ts";
import { NAMESPACES } from "./sandbox/mounts.ts";

/** Folders and links of the system that programs need, detected once. */
export interface SystemLayout {
  /** Links such as /bin and /lib into /usr, with their targets. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** The ones that are real folders. */
  readonly folders: readonly string[];
  /** Real path of /etc/resolv.conf if it is outside of /etc. */
  readonly resolvConf?: string;
}

export type Sandbox =
  | { readonly level: "bubblewrap"; readonly bwrap: string; readonly system: SystemLayout }
  /** Only Deno's permissions; `reason` says why. */
  | { readonly level: "deno"; readonly reason: string };

const probed = new Map<string | undefined, Promise<Sandbox>>();

/** @param roots folders that tools can write; bubblewrap is never run from there */
export async function sandbox(roots: readonly string[]): Promise<Sandbox> {
  if (Deno.build.os !== "linux") return { level: "deno", reason: `no bubblewrap on ${Deno.build.os}` };
  const bwrap = await findProgram("bwrap", roots);
  const known = probed.get(bwrap) ?? probe(bwrap);
  probed.set(bwrap, known);
  return await known;
}

async function probe(bwrap: string | undefined): Promise<Sandbox> {
  if (bwrap === undefined) return { level: "deno", reason: "bubblewrap is not installed" };
  const args = [
    ...NAMESPACES,
    "--unshare-net",
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "true",
  ];
  try {
    const { success, stderr } = await openProgram("version", bwrap, {
      args,
      env: {},
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    if (success) return { level: "bubblewrap", bwrap, system: await systemLayout() };
    const [problem = ""] = new TextDecoder().decode(stderr).trim().split("\n");
    return { level: "deno", reason: `bubblewrap does not work here: ${problem}` };
  } catch (error) {
    return {
      level: "deno",
      reason: `bubblewrap does not start: ${messageOf(error)}`,
    };
  }
}

/**
 * Finds the first executable of this name on the PATH, by its real path. Skips files in a root: a tool may
 * have written them, and they would run outside of every sandbox.
 */
export async function findProgram(name: string, roots: readonly string[]): Promise<string | undefined> {
  const path = neovimEnvironment().PATH ?? "";
  const key = JSON.stringify([name, path, roots]);
  const known = programs.get(key);
  if (known !== undefined && isProgram(known, roots)) return known;
  for (const folder of trustedPath(path, roots)) {
    const found = await Deno.realPath(folder).catch(() => undefined);
    if (found === undefined || !isProgram(join(found, name), roots)) continue;
    programs.set(key, join(found, name));
    // Some programs behave according to the name they were called by.
    return join(found, name);
  }
  return undefined;
}

/** Cached locations; a later call checks the location instead of searching. */
const programs = new Map<string, string>();

function isProgram(path: string, roots: readonly string[]): boolean {
  try {
    const real = Deno.realPathSync(path);
    if (roots.some((root) => isInside(real, root))) return false;
    const info = Deno.statSync(real);
    return info.isFile && ((info.mode ?? 0) & 0o111) !== 0;
  } catch {
    return false;
  }
}

async function systemLayout(): Promise<SystemLayout> {
  const links: { path: string; target: string }[] = [];
  const folders: string[] = [];
  for (const path of ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"]) {
    const info = await Deno.lstat(path).catch(() => undefined);
    if (info?.isSymlink) links.push({ path, target: await Deno.readLink(path) });
    else if (info?.isDirectory) folders.push(path);
  }
  const resolvConf = await Deno.realPath("/etc/resolv.conf").catch(() => undefined);
  const outside = resolvConf !== undefined && !resolvConf.startsWith("/etc/") &&
    !resolvConf.startsWith("/usr/");
  return { links, folders, ...(outside ? { resolvConf } : {}) };
}

/** The `.git` of each root that has one. A link is ignored, because it leads to another place. */
export async function gitPaths(roots: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const root of roots) {
    const path = join(root, ".git");
    const info = await Deno.lstat(path).catch(() => undefined);
    if (info !== undefined && !info.isSymlink) found.push(path);
  }
  return found;
}
