/**
 * Compares a worktree with its base, and selects what to merge. Its files are data: they are read as they are
 * on disk.
 */
import { join } from "node:path";
import { mayRead, type ReadOptions } from "../../policy/file_access.ts";
import { LARGEST_MERGE, LARGEST_MERGED, type Merge, MOST_MERGED } from "../../protocol/worktrees.ts";
import { visible } from "../screen/visible.ts";
import { oneFile } from "../system/one_file.ts";
import { defined } from "../../shared/records.ts";
import type { Git } from "./repository.ts";
import type { DiskListing } from "./worktree_disk.ts";

/** Relative to the work tree. `before`: whether the file exists in the base. */
interface ChangedPath {
  readonly path: string;
  readonly before: boolean;
}

/** Larger files count as different. */
const LARGEST_COMPARED = 20_000_000;

const DIFF = [
  "--name-status",
  "-z",
  "--no-renames",
  "--no-ext-diff",
  "--no-textconv",
  "--ignore-submodules=all",
];

/** @param head the project's commit @throws {Error} one line */
export async function baseOf(git: Git, head: string | undefined, name: string): Promise<string> {
  const { code, text } = head === undefined
    ? { code: 1, text: "" }
    : await git.run(["merge-base", head, "HEAD"]);
  if (code === 0 && text !== "") return text;
  throw new Error(`The worktree ${name} has no commit in common with the project.`);
}

/** Committed or not, except files that git ignores. @throws {Error} one line */
async function changedPaths(git: Git, base: string): Promise<readonly ChangedPath[]> {
  const diff = await git.run(["diff", ...DIFF, base, "--"]);
  const others = await git.run(["ls-files", "-z", "--others", "--exclude-standard"]);
  for (const { code, complaint } of [diff, others]) {
    if (code !== 0) throw new Error(`Cannot look at the worktree: git says: ${complaint}.`);
  }
  const fields = diff.text.split("\0");
  const changed: ChangedPath[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    changed.push({ path: fields[at + 1] ?? "", before: fields[at] !== "A" });
  }
  const found = new Set(changed.map(({ path }) => path));
  for (const path of others.text.split("\0")) {
    if (path !== "" && !found.has(path)) changed.push({ path, before: false });
  }
  return changed;
}

/** The files of a worktree that its removal would lose. */
export interface WorktreeLoss {
  /** Files that differ from the base, and that the project does not contain in the same version. */
  readonly files: number;
  /** Other files that git does not track, including those of nested repositories. */
  readonly ignored: number;
  /** Bytes of both. */
  readonly size: number;
}

/** @param listing the entries of `git.root` on disk @throws {Error} one line */
export async function lossOf(
  git: Git,
  base: string,
  origin: string,
  listing: DiskListing,
): Promise<WorktreeLoss> {
  const changed = await changedPaths(git, base);
  const differing = new Set<string>();
  for (const { path } of changed) {
    if (!await isSame(join(git.root, path), join(origin, path))) differing.add(path);
  }
  const knownPaths = new Set([...changed.map(({ path }) => path), ...await trackedPaths(git)]);
  let ignored = 0;
  let size = 0;
  for (const [path, entry] of listing) {
    if (entry.isFolder) continue;
    const isIgnored = !knownPaths.has(path);
    if (isIgnored) ignored++;
    if (isIgnored || differing.has(path)) size += entry.size;
  }
  return { files: differing.size, ignored, size };
}

/** Files that git compares; it skips those with "assume unchanged" or "skip worktree". */
async function trackedPaths(git: Git): Promise<readonly string[]> {
  const { code, text, complaint } = await git.run(["ls-files", "-z", "-v"]);
  if (code !== 0) throw new Error(`Cannot look at the worktree: git says: ${complaint}.`);
  return text.split("\0").flatMap((entry) => /^[HM] /.test(entry) ? [entry.slice(2)] : []);
}

async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => Deno.lstat(path).catch(() => undefined)));
  if (a === undefined || b === undefined) return a === b;
  if (a.isSymlink && b.isSymlink) return await Deno.readLink(one) === await Deno.readLink(other);
  if (!a.isFile || !b.isFile || a.size !== b.size || a.size > LARGEST_COMPARED) return false;
  // Read through a handle: a pipe in its place would block.
  const [mine, theirs] = await Promise.all(
    [one, other].map((path) => oneFile(path, LARGEST_COMPARED).catch(() => undefined)),
  );
  if (mine === undefined || theirs === undefined || mine.bytes.length !== theirs.bytes.length) return false;
  return mine.bytes.every((byte, index) => byte === theirs.bytes[index]);
}

/**
 * The changes to merge.
 * @param rules of the project @param last the texts of the last merge, by path @throws {Error} one line
 */
export async function mergeOf(
  name: string,
  { git, commit }: { readonly git: Git; readonly commit: string },
  rules: ReadOptions,
  last: ReadonlyMap<string, string>,
): Promise<Merge> {
  const changed = await changedPaths(git, commit);
  if (changed.length > MOST_MERGED) {
    throw new Error(
      `${changed.length} files differ in the worktree ${name}, more than ${MOST_MERGED}: commit there, and merge with git.`,
    );
  }
  const files: Merge["files"] = [];
  const left: Merge["left"] = [];
  let size = 0;
  for (const one of changed) {
    const read = await read1(one, git, commit, rules);
    if ("why" in read) {
      left.push({ path: visible(one.path), why: read.why });
      continue;
    }
    size += (read.base?.length ?? 0) + (read.theirs?.length ?? 0);
    if (size > LARGEST_MERGE) {
      throw new Error(
        `The worktree ${name} has more changes than fit at once: commit there, and merge with git.`,
      );
    }
    if (read.isProgram) {
      left.push({ path: visible(one.path), why: "its text is merged, not that it is executable" });
    }
    files.push({
      path: one.path,
      ...defined({ base: read.base, theirs: read.theirs }),
      ...(last.has(one.path) ? { merged: last.get(one.path) } : {}),
    });
  }
  return { name, folder: git.root, files, left };
}

type Read =
  | { readonly base: string | undefined; readonly theirs: string | undefined; readonly isProgram: boolean }
  | { readonly why: string };

async function read1(
  { path, before }: ChangedPath,
  git: Git,
  commit: string,
  rules: ReadOptions,
): Promise<Read> {
  if (mayRead({ relative: path, named: path }, rules).verdict !== "allow") {
    return { why: "it may not be read" };
  }
  const at = join(git.root, path);
  const info = await Deno.lstat(at).catch(() => undefined);
  if (path.endsWith("/") || info?.isDirectory) return { why: "it is a repository of its own" };
  if (info?.isSymlink) return { why: "it is a link" };
  if (info !== undefined && !info.isFile) return { why: "it is not a regular file" };
  if ((info?.size ?? 0) > LARGEST_MERGED) return { why: "it is too large" };
  const base = before
    ? plain(await git.bytes(["cat-file", "blob", `${commit}:${path}`], LARGEST_MERGED))
    : undefined;
  if (before && base === undefined) return { why: "it was no text" };
  if (info === undefined) {
    return before ? { base, theirs: undefined, isProgram: false } : { why: "it is gone" };
  }
  const found = await oneFile(at, LARGEST_MERGED).catch(() => undefined);
  // A parent folder may have become a link.
  if (found?.real !== at) return { why: "it cannot be read" };
  if (/[\0\ufffd]/.test(found.text)) return { why: "it is binary" };
  if (before && found.text === base) return { why: "only its mode differs" };
  return { base, theirs: found.text, isProgram: !before && ((info.mode ?? 0) & 0o100) !== 0 };
}

function plain(bytes: Uint8Array | undefined): string | undefined {
  const text = bytes && new TextDecoder().decode(bytes);
  return text !== undefined && !/[\0\ufffd]/.test(text) ? text : undefined;
}
