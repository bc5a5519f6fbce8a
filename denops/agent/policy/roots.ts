/** Resolves paths in a workspace of one or several roots; path.ts has the rules for a single root. */
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { isInside, PathError, type PathLookups, type ResolvedPath, resolvePath } from "./path.ts";

export interface RootedPath extends ResolvedPath {
  /** The root that contains the path. */
  readonly root: string;
  /** Absolute, with the names of symbolic links. */
  readonly link: string;
}

/**
 * With several roots, tries in this order: an absolute path; a root's bare name; below the primary root, if
 * it exists; below another root, if it exists; without a leading root's name, if it exists there; below the
 * primary root.
 * @param roots real paths, the primary one first; paths in others are shown with the root's name before them
 */
export async function resolveInRoots(
  input: string,
  roots: readonly string[],
  lookups: PathLookups,
): Promise<RootedPath> {
  const [primary = ""] = roots;
  const inside = async (root: string, path: string): Promise<RootedPath> =>
    withName(await resolvePath(path, root, lookups), root, primary);
  if (roots.length === 1) return await inside(primary, input);
  if (isAbsolute(input)) return await firstInside(roots, (root) => inside(root, input));
  const byName = roots.find((root) => basename(root) === input.replace(/[\\/]+$/, ""));
  if (byName !== undefined) return await inside(byName, ".");
  for (const root of roots) {
    const found = await inside(root, input).catch(() => undefined);
    if (found?.exists) return found;
  }
  const [first, ...rest] = input.split(/[\\/]/);
  const stripped = roots.find((root) => basename(root) === first);
  if (stripped !== undefined && rest.length > 0) {
    const found = await inside(stripped, rest.join("/")).catch(() => undefined);
    if (found?.exists) return found;
  }
  return await inside(primary, input);
}

/** The name of a path on screen and in rules; undefined outside of all roots. @param path absolute, real */
export function nameInRoots(path: string, roots: readonly string[]): string | undefined {
  const root = roots.find((one) => isInside(path, one));
  if (root === undefined) return undefined;
  const inside = relative(root, path).replaceAll("\\", "/");
  return root === roots[0] ? inside : `${basename(root)}/${inside}`;
}

/** The absolute path of such a name. @param root that contains it */
export function pathInRoot(name: string, root: string, roots: readonly string[]): string {
  return join(root === roots[0] ? root : dirname(root), name);
}

/** Returns the last of several refusals, because they all say "outside". */
async function firstInside(
  roots: readonly string[],
  resolve: (root: string) => Promise<RootedPath>,
): Promise<RootedPath> {
  let refusal: unknown = new PathError("no root is open");
  for (const root of roots) {
    try {
      return await resolve(root);
    } catch (error) {
      refusal = error;
    }
  }
  throw refusal;
}

function withName(path: ResolvedPath, root: string, primary: string): RootedPath {
  const link = join(root, path.named);
  if (root === primary) return { ...path, root, link };
  const prefix = (relative: string) => relative === "" ? basename(root) : `${basename(root)}/${relative}`;
  return { ...path, root, link, relative: prefix(path.relative), named: prefix(path.named) };
}
