/**
 * Which mode each session is in, by what the user has chosen: kept in the supervisor's state folder, for what an engine
 * says of it widens nothing.
 */
import { join } from "node:path";
import { z } from "../../deps/zod.ts";
import { MODE_ACCESSES } from "../../protocol/modes.ts";

/** `access`: what the mode could change when it was chosen. */
const Choice = z.object({ mode: z.string(), access: z.enum(MODE_ACCESSES) });
export type Choice = z.infer<typeof Choice>;

/** By the session's id. */
const Book = z.record(z.string(), Choice);
/** Sessions that are kept, the newest choices. */
const MOST_SESSIONS = 1_000;

export class ModeBook {
  readonly #folder: string;
  #order: Promise<unknown> = Promise.resolve();

  constructor(stateDir: string) {
    this.#folder = join(stateDir, "modes");
  }

  /** Undefined: nothing was chosen. */
  async of(session: string): Promise<Choice | undefined> {
    await this.#order;
    // An engine may call a session anything.
    return new Map(Object.entries(await this.#read())).get(session);
  }

  /** @throws {Error} if it cannot be kept */
  async note(session: string, choice: Choice): Promise<void> {
    const noted = this.#order.then(async () => {
      await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
      using lock = await Deno.open(join(this.#folder, "lock"), { create: true, write: true, mode: 0o600 });
      // Several Neovims may write it; the system gives it up when the process ends.
      await lock.lock(true);
      const { [session]: _, ...others } = await this.#read();
      const kept = Object.fromEntries([...Object.entries(others), [session, choice]].slice(-MOST_SESSIONS));
      const temporary = join(this.#folder, `${crypto.randomUUID().slice(0, 8)}.tmp`);
      await Deno.writeTextFile(temporary, JSON.stringify(kept), { mode: 0o600 });
      await Deno.rename(temporary, this.#path);
    });
    this.#order = noted.catch(() => {});
    await noted;
  }

  get #path(): string {
    return join(this.#folder, "sessions.json");
  }

  /** @throws {Error} one line, if it is there and cannot be read: nothing is guessed */
  async #read(): Promise<Readonly<Record<string, Choice>>> {
    try {
      return Book.parse(JSON.parse(await Deno.readTextFile(this.#path)));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return {};
      throw new Error(`Cannot read the modes of sessions in ${this.#path}. Delete the file.`);
    }
  }
}
