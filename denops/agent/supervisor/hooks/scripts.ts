/** The files that a hook's command names: the approval covers their text, and exactly this text runs. */
import { basename, dirname, join, relative, resolve } from "node:path";
import { judgeCommand } from "../../policy/command.ts";
import { globMatcher, literalGlob } from "../../policy/glob.ts";
import { isInside } from "../../policy/path.ts";
import type { SafeToWrite } from "../../protocol/config.ts";
import { encodeHex } from "../system/hex.ts";
import { oneFile } from "../system/one_file.ts";
import type { Mount } from "../system/sandbox/mounts.ts";
import { wholeFile } from "../system/whole_file.ts";
import { type Hook, isOfUser } from "./entries.ts";

export interface HookScript {
  /** Real path. */
  readonly path: string;
  /** Relative to the project, or absolute. */
  readonly name: string;
  /** SHA-256, hexadecimal. */
  readonly hash: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isExecutable: boolean;
}

interface ScriptPlace {
  /** Real path of the project. */
  readonly root: string;
  readonly home: string | undefined;
  /** Globs of unreadable files: their text is no script. */
  readonly denied: readonly string[];
}

const LARGEST = 1024 * 1024;
const MOST_SCRIPTS = 20;
/** Of a command; a hostile project names many. */
const MOST_PATHS = 500;
/** Names of scripts; others are data or settings. */
const SCRIPT = /^[^.]+$|\.(?:sh|bash|py|js|mjs|cjs|ts|rb|pl|lua)$/;

/** A file that changes while it is read counts as missing: then the hook is another one. */
export async function scriptsOf(
  hook: Pick<Hook, "command" | "file">,
  { root, home, denied }: ScriptPlace,
): Promise<readonly HookScript[]> {
  const isDenied = globMatcher(denied);
  // Only the user's own hooks name files of the home folder.
  const mayBeAtHome = isOfUser(hook);
  const realHome = home === undefined ? undefined : await Deno.realPath(home).catch(() => undefined);
  const isOpen = (real: string) => {
    const name = relative(root, real);
    if (isInside(real, root)) return !isDenied(name) && !name.split("/").includes(".git");
    return mayBeAtHome && realHome !== undefined && isInside(real, realHome) && !isDenied(real.slice(1));
  };
  const scripts = new Map<string, HookScript>();
  for (const path of namedPaths(hook.command, root, home)) {
    if (scripts.size >= MOST_SCRIPTS) break;
    const script = await readScript(path, root, isOpen).catch(() => undefined);
    if (script !== undefined) scripts.set(script.path, script);
  }
  return [...scripts.values()];
}

async function readScript(
  path: string,
  root: string,
  isOpen: (real: string) => boolean,
): Promise<HookScript | undefined> {
  if (!isOpen(await Deno.realPath(path))) return undefined;
  const { real, bytes } = await oneFile(path, LARGEST);
  if (!isOpen(real)) return undefined;
  const { mode } = await Deno.stat(real);
  const text = new Uint8Array(bytes);
  const hash = encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-256", text)));
  const name = isInside(real, root) ? relative(root, real) : real;
  return { path: real, name, hash, bytes: text, isExecutable: ((mode ?? 0) & 0o111) !== 0 };
}

/**
 * The paths that a command may name: as its words, as words of a `sh -c`, in a redirection or behind an option's "=".
 * After a `cd`, in both folders.
 * @param folder the command starts there
 */
function namedPaths(command: string, folder: string, home: string | undefined): ReadonlySet<string> {
  const line = command.replace(/\b(?:CLAUDE|CURSOR)_PROJECT_DIR\b/g, "PWD");
  const paths = new Set<string>();
  let current = folder;
  const pathOf = (word: string) =>
    home !== undefined && /^~(?=\/|$)/.test(word) ? join(home, word.slice(1)) : resolve(current, word);
  const add = (word: string) => {
    if (paths.size < MOST_PATHS) paths.add(resolve(folder, word)).add(pathOf(word));
  };
  for (const { words } of judgeCommand(line).commands) {
    words.forEach(add);
    const [name = "", target = "~"] = words;
    if (/^(?:cd|pushd)$/.test(name)) current = pathOf(target);
  }
  for (const word of line.replace(/["']/g, "").split(/[\s;|&<>()`=]+/)) {
    add(word.replace(/\$(?:PWD\b|\{PWD\})/, ".").replace(/\$(?:HOME\b|\{HOME\})/, "~"));
  }
  return paths;
}

/** Whether the command names one of these folders or something in it, also by a link. */
export async function namesInside(
  roots: readonly string[],
  command: string,
  folder: string,
  home: string,
): Promise<boolean> {
  for (const path of namedPaths(command, folder, home)) {
    const real = await Deno.realPath(path).catch(() => path);
    if (roots.some((root) => isInside(path, root) || isInside(real, root))) return true;
  }
  return false;
}

/** Entries of `safe_to_write`: the folders of guards' scripts. These may load files that their approval does not cover. */
export async function guardFolders(
  hooks: readonly Hook[],
  root: string,
  home: string | undefined,
): Promise<readonly SafeToWrite[]> {
  const folders = new Set<string>();
  for (const { command } of hooks.filter(({ event }) => event === "PreToolUse")) {
    for (const path of namedPaths(command, root, home)) {
      const real = await Deno.realPath(path).catch(() => undefined);
      if (real === undefined || !SCRIPT.test(basename(real))) continue;
      const { isFile } = await Deno.stat(real).catch(() => ({ isFile: false }));
      if (!isFile) continue;
      for (const file of [path, real]) folders.add(dirname(file));
    }
  }
  // Guards in the project's own folder would make every file sensitive.
  return [...folders].filter((folder) => folder !== root && isInside(folder, root)).map((folder) => ({
    glob: `${literalGlob(relative(root, folder))}/**`,
    safe: false,
    reason: "a hook that guards calls may load it",
  }));
}

/** The approved texts, in the places of the files. @param folder of the supervisor */
export async function scriptMounts(
  scripts: readonly HookScript[],
  folder: string,
): Promise<readonly Mount[]> {
  return await Promise.all(scripts.map(async ({ path, hash, bytes, isExecutable }): Promise<Mount> => {
    const source = await wholeFile(join(folder, isExecutable ? `${hash}.x` : hash), bytes);
    await Deno.chmod(source, isExecutable ? 0o500 : 0o400);
    return { kind: "read", path, source };
  }));
}
