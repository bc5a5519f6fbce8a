/** Every approval, automatic ones too, with the rule that gave it: `:Agent log`. Several Neovims write one log. */
import { dirname, join } from "node:path";
import { z } from "../../deps/zod.ts";
import { Access } from "../../protocol/access.ts";
import { oneLine, visible } from "../screen/visible.ts";

const Entry = z.object({
  time: z.string(),
  root: z.string(),
  /** What was asked: "write .env", "npm test". */
  title: z.string(),
  /** "allowed", "rejected", "cancelled", "denied" and how. */
  answer: z.string(),
  rule: z.string(),
  /** Shortened. One that cannot be read hides no line. */
  accesses: Access.catch({ kind: "nothing" }),
});
type LoggedApproval = Readonly<z.infer<typeof Entry>>;

/** Entries that are shown. */
const MOST_SHOWN = 2_000;

/** Bytes of the file at which a new one is begun; the one before is kept. */
const LARGEST = 1_000_000;

export class ApprovalLog {
  readonly #path: string;
  readonly #older: string;
  readonly #largest: number;
  #order: Promise<unknown> = Promise.resolve();

  /** @param stateDir outside of what any engine may write */
  constructor(stateDir: string, largest: number = LARGEST) {
    this.#path = join(stateDir, "approvals.jsonl");
    this.#older = join(stateDir, "approvals.1.jsonl");
    this.#largest = largest;
  }

  add(entry: Omit<LoggedApproval, "time">): void {
    const access = JSON.parse(JSON.stringify(entry.accesses, shortened));
    const time = new Date().toISOString();
    const line = JSON.stringify({ time, ...entry, accesses: access }) + "\n";
    this.#order = this.#order.then(async () => {
      await Deno.mkdir(dirname(this.#path), { recursive: true });
      if (await this.#isFull()) await this.#rotate();
      await Deno.writeTextFile(this.#path, line, { append: true, mode: 0o600 });
    }).catch(() => {}); // A log that cannot be written must not stop the work.
  }

  /** Newest last. */
  async entries(): Promise<readonly LoggedApproval[]> {
    await this.#order;
    const texts = await Promise.all(
      [this.#older, this.#path].map((path) => Deno.readTextFile(path).catch(() => "")),
    );
    return texts.join("").split("\n").flatMap((line) => entryOf(line) ?? []);
  }

  async #isFull(): Promise<boolean> {
    const info = await Deno.stat(this.#path).catch(() => undefined);
    return (info?.size ?? 0) >= this.#largest;
  }

  /** Under a lock: of two that find the file full, the second would put the new one in the place of the old. */
  async #rotate(): Promise<void> {
    using lock = await Deno.open(`${this.#path}.lock`, { create: true, write: true, mode: 0o600 });
    await lock.lock(true);
    if (await this.#isFull()) await Deno.rename(this.#path, this.#older);
  }
}

/** One line each, the newest last; where there are too many the first line says so. */
export function logLines(entries: readonly LoggedApproval[], most: number = MOST_SHOWN): readonly string[] {
  const left = entries.length - most;
  const note = left > 0 ? [`[the last ${most}; ${left} older ones are not shown]`] : [];
  const lines = entries.slice(-most).map(({ time, title, answer, rule, accesses: access }) => {
    const level = access.kind === "command"
      ? access.access
      : access.kind === "effects"
      ? "what it changed"
      : undefined;
    const why = level === undefined || level === rule ? rule : `${level}, ${rule}`;
    return `${time.slice(0, 19).replace("T", " ")}  ${answer}  ${title}  (${why})`;
  });
  // An edited command may have several lines.
  return [...note, ...lines.map((line) => visible(line).replace(/\s*\n\s*/g, " ⏎ "))];
}

/** One call's files that are kept, and of each text its beginning: an engine cannot push the others out of the log. */
const MOST_KEPT = 50;

function shortened(_: string, value: unknown): unknown {
  if (typeof value === "string") return oneLine(value);
  return Array.isArray(value) ? value.slice(0, MOST_KEPT) : value;
}

/** Undefined for what a crash has left half written. */
function entryOf(line: string): LoggedApproval | undefined {
  try {
    return Entry.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
