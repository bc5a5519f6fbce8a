/** Whether a folder for programs is the project's own: one that is a link belongs to another checkout. @module */

import { basename, dirname, join, resolve } from "node:path";

export interface DepsFolder {
  /** The real path, for what is started from there names it. */
  readonly path: string;
  /** Only then anything in it may be made or changed. */
  readonly isOwn: boolean;
}

/** The folder need not be there yet. */
export async function depsFolder(chosen: string): Promise<DepsFolder> {
  const path = resolve(chosen);
  const parent = await Deno.realPath(dirname(path)).catch(() => dirname(path));
  const own = join(parent, basename(path));
  const real = await Deno.realPath(path).catch(() => own);
  return { path: real, isOwn: real === own };
}

/** @throws {Error} one line, if `path` is or leads to something outside of the folder */
export async function assertInside(path: string, { path: folder }: DepsFolder): Promise<void> {
  const real = await Deno.realPath(path);
  if (real !== folder && !real.startsWith(folder + "/")) {
    throw new Error(`Cannot change ${path}: it leads to ${real}, outside of ${folder}`);
  }
}

/** What to say where something is missing in a folder that may not be changed. */
export function notOwn(chosen: string, { path }: DepsFolder, what: string): Error {
  return new Error(
    `Cannot use ${what} of ${path}: missing there, or made for another folder. ` +
      `${
        resolve(chosen)
      } is a link, and what it leads to is not changed: run \`deno task test\` there, or remove the link.`,
  );
}
