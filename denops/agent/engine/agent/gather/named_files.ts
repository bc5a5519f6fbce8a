/** The files that a command line names, which its approver has therefore seen. Pure. */
import { dirname, resolve } from "node:path";

/** Quoted or not, without anything that the shell expands. */
const WORD = /'([^']*)'|"([^"$`\\]*)"|([^\s'"|&;<>()=]+)/g;
const EXPANDED = /[$`*?[\]{}~\\!]/;

/**
 * @param cwd where the line starts @param path absolute @param isTrap a named folder stands for its content only if
 * this holds
 */
export function namesFile(
  line: string,
  cwd: string,
  path: string,
  isTrap: (folder: string) => boolean,
): boolean {
  const paths = new Set<string>();
  for (const [, single, double, bare] of line.matchAll(WORD)) {
    const word = single ?? double ?? bare ?? "";
    if (word !== "" && (bare === undefined || !EXPANDED.test(bare))) paths.add(resolve(cwd, word));
  }
  if (paths.has(path)) return true;
  for (let folder = dirname(path); isTrap(folder); folder = dirname(folder)) {
    if (paths.has(folder)) return true;
  }
  return false;
}
