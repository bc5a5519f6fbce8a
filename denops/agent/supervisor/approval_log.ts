/** Every approval, automatic ones too, with the rule that gave it: `:Agent log`. */
import { join } from "node:path";

export interface LoggedApproval {
  readonly time: string;
  readonly root: string;
  /** What was asked: "write .env", "npm test". */
  readonly title: string;
  /** "allowed", "rejected", "cancelled", "denied" and how. */
  readonly answer: string;
  readonly rule: string;
}

/** Entries that are kept in the file; the older half goes when it is full. */
const MOST_ENTRIES = 2_000;

export class ApprovalLog {
  readonly #path: string;
  #order: Promise<unknown> = Promise.resolve();
  #since = 0;

  /** @param stateDir outside of what any engine may write */
  constructor(stateDir: string) {
    this.#path = join(stateDir, "approvals.jsonl");
  }

  add(entry: Omit<LoggedApproval, "time">): void {
    const line = JSON.stringify({ time: new Date().toISOString(), ...entry }) + "\n";
    this.#order = this.#order.then(async () => {
      await Deno.mkdir(join(this.#path, ".."), { recursive: true });
      await Deno.writeTextFile(this.#path, line, { append: true, mode: 0o600 });
      if (++this.#since % 100 === 0) await this.#trim();
    }).catch(() => {}); // A log that cannot be written must not stop the work.
  }

  /** Newest last. */
  async entries(): Promise<readonly LoggedApproval[]> {
    await this.#order;
    const text = await Deno.readTextFile(this.#path).catch(() => "");
    return text.split("\n").filter((line) => line !== "").flatMap((line) => {
      try {
        const entry: LoggedApproval = JSON.parse(line);
        return [entry];
      } catch {
        return [];
      }
    });
  }

  async #trim(): Promise<void> {
    const lines = (await Deno.readTextFile(this.#path)).split("\n");
    if (lines.length > MOST_ENTRIES) {
      await Deno.writeTextFile(this.#path, lines.slice(-MOST_ENTRIES / 2).join("\n"));
    }
  }
}
