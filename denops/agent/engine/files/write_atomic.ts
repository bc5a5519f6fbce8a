/** Writes files atomically. */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { WriteJournal } from "../ports/store.ts";

interface WriteRules {
  /**
   * Whether the file is still the one that was checked. Called right before the rename; if not, nothing is
   * written.
   */
  isUnchanged?(): boolean;
  /** The file must not exist yet. */
  readonly isNew?: boolean;
  /** The temporary file, if the journal already has its name. */
  readonly temporary?: string | undefined;
  /** False: a power failure may lose it. */
  readonly isSynced?: boolean;
  /** Keeps the owner if the system permits it. */
  readonly sameOwner?: boolean;
  /** All other names of the file (hard links) get the content too. */
  readonly sameNames?: boolean;
}

/** The last two were written, but with another owner, or with other names that keep the old content. */
export type Written = "written" | "changed meanwhile" | "other owner" | "other names";

/**
 * Writes atomically: a temporary file in the same folder, synced, then renamed over the target. Keeps the
 * mode of an existing file. Only the sync is asynchronous: the rest is cheaper than a switch to another
 * thread.
 */
export async function writeAtomic(
  path: string,
  content: Uint8Array | Iterable<Uint8Array>,
  mode: number | undefined,
  journal: WriteJournal,
  rules: WriteRules = {},
): Promise<Written> {
  Deno.mkdirSync(dirname(path), { recursive: true });
  const { temporary = temporaryFor(path) } = rules;
  if (rules.temporary === undefined) journal.begin(temporary);
  try {
    {
      using file = Deno.openSync(temporary, { write: true, createNew: true });
      // While this process runs, the lock protects the file from the removal of left-over files.
      file.lockSync(true);
      for (const bytes of content instanceof Uint8Array ? [content] : content) {
        let written = 0;
        while (written < bytes.length) written += file.writeSync(bytes.subarray(written));
      }
      if (mode !== undefined && Deno.build.os !== "windows") Deno.chmodSync(temporary, mode);
      if (rules.isSynced !== false) await file.sync();
    }
    return takePlace(temporary, path, mode, rules);
  } finally {
    removeIfThere(temporary);
    if (rules.temporary === undefined) journal.end(temporary);
  }
}

/** A new name in the same folder. */
export function temporaryFor(path: string): string {
  return join(dirname(path), `.${shortName(path)}.${crypto.randomUUID().slice(0, 8)}.tmp`);
}

/** Synchronous from the last check on, so that nothing of this process runs in between. */
function takePlace(temporary: string, path: string, mode: number | undefined, rules: WriteRules): Written {
  const { isUnchanged, isNew, sameOwner, sameNames } = rules;
  if (isUnchanged?.() === false) return "changed meanwhile";
  if (isNew) return takeEmptyPlace(temporary, path);
  const before = sameOwner ? statOf(path) : undefined;
  if (before === undefined) {
    Deno.renameSync(temporary, path);
    return "written";
  }
  const hasNames = (before.nlink ?? 1) > 1;
  const isOwned = isSameOwner(before, Deno.statSync(temporary)) || isGiven(temporary, before);
  if ((hasNames ? sameNames : !isOwned) && overwrite(path, before, temporary, mode)) return "written";
  Deno.renameSync(temporary, path);
  return hasNames ? "other names" : isOwned ? "written" : "other owner";
}

/** A rename would replace a file that was just created; a link fails. */
function takeEmptyPlace(temporary: string, path: string): Written {
  try {
    Deno.linkSync(temporary, path);
    return "written";
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return "changed meanwhile";
    // Some file systems do not support links.
    if (statOf(path) !== undefined) return "changed meanwhile";
    Deno.renameSync(temporary, path);
    return "written";
  }
}

/**
 * Writes the content and the mode into the same file; false if this process may not write it, or if it is another
 * file by now. A failure is undone.
 */
function overwrite(
  path: string,
  { dev, ino }: Deno.FileInfo,
  from: string,
  mode: number | undefined,
): boolean {
  let handle: number;
  try {
    handle = openSync(path, constants.O_RDWR);
  } catch {
    return false;
  }
  try {
    const opened = fstatSync(handle);
    if (opened.dev !== dev || opened.ino !== ino) return false;
    const before = readFileSync(handle);
    try {
      fill(handle, Deno.readFileSync(from));
      // By its name, another file could get the mode.
      if (mode !== undefined && (opened.mode & 0o7777) !== mode) fchmodSync(handle, mode);
    } catch (error) {
      fill(handle, before);
      throw error;
    }
    return true;
  } finally {
    closeSync(handle);
  }
}

function fill(handle: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(handle, bytes, at, bytes.length - at, at);
  ftruncateSync(handle, bytes.length);
  fsyncSync(handle);
}

function isSameOwner(a: Deno.FileInfo, b: Deno.FileInfo): boolean {
  return a.uid === b.uid && a.gid === b.gid;
}

function isGiven(path: string, { uid, gid, mode }: Deno.FileInfo): boolean {
  try {
    Deno.chownSync(path, uid, gid);
    // A change of the owner clears the set-user-id and set-group-id bits.
    if (mode !== null) Deno.chmodSync(path, mode & 0o7777);
    return true;
  } catch {
    return false;
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // The file was renamed.
  }
}

function statOf(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch {
    return undefined;
  }
}

/** A name can have 255 bytes, and a character up to four. */
function shortName(path: string): string {
  return [...basename(path)].slice(0, 50).join("");
}
