/** The operations that restore a path. Each checks the current state just before. */
import { dirname } from "node:path";
import type { Contents, Snapshot } from "../../log/checkpoints.ts";
import type { WriteJournal } from "../../ports/store.ts";
import { openByRealPath } from "../../files/open_file.ts";
import { temporaryFor, writeAtomic } from "../../files/write_atomic.ts";

interface Step {
  readonly now: Snapshot;
  readonly image: Snapshot;
  /** The temporary path of a new file, which the journal knows. */
  readonly temporary?: string | undefined;
  /** All names of the file (hard links) get this image. */
  readonly hasAllNames?: boolean;
}

interface Means {
  readonly store: { readonly contents: Contents };
  readonly journal: WriteJournal;
  readonly syncsNew?: boolean;
  /** Deno forbids symbolic links in a process without full write access, so the client creates them. */
  makeLink(path: string, target: string): Promise<void>;
}

/** The path has changed since it was examined. */
export class ChangedError extends Error {
  constructor() {
    super("it changed at this moment; try again");
  }
}

/** A folder is removed only if it is empty. */
export async function removeIt(path: string): Promise<void> {
  await Deno.remove(path);
}

export async function putBack(
  path: string,
  { now, image, temporary, hasAllNames = false }: Step,
  { store, journal, syncsNew = true, makeLink }: Means,
): Promise<void> {
  switch (image.type) {
    case "file": {
      const isUnchanged = () => isStill(path, now, store.contents);
      const isNew = now.type === "absent";
      const content = store.contents.parts(image.blob);
      const written = await writeAtomic(path, content, image.mode, journal, {
        ...{ isUnchanged, isNew, temporary },
        isSynced: !isNew || syncsNew,
        sameOwner: hasAllNames,
        sameNames: hasAllNames,
      });
      if (written === "changed meanwhile") throw new ChangedError();
      return;
    }
    case "link":
      await Deno.mkdir(dirname(path), { recursive: true });
      if (now.type === "absent") return await makeLink(path, image.target);
      return await replaceByLink(path, image.target, { journal, makeLink });
    case "folder":
      await Deno.mkdir(path, { recursive: true });
      if (image.mode !== undefined) await Deno.chmod(path, image.mode);
      return;
    case "absent":
    case "other":
      throw new Error(`cannot be made ${image.type}`);
  }
}

/** Larger files are not read again. */
const LARGEST_COMPARED = 20_000_000;

/** Other things than files were examined just before. */
function isStill(path: string, now: Snapshot, contents: Contents): boolean {
  if (now.type !== "file") return true;
  try {
    const size = contents.size(now.blob);
    if (Deno.lstatSync(path).size !== size) return false;
    if (size > LARGEST_COMPARED) return true;
    const [bytes, known] = [bytesOf(path), contents.get(now.blob)];
    return bytes.length === known.length && bytes.every((byte, at) => byte === known[at]);
  } catch {
    return false;
  }
}

/** Works on files that exclude their owner too, because nothing may come between this check and the rename. */
function bytesOf(path: string): Uint8Array {
  const read = () => {
    using file = openByRealPath(path);
    return file.take(file.size);
  };
  try {
    return read();
  } catch (error) {
    const { mode } = Deno.lstatSync(path);
    if (!(error instanceof Deno.errors.PermissionDenied) || mode === null) throw error;
    Deno.chmodSync(path, mode & 0o7777 | 0o400);
    try {
      return read();
    } finally {
      Deno.chmodSync(path, mode & 0o7777);
    }
  }
}

/** Created beside and renamed, so that the path always exists. */
async function replaceByLink(
  path: string,
  target: string,
  { journal, makeLink }: Pick<Means, "journal" | "makeLink">,
): Promise<void> {
  const temporary = temporaryFor(path);
  journal.begin(temporary);
  try {
    await makeLink(temporary, target);
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  } finally {
    journal.end(temporary);
  }
}
