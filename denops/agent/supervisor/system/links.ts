/**
 * Symbolic links that an undo brings back, or that a command has made. Deno lets no process make one that may not write everywhere, so engines ask
 * for it. A link may lead nowhere but into the workspace, and it names its target absolutely: an engine may move it, and
 * a relative one leads elsewhere then. One that the user has agreed to is made as it is. Deno follows links past its own checks, so none is made where only those hold.
 */
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { resolveInRoots } from "../../policy/roots.ts";
import { lookups } from "./lookups.ts";

/**
 * @param path absolute, in a real folder of the workspace; nothing may be there yet
 * @param roots real paths of the workspace
 * @param held by the operating system's sandbox
 * @param agreed the user has agreed to a link to this very target in this folder
 * @throws {Error} one line
 */
export async function makeLink(
  path: string,
  target: string,
  { roots, held, agreed }: {
    readonly roots: readonly string[];
    readonly held: boolean;
    readonly agreed: boolean;
  },
): Promise<void> {
  if (!held) throw new Error("no sandbox of the operating system holds the engine");
  const folder = dirname(path);
  if (!isAbsolute(path) || resolve(path) !== path) throw new Error("the path of a link must be absolute");
  const place = await resolveInRoots(folder, roots, lookups);
  if (place.path !== folder) throw new Error("the folder of the link is itself behind a link");
  if (agreed) return await Deno.symlink(target, path);
  const led = await resolveInRoots(resolve(folder, target), roots, lookups);
  for (const one of [join(place.relative, basename(path)), led.relative]) {
    if (one.toLowerCase().split("/").includes(".git")) throw new Error("nothing is linked in .git or to it");
  }
  await Deno.symlink(led.path, path);
}
