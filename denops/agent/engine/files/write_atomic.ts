/** All or nothing on the disk. */
import { basename, dirname, join } from "node:path";
import type { WriteJournal } from "../ports/store.ts";

interface WriteRules {
  /**
   * Is what is there still what was looked at? Asked when all that takes time is done, right before the file takes its
   * place; if not, nothing is written.
   */
  isUnchanged?(): boolean;
  /** Nothing may be there yet. */
  readonly isNew?: boolean;
  /** Where it is written first, if the journal knows of it already. */
  readonly temporary?: string | undefined;
  /** False: it may be lost with the power. */
  readonly isSynced?: boolean;
  /** The owner of what is there stays, where the system allows that. */
  readonly sameOwner?: boolean;
  /** All other names of the file (hard links) get the content too. */
  readonly sameNames?: boolean;
}

/** The last two: it is written, and belongs to somebody else than before, or other names keep the old content. */
export type Written = "written" | "changed meanwhile" | "other owner" | "other names";

/**
 * Writes all or nothing: a temporary file in the same folder, synced, then renamed over the target.
 * The mode of an existing file is kept. Only the disk is waited for: the rest takes less than a turn to another thread.
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
      // For as long as this process lives nobody takes it for a left-over.
      file.lockSync(true);
      for (const bytes of content instanceof Uint8Array ? [content] : content) {
        let written = 0;
        while (written < bytes.length) written += file.writeSync(bytes.subarray(written));
      }
      if (mode !== undefined && Deno.build.os !== "windows") Deno.chmodSync(temporary, mode);
      if (rules.isSynced !== false) await file.sync();
    }
    return takePlace(temporary, path, rules);
  } finally {
    removeIfThere(temporary);
    if (rules.temporary === undefined) journal.end(temporary);
  }
}

/** A new name in the same folder. */
export function temporaryFor(path: string): string {
  return join(dirname(path), `.${shortName(path)}.${crypto.randomUUID().slice(0, 8)}.tmp`);
}

/** Synchronous from the last look on: nothing of this process comes between. */
function takePlace(temporary: string, path: string, rules: WriteRules): Written {
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
  if ((hasNames ? sameNames : !isOwned) && overwrite(path, before, temporary)) return "written";
  Deno.renameSync(temporary, path);
  return hasNames ? "other names" : isOwned ? "written" : "other owner";
}

/** A rename would replace what somebody has put there at this moment; a link fails. */
function takeEmptyPlace(temporary: string, path: string): Written {
  try {
    Deno.linkSync(temporary, path);
    return "written";
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return "changed meanwhile";
    // There are file systems without links.
    if (statOf(path) !== undefined) return "changed meanwhile";
    Deno.renameSync(temporary, path);
    return "written";
  }
}

/**
 * The same file gets the content; false if this process may not write it, or if it is another one by now. What fails
 * half-way is taken back.
 */
function overwrite(path: string, { dev, ino }: Deno.FileInfo, from: string): boolean {
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(path, { read: true, write: true });
  } catch {
    return false;
  }
  using _ = file;
  const opened = file.statSync();
  if (opened.dev !== dev || opened.ino !== ino) return false;
  const before = new Uint8Array(opened.size);
  for (let at = 0, count: number | null = 0; count !== null && at < before.length; at += count ?? 0) {
    count = file.readSync(before.subarray(at));
  }
  try {
    fill(file, Deno.readFileSync(from));
  } catch (error) {
    fill(file, before);
    throw error;
  }
  return true;
}

function fill(file: Deno.FsFile, bytes: Uint8Array): void {
  file.seekSync(0, Deno.SeekMode.Start);
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
  file.truncateSync(bytes.length);
  file.syncSync();
}

function isSameOwner(a: Deno.FileInfo, b: Deno.FileInfo): boolean {
  return a.uid === b.uid && a.gid === b.gid;
}

function isGiven(path: string, { uid, gid, mode }: Deno.FileInfo): boolean {
  try {
    Deno.chownSync(path, uid, gid);
    // A change of the owner clears the bits for set-user-id and set-group-id.
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
    // It has taken its place.
  }
}

function statOf(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch {
    return undefined;
  }
}

/** A name may have 255 bytes, and a character up to four of them. */
function shortName(path: string): string {
  return [...basename(path)].slice(0, 50).join("");
}
