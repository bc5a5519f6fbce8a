/**
 * Lists the files of a worktree on disk, and removes it. The removal deletes only what a listing contains.
 */
import { basename, dirname, join } from "node:path";
import { encodeHex } from "../system/hex.ts";
import { exists } from "./repository.ts";

interface DiskEntry {
  /** Bytes; 0 for a folder. */
  readonly size: number;
  readonly isFolder: boolean;
  /** Changes with the content, and for another file of this name. */
  readonly version: string;
}

/** By relative path; folders precede their entries. Excludes the worktree's `.git`. */
export type DiskListing = ReadonlyMap<string, DiskEntry>;

const GIT_LINK = ".git";

/** Lists all entries on disk, including those that git ignores. Follows no links. */
export async function listDisk(root: string): Promise<DiskListing> {
  const listing = new Map<string, DiskEntry>();
  await addEntries(root, "", listing);
  return listing;
}

async function addEntries(root: string, folder: string, listing: Map<string, DiskEntry>): Promise<void> {
  const entries = await Array.fromAsync(Deno.readDir(join(root, folder)));
  const paths = entries.map(({ name }) => folder === "" ? name : `${folder}/${name}`)
    .filter((path) => path !== GIT_LINK).sort();
  const found = await Promise.all(paths.map((path) => entryAt(join(root, path))));
  for (const [index, path] of paths.entries()) {
    const entry = found[index];
    if (entry === undefined) continue;
    listing.set(path, entry);
    if (entry.isFolder) await addEntries(root, path, listing);
  }
}

async function entryAt(path: string): Promise<DiskEntry | undefined> {
  const info = await Deno.lstat(path).catch(() => undefined);
  if (info === undefined) return undefined;
  const isFolder = info.isDirectory;
  const identity = [info.dev, info.ino, info.mode];
  // The listing has a folder's entries, so its times add nothing.
  const version = isFolder ? identity : [...identity, info.size, info.mtime?.getTime()];
  return { size: isFolder ? 0 : info.size, isFolder, version: version.join() };
}

/** Equal digests mean equal entries in equal versions. */
export async function digestOf(listing: DiskListing): Promise<string> {
  const text = [...listing].map(([path, { version }]) => `${path}\0${version}\0`).join("");
  return encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

/** The name of a worktree during its removal. */
const REMOVING = /^\.(.+)\.removing$/;

function removingPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.removing`);
}

/**
 * Deletes the folder of a worktree if it is exactly as listed. The folder is renamed first, so that no path
 * leads to it any more.
 * @returns false if something was created or changed since the listing: that is kept, under the old name
 * @throws {Error} if the system refuses
 */
export async function removeListed(path: string, listing: DiskListing): Promise<boolean> {
  const removing = removingPath(path);
  await Deno.rename(path, removing);
  let isRemoved = false;
  try {
    const isSame = await digestOf(await listDisk(removing)) === await digestOf(listing);
    isRemoved = isSame && await removeEntries(removing, listing);
  } finally {
    if (!isRemoved) await putBack(removing, path);
  }
  return isRemoved;
}

/** @returns false if an entry has changed or is not listed */
async function removeEntries(root: string, listing: DiskListing): Promise<boolean> {
  for (const [path, { isFolder, version }] of [...listing].reverse()) {
    const at = join(root, path);
    if ((await entryAt(at))?.version !== version) return false;
    if (isFolder && !await isEmpty(at)) return false;
    await Deno.remove(at);
  }
  const link = join(root, GIT_LINK);
  const text = await Deno.readTextFile(link);
  await Deno.remove(link);
  // Fails if anything was created in there since.
  return await Deno.remove(root).then(() => true, async () => {
    await Deno.writeTextFile(link, text);
    return false;
  });
}

async function isEmpty(folder: string): Promise<boolean> {
  return (await Array.fromAsync(Deno.readDir(folder))).length === 0;
}

async function putBack(removing: string, path: string): Promise<void> {
  await Deno.rename(removing, path).catch((error) => {
    // Another Neovim has restored it.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

/** Restores the worktrees whose removal was interrupted. @param folder of all worktrees of a project */
export async function recoverWorktrees(folder: string): Promise<void> {
  const entries = await Array.fromAsync(Deno.readDir(folder)).catch(() => []);
  for (const { name } of entries) {
    const [, own] = REMOVING.exec(name) ?? [];
    if (own === undefined || await exists(join(folder, own))) continue;
    await putBack(join(folder, name), join(folder, own));
  }
}
