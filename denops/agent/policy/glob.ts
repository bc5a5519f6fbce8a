/** The one implementation of globs of paths, for every decision. Pure. */
import picomatch from "../deps/picomatch.ts";

/** The "." of a glob's regular expression matches none of these, so "**" would end at them. */
const LINE_ENDS = /[\n\r\u2028\u2029]/g;

const OPTIONS = { dot: true, nocase: true } as const;

/**
 * Cached, because compiling takes longer than matching, and few globs are matched against thousands of files.
 */
const compiled = new Map<string, (path: string) => boolean>();
const MOST_COMPILED = 1_000;

/**
 * Whether one of the globs matches a path that is relative to the project and has forward slashes. Ignores
 * case, because ".ENV" is ".env" on some file systems.
 */
export function globMatcher(globs: readonly string[]): (path: string) => boolean {
  const key = JSON.stringify(globs);
  const known = compiled.get(key);
  if (known !== undefined) return known;
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  const matches = picomatch([...globs], OPTIONS);
  const matcher = (path: string) => matches(path.replace(LINE_ENDS, "_"));
  compiled.set(key, matcher);
  return matcher;
}

export function matchesGlob(glob: string, path: string): boolean {
  return globMatcher([glob])(path);
}

/**
 * Index of the last glob that matches a path; -1 if none does. One expression for all globs, because long
 * lists are matched against thousands of paths.
 */
export function lastMatcher(globs: readonly string[]): (path: string) => number {
  const last = globs.map((glob, index) => `(?<g${index}>${picomatch.makeRe(glob, OPTIONS).source})`)
    .reverse();
  const any = new RegExp(last.join("|"), "i");
  return (path) => {
    if (path === "") return -1;
    const groups = any.exec(path.replace(LINE_ENDS, "_"))?.groups ?? {};
    const [name = "g-1"] = Object.entries(groups).find(([, found]) => found !== undefined) ?? [];
    // A glob also matches itself literally.
    return Math.max(Number(name.slice(1)), globs.lastIndexOf(path));
  };
}

/** A glob that matches exactly this path. */
export function literalGlob(path: string): string {
  return path.replace(/[*?[\]{}()!\\]/g, "\\$&");
}

const LONGEST_GLOB = 500;
const MOST_STARS = 3;
const MOST_BRACES = 50;

/**
 * Whether a hostile glob of this shape would take far more than linear time. A repository's globs of this
 * kind are ignored; the user's are always matched.
 */
export function isCostly(glob: string): boolean {
  const [deep = [], all = []] = [glob.match(/\*\*+/g), glob.match(/\*+|\?+/g)].map((found) => found ?? []);
  return glob.length > LONGEST_GLOB || deep.length > MOST_STARS || all.length - deep.length > MOST_STARS ||
    (glob.match(/[{,]/g) ?? []).length > MOST_BRACES || /[?*+@!]\(/.test(glob);
}

/** Without brackets every glob of this length is valid: picomatch need not parse it. */
const LONGEST_PLAIN = 1_000;

/** A glob's problem, as the end of a sentence; undefined if it is valid. */
export function globProblem(glob: string): string | undefined {
  if (glob === "") return "is empty";
  if (/^([\\/]|[a-z]:|~\/|\.\.?\/)/i.test(glob)) {
    return "must be relative to the project, without ./ before it";
  }
  if (glob.split("/").includes("..")) return "must not hold ..";
  if (!/[[\](){}]/.test(glob) && glob.length <= LONGEST_PLAIN) return undefined;
  try {
    picomatch.makeRe(glob, { strictBrackets: true });
  } catch (error) {
    const [, what, which] = /^Missing (\w+): "(.)"/.exec(error instanceof Error ? error.message : "") ?? [];
    if (which === undefined) return "is not a glob";
    return what === "closing" ? `needs a closing ${which}` : `needs an opening ${which}`;
  }
  return undefined;
}
