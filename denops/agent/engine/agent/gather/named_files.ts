/** Which files a command line names, so that who has approved it has seen them. Pure. */
import { dirname, resolve } from "node:path";

/** Quoted or not, with nothing in it that the shell would make something else of. */
const WORD = /'([^']*)'|"([^"$`\\]*)"|([^\s'"|&;<>()=]+)/g;
const EXPANDED = /[$`*?[\]{}~\\!]/;

/**
 * @param cwd where the line starts
 * @param path absolute
 * @param isTrap a folder that is named stands for what is in it only if it is one
 */
export function namesFile(
  line: string,
  cwd: string,
  path: string,
  isTrap: (folder: string) => boolean,
): boolean {
  const named = new Set<string>();
  for (const [, single, double, bare] of line.matchAll(WORD)) {
    const word = single ?? double ?? bare ?? "";
    if (word !== "" && (bare === undefined || !EXPANDED.test(bare))) named.add(resolve(cwd, word));
  }
  if (named.has(path)) return true;
  for (let folder = dirname(path); isTrap(folder); folder = dirname(folder)) {
    if (named.has(folder)) return true;
  }
  return false;
}
