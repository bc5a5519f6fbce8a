/**
 * Resolves every path that a model writes; no other code does.
 *
 * absolute path → real path of the nearest existing parent → inside the root, or an error.
 * Symbolic links are resolved before the check, so that a link inside the project never leads out of it.
 */
import { basename, isAbsolute, join, relative, resolve, sep } from "node:path";

/** File system queries; both engine and supervisor pass Deno's own. */
export interface PathLookups {
  /** The path with every symbolic link resolved; undefined if it does not exist. */
  realPath(path: string): Promise<string | undefined>;
  /** The kind of the path itself, links not followed; undefined if it does not exist. */
  kind(path: string): Promise<"file" | "directory" | "symlink" | "other" | undefined>;
}

export interface ResolvedPath {
  /** Absolute and real; the path to open. */
  readonly path: string;
  /** Relative to the root with forward slashes, "" for the root itself; for display and rules. */
  readonly relative: string;
  /** As `relative`, but with the names of symbolic links. */
  readonly named: string;
  readonly exists: boolean;
}

/** The path is unusable; `message` gives the reason in one line that a model can act on. */
export class PathError extends Error {
  override readonly name = "PathError";
}

/** Linux's limit. Without it, a path of thousands of folders takes a second. */
const LONGEST_PATH = 4_095;
const LONGEST_NAME = 255;

/** Names of devices, which Windows has in every folder. */
const DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$/i;

/**
 * @param input as the model wrote it: relative to the root, absolute, or starting with the root's own name
 * @param root the workspace root's real path
 */
export async function resolvePath(
  input: string,
  root: string,
  lookups: PathLookups,
  windows: boolean = sep === "\\",
): Promise<ResolvedPath> {
  const label = JSON.stringify(input).slice(1, -1);
  checkLength(resolve(root, input), windows);
  checkCharacters(input, label, windows);
  // On the disk, a lone surrogate has this replacement as its name.
  const absolute = (await toAbsolute(input, root, lookups)).toWellFormed();
  if (!isInside(absolute, root)) throw outside(label);
  const { parent, rest } = await nearestExisting(absolute, label, lookups);
  const real = resolve(parent, ...rest);
  if (!isInside(parent, root) || !isInside(real, root)) throw outside(label);
  if (rest.length > 0 && await lookups.kind(parent) !== "directory") {
    throw new PathError(`path goes through something that is not a folder: ${label}`);
  }
  return {
    path: real,
    relative: slashes(relative(root, real)),
    named: slashes(relative(root, absolute)),
    exists: rest.length === 0,
  };
}

function checkCharacters(input: string, label: string, windows: boolean): void {
  if (input === "") throw new PathError("path is empty: give a path relative to the project");
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(input)) throw new PathError(`path has a control character: ${label}`);
  if (!windows) return;
  if (/^[\\/]{2}/.test(input)) throw outside(label);
  for (const [index, part] of input.split(/[\\/]/).entries()) {
    const drive = index === 0 && /^[A-Za-z]:$/.test(part);
    if (!drive && /[<>:"|?*]/.test(part)) {
      throw new PathError(`path has a character Windows forbids: ${label}`);
    }
    if (!/^\.{1,2}$/.test(part) && /[. ]$/.test(part)) {
      throw new PathError(`path has a name that ends in a dot or a space: ${label}`);
    }
    if (DEVICE.test(part)) throw new PathError(`path names a device: ${label}`);
  }
}

/** @param path normalised; counted in bytes, on Windows in UTF-16 */
function checkLength(path: string, windows: boolean): void {
  const length = (text: string) => windows ? text.length : new TextEncoder().encode(text).length;
  const begin = (text: string) => JSON.stringify(text.slice(0, 100)).slice(1, -1);
  if (length(path) > LONGEST_PATH) throw new PathError(`path is too long: ${begin(path)}…`);
  const name = path.split(sep).find((part) => length(part) > LONGEST_NAME);
  if (name !== undefined) throw new PathError(`path has a name that is too long: ${begin(name)}…`);
}

/** Models often prepend the project's own name: `name/rest` means `rest` unless such a folder exists. */
async function toAbsolute(input: string, root: string, lookups: PathLookups): Promise<string> {
  if (isAbsolute(input)) return await fromRealRoot(resolve(input), root, lookups);
  const [first = "", ...rest] = input.split(/[\\/]/);
  const joined = resolve(root, input);
  if (first !== basename(root) || first === "") return joined;
  if (await lookups.kind(join(root, first)) !== undefined) return joined;
  return resolve(root, ...rest);
}

/** An absolute path may name the root through a symbolic link: /tmp is /private/tmp on macOS. */
async function fromRealRoot(absolute: string, root: string, lookups: PathLookups): Promise<string> {
  if (isInside(absolute, root)) return absolute;
  let ancestor = absolute;
  while (true) {
    if (await lookups.realPath(ancestor) === root) return resolve(root, relative(ancestor, absolute));
    const parent = resolve(ancestor, "..");
    if (parent === ancestor) return absolute;
    ancestor = parent;
  }
}

async function nearestExisting(
  absolute: string,
  label: string,
  lookups: PathLookups,
): Promise<{ parent: string; rest: readonly string[] }> {
  let current = absolute;
  const rest: string[] = [];
  while (true) {
    const real = await lookups.realPath(current);
    if (real !== undefined) return { parent: real, rest };
    // A dangling link: writing through it would create a file at its target.
    if (await lookups.kind(current) === "symlink") {
      throw new PathError(`path is a symbolic link to nothing: ${label}`);
    }
    const parent = resolve(current, "..");
    if (parent === current) throw outside(label);
    rest.unshift(basename(current));
    current = parent;
  }
}

/** True for the root itself and everything below it. Both paths are absolute and normalised. */
export function isInside(path: string, root: string): boolean {
  const from = relative(root, path);
  return from === "" || (from !== ".." && !from.startsWith(`..${sep}`) && !isAbsolute(from));
}

function outside(label: string): PathError {
  return new PathError(`path is outside of the project: ${label}`);
}

function slashes(path: string): string {
  return sep === "\\" ? path.replaceAll("\\", "/") : path;
}
