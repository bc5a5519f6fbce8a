/** The user's choices for each session, stored in the supervisor's state folder, where no engine can change them. */
import { join } from "node:path";
import * as z from "../../deps/zod.ts";

const MOST_SESSIONS = 1_000;

export class SessionBook<Value> {
  readonly #folder: string;
  /** By the session's id. */
  readonly #schema: z.ZodType<Readonly<Record<string, Value>>>;
  readonly #most: number;
  #order: Promise<unknown> = Promise.resolve();

  /** @param what names the folder @param most sessions that are stored, by their latest choices */
  constructor(stateDir: string, what: string, value: z.ZodType<Value>, most = MOST_SESSIONS) {
    this.#folder = join(stateDir, what);
    this.#schema = z.record(z.string(), value);
    this.#most = most;
  }

  /** Undefined: nothing was chosen. @throws {Error} one line, if the file is unreadable */
  async of(session: string): Promise<Value | undefined> {
    await this.#order;
    // An engine can choose any session id.
    return new Map(Object.entries(await this.#read())).get(session);
  }

  /** Whether another session than this one has such a choice. @throws {Error} as {@link of} */
  async hasOther(session: string, isMeant: (choice: Value) => boolean): Promise<boolean> {
    await this.#order;
    return Object.entries(await this.#read()).some(([id, value]) => id !== session && isMeant(value));
  }

  /** @throws {Error} if it cannot be stored */
  async note(session: string, choice: Value): Promise<void> {
    const noted = this.#order.then(async () => {
      await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
      using lock = await Deno.open(join(this.#folder, "lock"), { create: true, write: true, mode: 0o600 });
      // Several Neovims may write the file; the system releases the lock when the process ends.
      await lock.lock(true);
      const { [session]: _, ...others } = await this.#read();
      const kept = Object.fromEntries([...Object.entries(others), [session, choice]].slice(-this.#most));
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

  /** @throws {Error} one line, if the file exists but is unreadable: nothing is guessed */
  async #read(): Promise<Readonly<Record<string, Value>>> {
    try {
      return this.#schema.parse(JSON.parse(await Deno.readTextFile(this.#path)));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return {};
      throw new Error(`Cannot read ${this.#path}: it is damaged or unreadable. Delete the file.`);
    }
  }
}
