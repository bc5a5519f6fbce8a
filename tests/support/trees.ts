/** Folders as text, to compare them; and the changes of an overlay made in a copy. */
import { createHash } from "node:crypto";
import { lstatSync, lutimesSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { OverlayChanges } from "../../denops/agent/supervisor/commands/overlay/changes.ts";

/** Of each path what it is. */
export type Tree = ReadonlyMap<string, string>;

export interface TreeOptions {
  /** Times, inodes and numbers of names too. */
  readonly exact?: boolean;
  /** Of these paths the content is not looked at. */
  readonly blind?: (path: string) => boolean;
}

/** Without `exact`, what is closed to its owner is opened for as long as it is looked at. */
export function treeOf(root: string, options: TreeOptions = {}): Tree {
  const found = new Map<string, string>();
  const walk = (path: string) => {
    const own = join(root, path);
    const info = lstatSync(own, { bigint: true });
    const mode = Number(info.mode) & 0o7777;
    const times = options.exact ? ` ${info.mtimeNs} ${info.ctimeNs} ${info.ino} ${info.nlink}` : "";
    const say = (text: string) => found.set(path, `${text}${times}`);
    if (info.isSymbolicLink()) return say(`link to ${Deno.readLinkSync(own)}`);
    const isFolder = info.isDirectory();
    if (!isFolder && !info.isFile()) return say(`special ${mode.toString(8)}`);
    const isClosed = !options.exact && (mode & 0o500) !== 0o500;
    if (isClosed) Deno.chmodSync(own, mode | 0o500);
    if (isFolder) {
      say(`folder ${mode.toString(8)}`);
      for (const { name } of allowed(() => [...Deno.readDirSync(own)]) ?? []) walk(join(path, name));
    } else {
      const bytes = options.blind?.(path) ? undefined : allowed(() => readFileSync(own));
      const hash = bytes === undefined ? "" : createHash("sha256").update(bytes).digest("hex").slice(0, 12);
      say(`file ${mode.toString(8)} ${hash}`);
    }
    if (isClosed) Deno.chmodSync(own, mode);
  };
  walk("");
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A copy with modes, links and times. */
export async function copyTree(from: string, to: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("cp", { args: ["-a", "-T", "--", from, to] }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** @param upper the folder that holds the new contents */
export function applyChanges({ changes }: OverlayChanges, upper: string, root: string): void {
  const closed: { readonly path: string; readonly mode: number }[] = [];
  for (const { path, before, after } of changes) {
    const own = join(root, path);
    if (before !== undefined && (before !== after?.type || before === "link")) {
      Deno.removeSync(own, { recursive: true });
    }
    if (after?.type === "link") Deno.symlinkSync(after.target, own);
    if (after?.type === "folder") {
      if (before !== "folder") Deno.mkdirSync(own);
      Deno.chmodSync(own, 0o700);
      closed.push({ path: own, mode: after.mode });
    }
    if (after?.type === "file") {
      if (before === "file") Deno.removeSync(own);
      Deno.chmodSync(join(upper, path), 0o600);
      Deno.copyFileSync(join(upper, path), own);
      Deno.chmodSync(own, after.mode);
    }
  }
  for (const { path, mode } of closed.reverse()) Deno.chmodSync(path, mode);
}

/** What is looked at later is not of the same moment. */
export function backdate(root: string): void {
  for (const path of [...treeOf(root).keys()].reverse()) lutimesSync(join(root, path), 1e9, 1e9);
}

function allowed<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
