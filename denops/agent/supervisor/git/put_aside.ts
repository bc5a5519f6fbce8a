/** Moves files from a project to the state folder, from where the user can restore them. */
import { basename, dirname, join, relative } from "node:path";
import { isInside } from "../../policy/path.ts";
import { statOf } from "./folder_tree.ts";
import { openProgram } from "../system/programs.ts";
import { findProgram, sandbox } from "../system/sandbox.ts";

export interface Aside {
  readonly path: string;
  /** The new content; undefined: nothing. */
  readonly replacement?: string;
}

/** Takes three arguments each: the file, its destination, and the file with the replacement or nothing. */
const MOVE =
  'while [ $# -gt 2 ]; do mkdir -p "${2%/*}" && mv -- "$1" "$2" && { [ -z "$3" ] || cp -- "$3" "$1"; }; shift 3; done';

/** More files at once are unusual for a project, and do not fit into a command line. */
const MOST_AT_ONCE = 200;

/**
 * @param places the files' folders: the sandbox makes nothing else writable, so that a running command cannot
 * interpose a link that leads elsewhere
 * @returns the new path of each file; files that could not be moved are missing
 */
export async function putAside(
  files: readonly Aside[],
  places: readonly string[],
  { state, roots }: { readonly state: string; readonly roots: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const date = new Date().toISOString().slice(0, 19).replaceAll(":", "");
  const folder = join(state, "put_aside", `${date}-${crypto.randomUUID().slice(0, 8)}`);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const moves = await Promise.all(files.map(async ({ path, replacement }, index) => {
    const place = places.find((one) => isInside(path, one)) ?? dirname(path);
    const to = join(folder, basename(place), relative(place, path));
    const written = replacement === undefined ? "" : join(folder, `replacement-${index}`);
    if (replacement !== undefined) await Deno.writeTextFile(written, replacement);
    return [path, to, written] as const;
  }));
  for (let at = 0; at < moves.length; at += MOST_AT_ONCE) {
    await run(moves.slice(at, at + MOST_AT_ONCE).flat(), [...places, folder], roots);
  }
  for (const [, , written] of moves) if (written !== "") await Deno.remove(written).catch(() => {});
  return new Map(moves.filter(([, to]) => statOf(to) !== undefined).map(([path, to]) => [path, to]));
}

async function run(
  args: readonly string[],
  places: readonly string[],
  roots: readonly string[],
): Promise<void> {
  const found = await sandbox(roots);
  const shell = await findProgram("sh", roots) ?? "/bin/sh";
  const command = [shell, "-c", MOVE, "sh", ...args];
  const confined = found.level === "bubblewrap"
    ? [
      ...[found.bwrap, "--unshare-all", "--die-with-parent", "--new-session"],
      ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc"],
      ...places.flatMap((path) => ["--bind", path, path]),
      ...["--", ...command],
    ]
    : command;
  const [program = "", ...rest] = confined;
  await openProgram("put_aside", program, {
    args: rest,
    cwd: "/",
    leadsGroup: true,
    env: { PATH: "/usr/bin:/bin:/run/current-system/sw/bin" },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
}
