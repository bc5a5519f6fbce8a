/** The index of the project, whose code is loaded when it is first used: most sessions never do. */
import { join } from "node:path";
import type { CodeIndex, Embedder, ProjectIndexes } from "../ports/code_index.ts";
import type { Search } from "../ports/search.ts";
import type { ProjectIndex } from "./project_index.ts";

/** In the project's state folder. */
const INDEX_FILE = "index.db";

/** Milliseconds after a session's start until an existing index is brought up to date. */
const AFTER_MS = 5_000;

export class LazyIndex implements ProjectIndexes {
  /** Undefined: in memory. */
  readonly #path: string | undefined;
  readonly #roots: readonly string[];
  #loading: Promise<ProjectIndex> | undefined;
  #isAwake = false;

  /** @param folder the project's state folder @param roots real paths, the project first */
  constructor(folder: string | undefined, roots: readonly string[]) {
    this.#path = folder === undefined ? undefined : join(folder, INDEX_FILE);
    this.#roots = roots;
  }

  of(search: Search, embedder?: Embedder): CodeIndex {
    const load = async () => (await this.#load()).of(search, embedder);
    this.#wake(load);
    return {
      ask: async (query, signal) => await (await load()).ask(query, signal),
      state: async (change) => await (await load()).state(change),
      changed: () => {
        if (this.#loading !== undefined) load().then((index) => index.changed(), () => {});
      },
    };
  }

  #load(): Promise<ProjectIndex> {
    return this.#loading ??= import("./project_index.ts").then(({ ProjectIndex }) =>
      new ProjectIndex(this.#path, this.#roots)
    );
  }

  /** An existing index is kept up to date, from the first session on. */
  #wake(load: () => Promise<CodeIndex>): void {
    if (this.#isAwake || this.#path === undefined) return;
    this.#isAwake = true;
    const path = this.#path;
    const timer = setTimeout(async () => {
      const exists = await Deno.stat(path).then(({ isFile }) => isFile, () => false);
      if (exists) await load().then((index) => index.changed(), () => {});
    }, AFTER_MS);
    Deno.unrefTimer(timer);
  }
}
