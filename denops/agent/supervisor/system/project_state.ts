/** The folder of a project's sessions. */
import { basename, join } from "node:path";
import { SCRATCH_FOLDER } from "../../protocol/sessions_file.ts";
import { encodeHex } from "./hex.ts";

/** A full disk may have room for a name, but not for data. */
const SOME_BYTES = new Uint8Array(4096);

/** Creates the state folder. @throws {Error} one line if it is not writable */
export async function ensureStateFolder(stateDir: string): Promise<void> {
  try {
    await Deno.mkdir(stateDir, { recursive: true, mode: 0o700 });
    const file = await Deno.makeTempFile({ dir: stateDir });
    await Deno.writeFile(file, SOME_BYTES).finally(() => Deno.remove(file));
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/:.*/s, "") : String(error);
    const cure = /no space|quota/i.test(reason) ? "Make room on its disk" : "Make it writable";
    throw new Error(
      `Cannot write into the state folder ${stateDir} (${reason}). ${cure}, or set the option state_dir.`,
    );
  }
}

/** `<name>-<hash of the real path>` */
export async function projectStateName(root: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(root)));
  return `${basename(root)}-${encodeHex(digest).slice(0, 12)}`;
}

/** The state folder of a project. */
export async function projectState(root: string, stateDir: string): Promise<string> {
  const folder = join(stateDir, await projectStateName(root));
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  return await Deno.realPath(folder);
}

/**
 * Creates the folder for the scratch folders of a project's sessions. Engines and commands get it as a mount
 * of its own, so none of them can replace it.
 * @param state from `projectState` @throws {Error} one line if the path is something else
 */
export async function scratchFolder(state: string): Promise<string> {
  const folder = join(state, SCRATCH_FOLDER);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  if (await Deno.realPath(folder) !== folder) throw new Error(`${folder} is behind a link. Remove it.`);
  return folder;
}
