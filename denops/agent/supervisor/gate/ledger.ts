/** The daily cost of a project's sessions, stored in the supervisor's state folder. */
import { dirname, join } from "node:path";
import * as z from "../../deps/zod.ts";
import { encodeHex } from "../system/hex.ts";

const Days = z.record(z.string(), z.number());
/** Days that are kept. */
const MOST_DAYS = 400;

/** Computes the cost that each usage update adds, because ACP sends the session's total. */
export class Increments {
  readonly #sums = new Map<string, number>();

  /** @param request cost of the last request, if the agent reports it */
  next(sessionId: string, sum: number, request: number | undefined): number {
    const before = this.#sums.get(sessionId) ?? 0;
    this.#sums.set(sessionId, sum);
    return request ?? Math.max(0, sum - before);
  }
}

export class Ledger {
  readonly #path: string;
  #order: Promise<unknown> = Promise.resolve();

  private constructor(path: string) {
    this.#path = path;
  }

  static async open(stateDir: string, root: string): Promise<Ledger> {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(root)));
    return new Ledger(join(stateDir, "spending", `${encodeHex(digest).slice(0, 16)}.json`));
  }

  /** @param date YYYY-MM-DD */
  async spent(date: string): Promise<number> {
    await this.#order;
    return (await this.#read())[date] ?? 0;
  }

  add(date: string, amount: number): void {
    this.#order = this.#order.then(async () => {
      const days = await this.#read();
      const sum = { ...days, [date]: (days[date] ?? 0) + amount };
      const kept = Object.fromEntries(Object.entries(sum).sort().slice(-MOST_DAYS));
      await Deno.mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      const temporary = `${this.#path}.${crypto.randomUUID().slice(0, 8)}.tmp`;
      await Deno.writeTextFile(temporary, JSON.stringify(kept), { mode: 0o600 });
      await Deno.rename(temporary, this.#path);
    }).catch(() => {}); // What cannot be written down must not stop the work.
  }

  async #read(): Promise<Readonly<Record<string, number>>> {
    try {
      return Days.parse(JSON.parse(await Deno.readTextFile(this.#path)));
    } catch {
      return {};
    }
  }
}
