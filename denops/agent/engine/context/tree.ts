/** Formats a list of files as a tree of limited length: shallow folders are opened first. Pure. */

/** Entries of one folder; the rest is counted. */
const MOST_ENTRIES = 30;

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly files: string[];
}

/**
 * @param paths relative, with forward slashes @param most characters @param all the list is complete, so files of
 * closed folders can be counted
 */
export function treeText(paths: readonly string[], most: number, all: boolean): string {
  const root = folderOf(paths);
  const open = new Set<Folder>();
  const text = () => lines(root, "", open, all).join("\n");
  let best = "";
  for (const folder of byDepth(root)) {
    open.add(folder);
    const opened = text();
    if (opened.length <= most) best = opened;
    else if (folder === root) return opened.slice(0, Math.max(0, opened.lastIndexOf("\n", most)));
    else open.delete(folder);
  }
  return best;
}

function folderOf(paths: readonly string[]): Folder {
  const root: Folder = { folders: new Map(), files: [] };
  for (const path of [...paths].sort()) {
    const parts = path.split("/");
    const name = parts.pop() ?? "";
    let folder = root;
    for (const part of parts) {
      const next: Folder = folder.folders.get(part) ?? { folders: new Map(), files: [] };
      folder.folders.set(part, next);
      folder = next;
    }
    folder.files.push(name);
  }
  return root;
}

/** Only few of many folders can be open, so only few are tried. */
const MOST_TRIED = 200;

function byDepth(root: Folder): readonly Folder[] {
  const found = [root];
  for (let at = 0; at < found.length && found.length < MOST_TRIED; at++) {
    found.push(...found[at]?.folders.values() ?? []);
  }
  return found.slice(0, MOST_TRIED);
}

function lines(folder: Folder, indent: string, open: ReadonlySet<Folder>, all: boolean): readonly string[] {
  const folders = [...folder.folders].flatMap(([name, below]) => {
    if (!open.has(below)) return [`${indent}${name}/${all ? ` ${fileCount(below)}` : ""}`];
    return [`${indent}${name}/`, ...lines(below, `${indent}  `, open, all)];
  });
  const files = folder.files.slice(0, MOST_ENTRIES).map((name) => indent + name);
  const left = folder.files.length - files.length;
  return [...folders, ...files, ...left > 0 ? [`${indent}[${left} more files]`] : []];
}

function fileCount(folder: Folder): string {
  const count = filesIn(folder);
  return count === 1 ? "(1 file)" : `(${count} files)`;
}

function filesIn({ folders, files }: Folder): number {
  return folders.values().reduce((sum, below) => sum + filesIn(below), files.length);
}
