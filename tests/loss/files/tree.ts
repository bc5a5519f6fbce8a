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

/** A file of theirs. */
const MINE = /(?:^|\/)mine-\d+$/;

export function treeOf(root: string): Tree {
  const tree = new Map<string, Entry>();
  look(root, "", tree);
  return tree;
}

function look(root: string, folder: string, tree: Map<string, Entry>): void {
  const entries = [...Deno.readDirSync(join(root, folder))];
  for (const { name } of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
    const path = folder === "" ? name : `${folder}/${name}`;
    const full = join(root, path);
    const info = Deno.lstatSync(full);
    const mode = (info.mode ?? 0) & 0o7777;
    if (info.isSymlink) {
      tree.set(path, { kind: "link", mode, what: `link to ${Deno.readLinkSync(full)}` });
    } else if (info.isDirectory) {
      tree.set(path, { kind: "folder", mode, what: `folder ${mode.toString(8)}` });
      opened(full, mode, 0o500, () => look(root, path, tree));
    } else {
      const bytes = opened(full, mode, 0o400, () => Deno.readFileSync(full));
      const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
      const text = Buffer.from(bytes).toString("latin1");
      tree.set(path, { kind: "file", mode, what: `file ${mode.toString(8)} ${hash}`, text });
    }
  }
}

/** Its owner may look at everything, for as long as it takes. */
function opened<Result>(path: string, mode: number, needed: number, act: () => Result): Result {
  if ((mode & needed) === needed) return act();
  Deno.chmodSync(path, mode | needed);
  try {
    return act();
  } finally {
    Deno.chmodSync(path, mode);
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
  const holding = foldersOfMine(tree);
  return new Map([...tree].filter(([path]) => !isMine(path) && (known.has(path) || !holding.has(path))));
}

/** Folders with a file of the user's own somewhere below. */
export function foldersOfMine(tree: Tree): ReadonlySet<string> {
  const holding = new Set<string>();
  for (const path of tree.keys()) {
    if (!isMine(path)) continue;
    for (let at = parentOf(path); at !== ""; at = parentOf(at)) holding.add(at);
  }
  return holding;
}

export function isMine(path: string): boolean {
  return MINE.test(path);
}

export function parentOf(path: string): string {
  const folder = dirname(path);
  return folder === "." ? "" : folder;
}
