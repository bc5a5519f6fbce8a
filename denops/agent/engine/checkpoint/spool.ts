/** Contents in transit from the client: kept in an unnamed file, so that none is left over. */
import { createHash, type Hash } from "node:crypto";
import type { KeptChange } from "../../protocol/screen_requests.ts";
import type { Contents } from "../log/checkpoints.ts";
import type { WriteJournal } from "../ports/store.ts";
import type { Effects } from "../ports/commands.ts";

/** Bytes that are read at once. */
const PART = 4_000_000;

interface Place {
  readonly offset: number;
  readonly size: number;
}

interface SpoolOptions {
  /** A folder with room; undefined: the system's temporary folder. */
  readonly folder: string | undefined;
  readonly journal: WriteJournal;
  /** The fallback for contents that are not in here, and the target of writes. */
  readonly contents: Contents;
}

export class Spool implements Contents, Disposable {
  readonly #file: Deno.FsFile;
  readonly #stored: Contents;
  /** By SHA-256. */
  readonly #places = new Map<string, Place>();
  #end = 0;

  private constructor(file: Deno.FsFile, stored: Contents) {
    this.#file = file;
    this.#stored = stored;
  }

  /** Receives the listed contents, and no others. @throws {Error} if they are unavailable or do not fit */
  static async of(
    changes: readonly KeptChange[],
    effects: Pick<Effects, "contents">,
    { folder, journal, contents }: SpoolOptions,
    signal: AbortSignal,
  ): Promise<Spool> {
    const path = Deno.makeTempFileSync({ prefix: "kept-", ...(folder === undefined ? {} : { dir: folder }) });
    journal.begin(path);
    const spool = new Spool(Deno.openSync(path, { read: true, write: true }), contents);
    Deno.removeSync(path);
    journal.end(path);
    try {
      await spool.#fill(changes, effects, signal);
      return spool;
    } catch (error) {
      spool[Symbol.dispose]();
      throw error;
    }
  }

  async #fill(
    changes: readonly KeptChange[],
    effects: Pick<Effects, "contents">,
    signal: AbortSignal,
  ): Promise<void> {
    this.#places.set(createHash("sha256").digest("hex"), { offset: 0, size: 0 });
    let coming: { readonly change: number; readonly offset: number; readonly hash: Hash } | undefined;
    const come = () => {
      const after = coming === undefined ? undefined : changes[coming.change]?.after;
      if (coming === undefined || after?.type !== "file") return;
      const { offset, hash } = coming;
      if (hash.digest("hex") !== after.hash) return;
      this.#places.set(after.hash, { offset, size: this.#end - offset });
    };
    const hasContents = changes.some(({ after }) => after?.type === "file" && after.size > 0);
    for (let from = hasContents ? { change: 0, offset: 0 } : undefined; from !== undefined;) {
      const { parts, next } = await effects.contents(from, signal);
      for (const { change, base64 } of parts) {
        if (coming?.change !== change) {
          come();
          coming = { change, offset: this.#end, hash: createHash("sha256") };
        }
        const bytes = Uint8Array.fromBase64(base64);
        coming.hash.update(bytes);
        this.#append(bytes);
      }
      if (next !== undefined && (next.change - from.change || next.offset - from.offset) <= 0) {
        throw new Error("the contents do not come to an end");
      }
      from = next;
    }
    come();
  }

  #append(bytes: Uint8Array): void {
    this.#file.seekSync(this.#end, Deno.SeekMode.Start);
    for (let at = 0; at < bytes.length;) at += this.#file.writeSync(bytes.subarray(at));
    this.#end += bytes.length;
  }

  has(blob: string): boolean {
    return this.#places.has(blob) || this.#stored.has(blob);
  }

  size(blob: string): number {
    return this.#places.get(blob)?.size ?? this.#stored.size(blob);
  }

  get(blob: string): Uint8Array<ArrayBuffer> {
    const place = this.#places.get(blob);
    return place === undefined ? this.#stored.get(blob) : this.#read(place);
  }

  *parts(blob: string): Generator<Uint8Array> {
    const place = this.#places.get(blob);
    if (place === undefined) return void (yield* this.#stored.parts(blob));
    for (let at = 0; at < place.size; at += PART) {
      yield this.#read({ offset: place.offset + at, size: Math.min(PART, place.size - at) });
    }
  }

  #read({ offset, size }: Place): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(size);
    this.#file.seekSync(offset, Deno.SeekMode.Start);
    for (let at = 0; at < size;) {
      const count = this.#file.readSync(bytes.subarray(at));
      if (count === null) throw new Error("the contents are cut off");
      at += count;
    }
    return bytes;
  }

  put(bytes: Uint8Array): string {
    return this.#stored.put(bytes);
  }

  putAll(contents: readonly Uint8Array[]): void {
    this.#stored.putAll(contents);
  }

  putParts(open: () => AsyncIterable<Uint8Array>): Promise<string> {
    return this.#stored.putParts(open);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}
