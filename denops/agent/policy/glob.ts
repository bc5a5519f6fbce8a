/** Globs of paths, understood alike wherever they decide something. Pure. */
// @ts-types="./picomatch.d.ts"
import picomatch from "picomatch";

/** "." of the regular expression that a glob becomes matches none of these, so that "**" would end at them. */
const LINE_ENDS = /[\n\r\u2028\u2029]/g;

/**
 * Whether one of the globs matches a path, relative to the project and with forward slashes.
 * Case is ignored: on a file system that ignores it, ".ENV" is ".env".
 */
export function globMatcher(globs: readonly string[]): (path: string) => boolean {
  const matches = picomatch([...globs], { dot: true, nocase: true });
  return (path) => matches(path.replace(LINE_ENDS, "_"));
}

export function matchesGlob(glob: string, path: string): boolean {
  return globMatcher([glob])(path);
}
