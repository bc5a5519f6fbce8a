/** A project of {@link scratch} that begins anew. To make a file costs more than to look at it: what no test has changed stays. */
import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { MINES } from "./mines.ts";
import { commitAll, removeTree, type Scratch } from "./project.ts";

type Files = Readonly<Record<string, string | Uint8Array>>;

/** What tells whether a file is still the same, by its path. */
type Stamps = ReadonlyMap<string, string>;

interface Start {
  readonly files: Files;
  readonly mined: boolean;
  readonly stamps: Stamps;
}

const starts = new WeakMap<Scratch["path"], Start>();

interface ResetOptions {
  readonly mined?: boolean;
  /** True: the commit is another one than before. */
  readonly isNewCommit: boolean;
}

/** The project has these files, as its first commit. */
export async function resetProject(
  project: Scratch,
  files: Files,
  { mined = true, isNewCommit }: ResetOptions,
): Promise<void> {
  const before = starts.get(project.path);
  const now = stampsIn(project.root);
  const isUnchanged = (path: string) => before?.stamps.get(path) === now.get(path);
  const isSame = mined === before?.mined && JSON.stringify(files) === JSON.stringify(before.files);
  const hasCommit = !isNewCommit && isSame &&
    [...now.keys(), ...before.stamps.keys()].filter((path) =>
      path.startsWith(".git/") || MINES.includes(path)
    )
      .every(isUnchanged);
  const isMine = (path: string) =>
    mined && before?.mined === true && !(path in before.files) &&
    MINES.some((mine) => `${mine}/`.startsWith(`${path}/`));
  await clear(project.root, "", (path) => isUnchanged(path) && (hasCommit || isMine(path)));
  for (const [path, content] of Object.entries(files)) {
    if (!hasCommit || !existsSync(project.path(path))) await project.write(path, content);
  }
  if (!hasCommit) await commitAll(project.root, mined);
  starts.set(project.path, { files, mined, stamps: stampsIn(project.root) });
}

function stampsIn(root: string): Stamps {
  const stamps = new Map<string, string>();
  const read = (folder: string) => {
    for (const { name, isDirectory } of Deno.readDirSync(join(root, folder))) {
      const path = join(folder, name);
      // It may be gone again, if a process is just ending.
      const stat = lstatSync(join(root, path), { bigint: true, throwIfNoEntry: false });
      stamps.set(path, [stat?.ino, stat?.mode, ...isDirectory ? [] : [stat?.size, stat?.ctimeNs]].join());
      if (isDirectory) read(path);
    }
  };
  read("");
  return stamps;
}

async function clear(root: string, folder: string, isKept: (path: string) => boolean): Promise<void> {
  for (const { name, isDirectory } of Deno.readDirSync(join(root, folder))) {
    const path = join(folder, name);
    if (!isKept(path)) await removeTree(join(root, path));
    else if (isDirectory) await clear(root, path, isKept);
  }
}
