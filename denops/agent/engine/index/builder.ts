/** Brings the index up to date with the files, in short slices. One engine of a project does it at a time. */
import { chunksOf } from "./chunks.ts";
import { linksOf } from "./links.ts";
import type { IndexedFile, IndexFile } from "./index_file.ts";
import type { Slices } from "./slices.ts";
import { isSameFile, stampOfFile, textOf } from "./text_of.ts";

/** Milliseconds until the work so far is committed, so that questions see it. */
const COMMIT_MS = 1_000;

/** Files that are compared at once. */
const PAGE = 500;

interface Changes {
  /** Files of the index that are no longer listed. */
  readonly gone: readonly IndexedFile[];
  /** Listed names that must be indexed, changed files first. */
  readonly stale: readonly string[];
  /** A listed file of the index has become unlisted although it exists: its words must leave the database. */
  readonly hidden: boolean;
}

interface BuildPorts {
  readonly slices: Slices;
  /** The real path of an indexed file. */
  pathOf(name: string): string;
  /** The work so far is stored. */
  committed(): void;
}

/**
 * @param listed the project's files, name → real path
 * @throws if it is aborted, or the database fails
 */
export async function buildIndex(
  index: IndexFile,
  listed: ReadonlyMap<string, string>,
  ports: BuildPorts,
): Promise<void> {
  const { slices } = ports;
  const changes = await changesOf(index, listed, ports);
  const writing = new Writing(index, ports.committed, changes.stale.length);
  try {
    writing.step(() => index.set("total", listed.size));
    if (changes.hidden) writing.step(() => index.set("purge", 1));
    writing.commit();
    for (const { id } of changes.gone) {
      writing.step(() => index.remove(id));
      await slices.next();
    }
    for (const name of changes.stale) {
      writing.step(() => indexFile(index, name, listed.get(name) ?? ""));
      writing.left -= 1;
      await slices.next();
    }
    writing.step(() => index.set("updated", Date.now()));
    writing.commit();
  } finally {
    index.rollBack();
  }
  await purge(index, slices);
}

/** Work in transactions that end after a while. */
class Writing {
  /** Files that are not indexed yet. */
  left: number;
  readonly #index: IndexFile;
  readonly #committed: () => void;
  #since: number | undefined;

  constructor(index: IndexFile, committed: () => void, left: number) {
    this.#index = index;
    this.#committed = committed;
    this.left = left;
  }

  step(work: () => void): void {
    if (this.#since === undefined) this.#index.begin();
    this.#since ??= performance.now();
    work();
    if (performance.now() - this.#since > COMMIT_MS) this.commit();
  }

  commit(): void {
    if (this.#since === undefined) return;
    this.#index.set("left", this.left);
    this.#index.commit();
    this.#since = undefined;
    this.#committed();
  }
}

async function changesOf(
  index: IndexFile,
  listed: ReadonlyMap<string, string>,
  { slices, pathOf }: BuildPorts,
): Promise<Changes> {
  const gone: IndexedFile[] = [];
  const changed: string[] = [];
  const known = new Set<string>();
  let hidden = false;
  for (let page = index.files("", PAGE); page.length > 0; page = index.files(page.at(-1)?.path ?? "", PAGE)) {
    for (const file of page) {
      const path = listed.get(file.path);
      if (path === undefined) {
        gone.push(file);
        hidden ||= stampOfFile(pathOf(file.path)) !== undefined;
      } else {
        known.add(file.path);
        if (!isSameFile(file.stamp, stampOfFile(path))) changed.push(file.path);
      }
      await slices.next();
    }
  }
  const added: string[] = [];
  for (const name of listed.keys()) if (!known.has(name)) added.push(name);
  return { gone, stale: [...changed, ...added], hidden };
}

/** Indexes a file as it is now. @param path real */
export function indexFile(index: IndexFile, name: string, path: string): void {
  const stamp = stampOfFile(path);
  // A change while it is read changes the stamp.
  const text = stamp === undefined ? undefined : textOf(path);
  if (text === undefined) index.put(name, stamp ?? "", []);
  else index.put(name, stamp ?? "", chunksOf(text), linksOf(name, text));
}

/** Removes the words of hidden files from the database; one that was interrupted is continued. */
async function purge(index: IndexFile, slices: Slices): Promise<void> {
  if (index.get("purge") === undefined) return;
  for (let isFirst = true; index.transaction(() => index.purge(isFirst)); isFirst = false) {
    await slices.next();
  }
  index.transaction(() => index.unset("purge"));
  index.checkpoint();
}
