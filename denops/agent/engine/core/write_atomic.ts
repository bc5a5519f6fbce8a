/** All or nothing on the disk. */
import { basename, dirname, join } from "node:path";
import type { WriteJournal } from "./ports.ts";

/**
 * Writes all or nothing: a temporary file in the same folder, synced, then renamed over the target.
 * The mode of an existing file is kept; a hard link to it elsewhere keeps the old content.
 */
export async function writeAtomic(
  path: string,
  content: Uint8Array | Iterable<Uint8Array>,
  mode: number | undefined,
  journal: WriteJournal,
): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.${shortName(path)}.${crypto.randomUUID().slice(0, 8)}.tmp`);
  journal.begin(temporary);
  try {
    {
      using file = await Deno.open(temporary, { write: true, createNew: true });
      // For as long as this process lives nobody takes it for a left-over.
      await file.lock(true);
      for (const bytes of content instanceof Uint8Array ? [content] : content) {
        let written = 0;
        while (written < bytes.length) written += await file.write(bytes.subarray(written));
      }
      if (mode !== undefined && Deno.build.os !== "windows") await Deno.chmod(temporary, mode);
      await file.sync();
    }
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  } finally {
    journal.end(temporary);
  }
}

/** A name may have 255 bytes, and a character up to four of them. */
function shortName(path: string): string {
  return [...basename(path)].slice(0, 50).join("");
}
