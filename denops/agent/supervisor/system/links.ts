/**
 * Creates symbolic links for an undo or for approved changes of a command. Deno lets only processes with full
 * write access make links, so engines request them. A link must lead into the workspace. A target with ".." becomes
 * absolute, because an engine could move the link, which would then lead elsewhere. It stays relative if git's
 * index has the same link in this folder. A link that the user approved is made unchanged. Deno's checks do not
 * resolve links, so none is made where only those checks apply.
 */
import { createHash } from "node:crypto";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { isInside } from "../../policy/path.ts";
import { resolveInRoots } from "../../policy/roots.ts";
import { lookups } from "./lookups.ts";
import { run } from "./run.ts";

/**
 * @param path absolute, in a real folder of the workspace; must not exist yet
 * @param roots real paths of the workspace
 * @param held whether the operating system's sandbox is active
 * @param agreed whether the user approved a link to this target in this folder
 * @throws {Error} one line
 */
export async function makeLink(
  path: string,
  target: string,
  { roots, isConfined, agreed }: {
    readonly roots: readonly string[];
    readonly isConfined: boolean;
    readonly agreed: boolean;
  },
): Promise<void> {
  if (!isConfined) throw new Error("no sandbox of the operating system confines the engine");
  const folder = dirname(path);
  if (!isAbsolute(path) || resolve(path) !== path) throw new Error("the path of a link must be absolute");
  const place = await resolveInRoots(folder, roots, lookups);
  if (place.path !== folder) throw new Error("the folder of the link is itself behind a link");
  if (agreed) return await Deno.symlink(target, path);
  const led = await resolveInRoots(resolve(folder, target), roots, lookups);
  for (const one of [join(place.relative, basename(path)), led.relative]) {
    if (one.toLowerCase().split("/").includes(".git")) throw new Error("nothing is linked in .git or to it");
  }
  const staysInside = !isAbsolute(target) && !target.split("/").includes("..");
  const isKept = staysInside || await isTracked(folder, target, roots);
  await Deno.symlink(isKept ? target : led.path, path);
}

/** Whether git's index has a link with this text in the folder. */
async function isTracked(folder: string, target: string, roots: readonly string[]): Promise<boolean> {
  const root = roots.find((one) => isInside(folder, one));
  if (root === undefined) return false;
  const blob = new TextEncoder().encode(target);
  const ids = ["sha1", "sha256"].map((algorithm) =>
    createHash(algorithm).update(`blob ${blob.length}\0`).update(blob).digest("hex")
  );
  const pattern = join(relative(root, folder).replace(/[*?[\]\\]/g, "\\$&"), "*");
  let isFound = false;
  const look = (line: string) => {
    isFound ||= ids.some((id) => line.startsWith(`120000 ${id} `));
    return !isFound;
  };
  const place = { root, roots, sandboxed: true };
  const args = ["ls-files", "--stage", "--", `:(glob)${pattern}`];
  await run("git", args, place, new AbortController().signal, look).catch(() => {});
  return isFound;
}
