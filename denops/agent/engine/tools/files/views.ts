/** What the model has in mind of each file: the text as it has read it last, with its own changes since. */

/** Characters that are held; of what is forgotten a hash tells whether the file is still the same. */
const MOST_HELD = 20_000_000;

/** No text has this hash. */
const OUTDATED = "";

export class Views {
  readonly #hashes: Map<string, string>;
  /** By path, the one used last at the end. */
  readonly #texts = new Map<string, string>();
  #held = 0;

  /** @param hashes of the texts by path: they outlive the process */
  constructor(hashes: Map<string, string> = new Map()) {
    this.#hashes = hashes;
  }

  has(path: string): boolean {
    return this.#hashes.has(path);
  }

  /** Paths of what was read in an earlier process, and not since. */
  get remembered(): Iterable<string> {
    return this.#hashes.keys().filter((path) =>
      !this.#texts.has(path) && this.#hashes.get(path) !== OUTDATED
    );
  }

  /** The file is another one than the model has in mind, which it was told. */
  outdate(path: string): void {
    if (!this.has(path)) return;
    this.#drop(path);
    this.#hashes.set(path, OUTDATED);
  }

  /** Texts by path, the one used last at the end. */
  get held(): ReadonlyMap<string, string> {
    return this.#texts;
  }

  /** @param current what the file holds now @returns undefined if it was another text, which is no longer known */
  async of(path: string, current: string): Promise<string | undefined> {
    return this.#texts.get(path) ?? (this.#hashes.get(path) === await hash(current) ? current : undefined);
  }

  async note(path: string, text: string): Promise<void> {
    this.#drop(path);
    this.#texts.set(path, text);
    this.#held += text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#held <= MOST_HELD) break;
      this.#drop(oldest);
    }
    this.#hashes.set(path, await hash(text));
  }

  #drop(path: string): void {
    this.#held -= this.#texts.get(path)?.length ?? 0;
    this.#texts.delete(path);
  }
}

async function hash(text: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toHex();
}
