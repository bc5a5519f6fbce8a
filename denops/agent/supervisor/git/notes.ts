/**
 * Notes of commands that run, one file each, kept in the state folder as long as its command does: what was made for
 * their mounts, and what was there of git before. A note that nobody has locked is one that a crash has left behind.
 */
import { join } from "node:path";
import { z } from "../../deps/zod.ts";
import { entriesOf, statOf, textOf } from "./folder_tree.ts";
import { encodeHex } from "../system/hex.ts";

const Made = z.discriminatedUnion("type", [
  z.object({ type: z.literal("folder"), path: z.string() }),
  z.object({ type: z.literal("file"), path: z.string(), text: z.string() }),
]);
/** Something that was missing, and was made to be mounted on. */
export type Made = z.infer<typeof Made>;

const Repository = z.object({
  number: z.string(),
  files: z.record(z.string(), z.object({ print: z.string(), text: z.string().optional() })),
});

const CommandNote = z.object({
  root: z.string(),
  own: z.array(z.string()),
  before: z.object({
    repositories: z.record(z.string(), Repository),
    redirects: z.record(z.string(), z.string()),
  }),
  made: z.array(Made),
});
type CommandNote = z.infer<typeof CommandNote>;

const LARGEST_NOTE = 100_000_000;
const LOCK = "lock";

export class CommandNotes {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async of(root: string, state: string): Promise<CommandNotes> {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(root)));
    const folder = join(state, "git_guard", encodeHex(digest).slice(0, 16));
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    return new CommandNotes(folder);
  }

  /** Makes what is missing, as the note says. Folders and files that other running commands made also count for this one. */
  async begin(note: CommandNote, mounted: readonly string[]): Promise<AsyncDisposable> {
    using _alone = await this.#alone();
    const shared = this.#made().filter(({ path }) => mounted.includes(path));
    const made = [...note.made, ...shared];
    const path = join(this.#folder, `${crypto.randomUUID()}.json`);
    const file = await Deno.open(path, { createNew: true, write: true, mode: 0o600 });
    await file.lock(true);
    await Deno.writeTextFile(path, JSON.stringify({ ...note, made }));
    for (const one of note.made) await make(one);
    return {
      [Symbol.asyncDispose]: async () => {
        using _alone = await this.#alone();
        await Deno.remove(path).catch(() => {});
        file.close();
        await this.#unmake(made);
      },
    };
  }

  /** Hands over each note that was left behind, and removes what it says was made. */
  async takeLeft(take: (note: CommandNote) => Promise<void>): Promise<void> {
    if (this.#names().length === 0) return;
    using _alone = await this.#alone();
    for (const name of this.#names()) {
      const path = join(this.#folder, name);
      using file = await Deno.open(path, { read: true, write: true });
      if (!await file.tryLock(true)) continue;
      const note = read(path);
      await Deno.remove(path);
      if (note === undefined) continue;
      await take(note);
      await this.#unmake(note.made);
    }
  }

  #names(): readonly string[] {
    return entriesOf(this.#folder).map(({ name }) => name).filter((name) => name.endsWith(".json"));
  }

  #made(): readonly Made[] {
    return this.#names().flatMap((name) => read(join(this.#folder, name))?.made ?? []);
  }

  async #unmake(made: readonly Made[]): Promise<void> {
    const inUse = new Set(this.#made().map(({ path }) => path));
    for (const one of made) {
      const { path } = one;
      const info = statOf(path);
      const same = one.type === "folder" ? info?.isDirectory : info?.isFile && textOf(path, 10) === one.text;
      // A folder with something in it stays.
      if (same && !inUse.has(path)) await Deno.remove(path).catch(() => {});
    }
  }

  /** Several Neovims may work in a project. */
  async #alone(): Promise<Disposable> {
    const file = await Deno.open(join(this.#folder, LOCK), { create: true, write: true, mode: 0o600 });
    await file.lock(true);
    return file;
  }
}

/** Undefined if a crash has cut it off: then nothing was made yet. */
function read(path: string): CommandNote | undefined {
  try {
    return CommandNote.parse(JSON.parse(textOf(path, LARGEST_NOTE) ?? ""));
  } catch {
    return undefined;
  }
}

async function make(one: Made): Promise<void> {
  try {
    if (one.type === "folder") await Deno.mkdir(one.path);
    else await Deno.writeTextFile(one.path, one.text, { createNew: true });
  } catch {
    // Somebody else has made it, or it cannot be made: then commands cannot either.
  }
}
