/** Pictures of a folder: what is at each path, whoever may read it. */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";

/** Path → kind, mode and content. */
export type Tree = ReadonlyMap<string, Entry>;

export interface Entry {
  readonly kind: "file" | "folder" | "link";
  /** What must be the same for the entry to be the same. */
  readonly what: string;
  /** Of a file: one character for each byte. */
  readonly text?: string;
  readonly mode: number;
}

/** What the user has put somewhere: found again by this. */
const MARK = /user-\d+/g;

export async function treeOf(root: string): Promise<Tree> {
  const tree = new Map<string, Entry>();
  await look(root, "", tree);
  return tree;
}

async function look(root: string, folder: string, tree: Map<string, Entry>): Promise<void> {
  const entries = await Array.fromAsync(Deno.readDir(join(root, folder)));
  for (const { name } of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
    const path = folder === "" ? name : `${folder}/${name}`;
    const full = join(root, path);
    const info = await Deno.lstat(full);
    const mode = (info.mode ?? 0) & 0o7777;
    if (info.isSymlink) {
      tree.set(path, { kind: "link", mode, what: `link to ${await Deno.readLink(full)}` });
    } else if (info.isDirectory) {
      tree.set(path, { kind: "folder", mode, what: `folder ${mode.toString(8)}` });
      await opened(full, mode, 0o500, () => look(root, path, tree));
    } else {
      const bytes = await opened(full, mode, 0o400, () => Deno.readFile(full));
      const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
      const text = Buffer.from(bytes).toString("latin1");
      tree.set(path, { kind: "file", mode, what: `file ${mode.toString(8)} ${hash}`, text });
    }
  }
}

/** Its owner may look at everything, for as long as it takes. */
export async function opened<Result>(
  path: string,
  mode: number,
  needed: number,
  act: () => Promise<Result>,
): Promise<Result> {
  if ((mode & needed) === needed) return await act();
  await Deno.chmod(path, mode | needed);
  try {
    return await act();
  } finally {
    await Deno.chmod(path, mode);
  }
}

export function marksOf(tree: Tree): ReadonlySet<string> {
  return new Set(
    [...tree.entries()].flatMap(([path, { text }]) => `${path}\n${text ?? ""}`.match(MARK) ?? []),
  );
}

/** One line for each path at which they differ. */
export function differences(wanted: Tree, found: Tree): readonly string[] {
  return [...new Set([...wanted.keys(), ...found.keys()])].sort().flatMap((path) => {
    const [was, is] = [wanted.get(path)?.what ?? "nothing", found.get(path)?.what ?? "nothing"];
    return was === is ? [] : [`${JSON.stringify(path)}: ${was} expected, ${is} found`];
  });
}

/** Without the user's own files, and without the folders that stand for them alone. */
export function withoutMine(tree: Tree, known: Tree): Tree {
  const kept = new Map([...tree].filter(([path]) => !isMine(path)));
  for (const path of [...kept.keys()].reverse()) {
    const holds = [...tree.keys()].some((one) => isMine(one) && one.startsWith(`${path}/`));
    if (holds && !known.has(path)) kept.delete(path);
  }
  return kept;
}

export function isMine(path: string): boolean {
  return /(^|\/)mine-\d+$/.test(path);
}

export function parentOf(path: string): string {
  const folder = dirname(path);
  return folder === "." ? "" : folder;
}
