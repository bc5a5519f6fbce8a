/**
 * Remembers that overlays work, because a test starts some 25 programs. Only for commands' speed: each overlay is mounted
 * when its command starts, and without it the command does not start. So a wrong file costs one failed command.
 */
import { join } from "node:path";
import { encodeHex } from "../../system/hex.ts";
import { wholeFile } from "../../system/whole_file.ts";
import { findTools } from "./holder.ts";
import type { OverlayOptions } from "./overlay.ts";

/** In the supervisor's folder. */
const FOLDER = "overlay-support";

type OverlayPlace = Pick<OverlayOptions, "roots" | "state" | "store">;

/** Whether a test succeeded with this kernel, these tools and these file systems. @throws {Error} without the tools */
export async function hasSupportFile(place: OverlayPlace): Promise<boolean> {
  const text = await Deno.readTextFile(await fileOf(place)).catch(() => undefined);
  return text !== undefined && text === await machine(place);
}

export async function writeSupportFile(place: OverlayPlace): Promise<void> {
  await wholeFile(await fileOf(place), new TextEncoder().encode(await machine(place)));
}

export async function removeSupportFile(place: OverlayPlace): Promise<void> {
  await Deno.remove(await fileOf(place)).catch(() => {});
}

async function fileOf({ roots, state, store }: OverlayPlace): Promise<string> {
  return join(state, FOLDER, (await digest([roots, store])).slice(0, 16));
}

async function machine({ roots, state }: OverlayPlace): Promise<string> {
  const { bwrap, nsenter, sh, mount } = await findTools(roots);
  const programs = await Promise.all([bwrap, nsenter, sh, mount].map(async (path) => {
    const { ino, size, mtime } = await Deno.stat(path);
    return [path, ino, size, mtime?.getTime()];
  }));
  const devices = await Promise.all([state, ...roots].map(async (path) => (await Deno.stat(path)).dev));
  return await digest([Deno.osRelease(), Deno.uid(), programs, devices]);
}

async function digest(facts: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(facts));
  return encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
