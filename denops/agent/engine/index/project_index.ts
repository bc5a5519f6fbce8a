/** The index of one project: built when it is first needed, kept up to date, and asked. */
import { nameInRoots, pathInRoot } from "../../policy/roots.ts";
import type { IndexChange, IndexState } from "../../protocol/results/index.ts";
import { messageOf, ToolError } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import type { CodeIndex, Embedder, MeaningAnswer, MeaningQuery } from "../ports/code_index.ts";
import type { LeftOut } from "../ports/commands.ts";
import type { Search } from "../ports/search.ts";
import { answer } from "./answer.ts";
import { buildIndex } from "./builder.ts";
import { IndexFile, isUseless, removeIndex } from "./index_file.ts";
import { Slices } from "./slices.ts";
import { embedChunks, questionVector } from "./vectors.ts";

/** Files of a root that are indexed. */
const MOST_FILES = 200_000;

/** Above this many files, a question does not wait until an existing index is up to date. */
const SMALL = 5_000;

/** A question waits for an update this long, from the update's start. */
const PATIENCE_MS = 5_000;

/** Least pause between two updates in the background: milliseconds, and as a multiple of the last one's time. */
const REST_MS = 2_000;
const REST = 10;

/** An unused database stays open this long: the first question to a large one that was just opened takes three times as long. */
const IDLE_MS = 60_000;

/** Milliseconds between two looks at the lock of another engine. */
const LOCK_MS = 50;

interface IndexPorts {
  readonly search: Search;
  readonly embedder: Embedder | undefined;
}

interface OpenIndex {
  readonly index: IndexFile;
  users: number;
  /** Without users: the file's stamp, and the timer that closes it. */
  idle?: { readonly stamp: string; readonly timer: ReturnType<typeof setTimeout> };
}

interface Update {
  readonly since: number;
  readonly abort: AbortController;
  readonly done: Promise<unknown>;
}

export class ProjectIndex {
  /** Undefined: in memory. */
  readonly #path: string | undefined;
  #memory: IndexFile | undefined;
  readonly #roots: readonly string[];
  /** The open database and its users: SQLite would let two connections of one thread wait for each other. */
  #open: OpenIndex | undefined;
  #update: Update | undefined;
  #embedding: Omit<Update, "since"> | undefined;
  #last = { end: -Infinity, took: 0 };
  #problem: string | undefined;
  #leftOut: LeftOut | undefined;
  /** Called when more files are stored: questions that wait. */
  readonly #waiting = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param path of the database; undefined: in memory @param roots real paths, the project first */
  constructor(path: string | undefined, roots: readonly string[]) {
    this.#path = path;
    this.#memory = path === undefined ? IndexFile.inMemory() : undefined;
    this.#roots = roots;
  }

  /** @param search lists the files that the model of a session may see */
  of(search: Search, embedder?: Embedder): CodeIndex {
    const ports = { search, embedder };
    return {
      ask: (query, signal) => this.#ask(query, ports, signal),
      state: (change) => this.#state(ports, change),
      changed: () => this.#later(ports),
    };
  }

  async #ask(query: MeaningQuery, ports: IndexPorts, signal: AbortSignal): Promise<MeaningAnswer> {
    try {
      return await this.#tryAsk(query, ports, signal);
    } catch (error) {
      if (signal.aborted || !isUseless(error)) throw cannotSearch(error);
    }
    // The file was damaged after it was opened.
    await this.#remove();
    return await this.#tryAsk(query, ports, signal).catch((error) => {
      throw cannotSearch(error);
    });
  }

  async #tryAsk(query: MeaningQuery, ports: IndexPorts, signal: AbortSignal): Promise<MeaningAnswer> {
    using handle = this.#use();
    const { index } = handle;
    const isQuick = index.get("updated") === undefined || Number(index.get("total")) <= SMALL;
    const rested = performance.now() - this.#last.end;
    if (isQuick || rested > this.#last.took * REST) this.#start(ports);
    if (isQuick) await this.#wait(index, query.progress, signal);
    const { vector, problem } = ports.embedder === undefined || index.vectorCount() === 0
      ? {}
      : await questionVector(query.question, ports.embedder, signal);
    const { hits, isOutdated } = await answer(index, query, vector);
    if (isOutdated) this.#later(ports);
    return {
      hits,
      notes: [...this.#notes(index), ...problem === undefined ? [] : [problem]],
      ...defined({ leftOut: this.#leftOut }),
    };
  }

  /** Waits for the running update, but not for long. */
  async #wait(index: IndexFile, progress: MeaningQuery["progress"], signal: AbortSignal): Promise<void> {
    const update = this.#update;
    if (update === undefined) return;
    const left = update.since + PATIENCE_MS - performance.now();
    if (left <= 0) return;
    const tell = () => progress?.(progressOf(index) ?? "the index is being built");
    this.#waiting.add(tell);
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await Promise.race([
        update.done,
        new Promise((resolve) => timer = setTimeout(resolve, left)),
        new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true })),
      ]);
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(tell);
    }
    signal.throwIfAborted();
  }

  #notes(index: IndexFile): readonly string[] {
    const progress = index.get("updated") === undefined ? progressOf(index) : undefined;
    return [
      ...progress === undefined
        ? []
        : [`The index is not complete: ${progress}. Other files may answer better.`],
      ...this.#problem === undefined ? [] : [this.#problem],
    ];
  }

  async #state(ports: IndexPorts, change: IndexChange | undefined): Promise<IndexState> {
    try {
      if (change === "rebuild" || change === "delete") await this.#remove();
      this.#closeChanged();
      if (change === "build" || change === "rebuild") this.#start(ports);
      const exists = this.#path === undefined || this.#open !== undefined || sizeOf(this.#path) > 0;
      if (!exists && this.#update === undefined) {
        return {
          state: "none",
          files: 0,
          chunks: 0,
          total: 0,
          bytes: 0,
          vectors: 0,
          ...defined({ problem: this.#problem }),
        };
      }
      using handle = this.#use();
      const { index } = handle;
      const updated = index.get("updated");
      const total = Number(index.get("total") ?? 0);
      const isReady = updated !== undefined && this.#update === undefined;
      return {
        // Another engine may be building it.
        state: isReady ? "ready" : this.#update !== undefined || total > 0 ? "building" : "none",
        ...index.counts(),
        total,
        vectors: index.vectorCount(),
        bytes: this.#path === undefined ? 0 : sizeOf(this.#path) + sizeOf(`${this.#path}-wal`),
        ...defined({
          updated: updated === undefined ? undefined : Number(updated),
          problem: this.#problem,
          model: ports.embedder?.model,
        }),
      };
    } catch (error) {
      throw cannotSearch(error);
    }
  }

  /** Updates the index later in the background, once for many changes. */
  #later(ports: IndexPorts): void {
    if (this.#timer !== undefined) return;
    const wait = this.#last.end + this.#last.took * REST - performance.now();
    const timer = this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#update === undefined) this.#start(ports);
      else this.#later(ports);
    }, Math.max(REST_MS, wait));
    Deno.unrefTimer(timer);
  }

  /** Updates the index, unless this or another engine does it already. */
  #start(ports: IndexPorts): void {
    if (this.#update !== undefined) return;
    const [since, abort] = [performance.now(), new AbortController()];
    const done = this.#run(ports, abort.signal).then(
      () => this.#problem = undefined,
      (error) => {
        if (!abort.signal.aborted) {
          this.#problem = `Cannot update the index: ${messageOf(error)}. Try :Agent index rebuild.`;
        }
        if (!isUseless(error) || this.#path === undefined || (this.#open?.users ?? 0) > 0) return;
        this.#close();
        removeIndex(this.#path);
      },
    ).then(() => {
      this.#update = undefined;
      this.#last = { end: performance.now(), took: performance.now() - since };
    });
    this.#update = { since, abort, done };
  }

  async #run({ search, embedder }: IndexPorts, signal: AbortSignal): Promise<void> {
    using lock = this.#path === undefined
      ? undefined
      : await lockOf(this.#path, () => this.#waiting.size > 0);
    if (this.#path !== undefined && lock === undefined) return;
    const listed = await this.#list(search, signal);
    using handle = this.#use();
    await buildIndex(handle.index, listed, {
      slices: new Slices(signal, () => this.#waiting.size > 0),
      pathOf: (name) => this.#pathOf(name),
      committed: () => this.#waiting.forEach((tell) => tell()),
    });
    if (embedder !== undefined) this.#embed(embedder);
  }

  /** Makes missing vectors in the background; a question does not wait for it. */
  #embed(embedder: Embedder): void {
    if (this.#embedding !== undefined) return;
    const abort = new AbortController();
    const pathOf = (name: string) => this.#pathOf(name);
    const work = async () => {
      // Another engine may do it.
      using lock = this.#path === undefined ? undefined : await lockOf(`${this.#path}.vectors`, () => false);
      if (this.#path !== undefined && lock === undefined) return;
      using handle = this.#use();
      const slices = new Slices(abort.signal, () => false);
      await embedChunks(handle.index, embedder, { slices, pathOf, signal: abort.signal });
    };
    const done = work().catch((error) => {
      if (!abort.signal.aborted) this.#problem = messageOf(error);
    }).then(() => this.#embedding = undefined);
    this.#embedding = { abort, done };
  }

  /** The files that models may see, name → path. */
  async #list(search: Search, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const listed = new Map<string, string>();
    const rules = new Set<string>();
    let count = 0;
    for (const root of this.#roots) {
      const { paths, leftOut } = await search.files({ path: root, most: MOST_FILES }, signal);
      for (const name of paths) listed.set(name, pathInRoot(name, root, this.#roots));
      count += leftOut?.count ?? 0;
      for (const rule of leftOut?.rules ?? []) rules.add(rule);
    }
    this.#leftOut = count === 0 ? undefined : { count, rules: [...rules] };
    return listed;
  }

  #pathOf(name: string): string {
    const root = this.#roots.find((one) =>
      nameInRoots(pathInRoot(name, one, this.#roots), this.#roots) === name
    );
    return pathInRoot(name, root ?? this.#roots[0] ?? "", this.#roots);
  }

  /** Ends the update, and deletes the index. @throws {Error} one line */
  async #remove(): Promise<void> {
    for (const work of [this.#update, this.#embedding]) work?.abort.abort();
    await Promise.all([this.#update?.done, this.#embedding?.done]);
    this.#problem = undefined;
    if (this.#open?.users === 0) this.#close();
    if (this.#path !== undefined) removeIndex(this.#path);
    else this.#memory = IndexFile.inMemory();
    this.#open = undefined;
  }

  /** Opens the database, unless it is still open. */
  #use(): { readonly index: IndexFile } & Disposable {
    if (this.#memory !== undefined) return { index: this.#memory, [Symbol.dispose]() {} };
    this.#closeChanged();
    const open = this.#open ??= { index: IndexFile.open(this.#path ?? ""), users: 0 };
    clearTimeout(open.idle?.timer);
    delete open.idle;
    open.users += 1;
    return { index: open.index, [Symbol.dispose]: () => this.#leave(open) };
  }

  #leave(open: OpenIndex): void {
    open.users -= 1;
    if (open.users > 0) return;
    // It was removed meanwhile.
    if (this.#open !== open) return open.index[Symbol.dispose]();
    const timer = setTimeout(() => this.#close(), IDLE_MS);
    Deno.unrefTimer(timer);
    open.idle = { timer, stamp: placeOf(this.#path) };
  }

  /** Nothing is read from a file that another program has replaced or cut: it is mapped to memory. */
  #closeChanged(): void {
    if (this.#open?.idle !== undefined && this.#open.idle.stamp !== placeOf(this.#path)) this.#close();
  }

  #close(): void {
    clearTimeout(this.#open?.idle?.timer);
    this.#open?.index[Symbol.dispose]();
    this.#open = undefined;
  }
}

/** Changes with the file. */
function placeOf(path = ""): string {
  try {
    const { dev, ino, size, mtime } = Deno.statSync(path);
    return [dev, ino, size, mtime?.getTime()].join(" ");
  } catch {
    return "";
  }
}

/** "40 % of 12,000 files are indexed"; undefined before the files are listed. */
function progressOf(index: IndexFile): string | undefined {
  const total = Number(index.get("total") ?? 0);
  if (total === 0) return undefined;
  const done = total - Number(index.get("left") ?? 0);
  return `${Math.floor(100 * done / total)} % of ${total.toLocaleString("en")} files are indexed`;
}

/** Undefined if another engine is at work and nobody waits for it. @param isWaiting whether a question waits */
async function lockOf(path: string, isWaiting: () => boolean): Promise<Deno.FsFile | undefined> {
  const file = await Deno.open(`${path}.lock`, { create: true, write: true, mode: 0o600 });
  while (!await file.tryLock(true)) {
    await new Promise((resolve) => setTimeout(resolve, LOCK_MS));
    if (isWaiting()) continue;
    file.close();
    return undefined;
  }
  return file;
}

function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch {
    return 0;
  }
}

function cannotSearch(error: unknown): Error {
  return error instanceof ToolError || (error instanceof Error && error.name === "AbortError")
    ? error
    : new ToolError(`Cannot search by meaning: ${messageOf(error)}. Search for text.`);
}
