/**
 * Notes about running commands, one file each, in the state folder while the command runs: what was created
 * for their mounts, and the previous state of git. An unlocked note remains from a crash.
 */
import { join } from "node:path";
import * as z from "../../deps/zod.ts";
import { entriesOf, statOf, textOf } from "./folder_tree.ts";
import { encodeHex } from "../system/hex.ts";

const Made = z.discriminatedUnion("type", [
  z.object({ type: z.literal("folder"), path: z.string() }),
  z.object({ type: z.literal("file"), path: z.string(), text: z.string() }),
]);
/** A missing path that was created as a mount point. */
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

  /**
   * Creates missing paths, as the note says. Paths that other running commands created count for this one
   * too.
   */
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

  /** Passes each note of a crash to `take`, and removes the paths that it lists. */
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
      // A folder with content stays.
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

/** Undefined for a note that a crash truncated: nothing was created then. */
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
    // Another process has created it, or nobody can: then commands cannot either.
  }
}
