/** The files and folders that proposed rules may allow. Pure. */
import { posix } from "node:path";
import type { FileAccess } from "../../protocol/access.ts";
import type { FileRules } from "../../protocol/config.ts";
import { isInGit, mayRead, namesOf } from "../file_access.ts";
import { globMatcher, literalGlob, matchesGlob } from "../glob.ts";
import { isOutside } from "../session_permission.ts";

/** Whether only the user should allow writes of this file: all that the built-in list names, and what is no ordinary file. */
export function isSensitive({ path, risk }: FileAccess, rules: FileRules): boolean {
  const names = namesOf(path);
  return risk !== undefined || names.some(isOutside) || isInGit(path) ||
    mayRead(path, rules).verdict !== "allow" || names.some(globMatcher(builtIn(rules)));
}

/** The globs of the built-in list, which gives reasons. */
function builtIn({ safe_to_write }: FileRules): readonly string[] {
  return safe_to_write.flatMap(({ glob, safe, reason }) => safe || reason === undefined ? [] : [glob]);
}

/** The folder of a file with all names that end as its name does; undefined for the project's own folder. */
export function folderGlob(name: string): string | undefined {
  const [folder, extension] = [posix.dirname(name), posix.extname(name)];
  return folder === "." ? undefined : `${literalGlob(folder)}/*${literalGlob(extension)}`;
}

/** Whether such a glob matches names that are sensitive in any folder. */
export function coversSensitive(glob: string, rules: FileRules): boolean {
  const names = posix.basename(glob);
  return builtIn(rules).some((row) => samples(posix.basename(row)).some((name) => matchesGlob(names, name)));
}

/** Names that a simple glob matches: one for each alternative. */
function samples(glob: string): readonly string[] {
  const [braces, inside] = /\{([^{}]*)\}/.exec(glob) ?? [];
  if (braces === undefined || inside === undefined) return [glob.replace(/[*?]+/g, "x")];
  return inside.split(",").flatMap((part) => samples(glob.replace(braces, () => part)));
}
