/** The model's version of each file: the text that it read last, with its own later changes. */

/** Characters in memory; for the rest, a hash tells whether the file is still the same. */
const MOST_HELD = 20_000_000;

/** No text has this hash. */
const OUTDATED = "";

export class Views {
  readonly #hashes: Map<string, string>;
  /** By path, the most recently used last. */
  readonly #texts = new Map<string, string>();
  #size = 0;

  /** @param hashes of the texts by path, which outlive the process */
  constructor(hashes: Map<string, string> = new Map()) {
    this.#hashes = hashes;
  }

  has(path: string): boolean {
    return this.#hashes.has(path);
  }

  /** Paths that only an earlier process has read. */
  get remembered(): Iterable<string> {
    return this.#hashes.keys().filter((path) =>
      !this.#texts.has(path) && this.#hashes.get(path) !== OUTDATED
    );
  }

  /** The model knows that the file has changed. */
  outdate(path: string): void {
    if (!this.has(path)) return;
    this.#drop(path);
    this.#hashes.set(path, OUTDATED);
  }

  /** Texts by path, the most recently used last. */
  get texts(): ReadonlyMap<string, string> {
    return this.#texts;
  }

  /** @param current the file's text @returns undefined if the model knows another version, which is lost */
  async of(path: string, current: string): Promise<string | undefined> {
    return this.#texts.get(path) ?? (this.#hashes.get(path) === await hash(current) ? current : undefined);
  }

  async note(path: string, text: string): Promise<void> {
    this.#drop(path);
    this.#texts.set(path, text);
    this.#size += text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#size <= MOST_HELD) break;
      this.#drop(oldest);
    }
    this.#hashes.set(path, await hash(text));
  }

  #drop(path: string): void {
    this.#size -= this.#texts.get(path)?.length ?? 0;
    this.#texts.delete(path);
  }
}

async function hash(text: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toHex();
}
