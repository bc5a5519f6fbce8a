/**
 * Sends updates to the screen, in order. Updates pass at once, but never a second batch before Neovim has
 * processed the first, and no batch that takes longer than a frame: the rest is merged and waits. The sender
 * limits the rate of text (`shared/pace.ts`). Progress of calls waits for the next batch or its own timer; a
 * question to the editor does not wait for it, because each drawing costs Neovim milliseconds.
 */
import { Pace, type PaceClock } from "../../shared/pace.ts";
import { trace } from "../../protocol/trace.ts";
import type { Update } from "../../protocol/ui.ts";
import { Bounds } from "./bounds.ts";
import { breakLines } from "./visible.ts";

/** The first text of a message waits for this many word characters, so that "**Wh" never flashes. */
const FIRST_TEXT = 8;
const WORD = /[\p{L}\p{N}_]/gu;
/** Updates in a batch, and characters in a batch of several updates. */
const MOST_UPDATES = 50;
const MOST_CHARACTERS = 100_000;
/** Updates that are searched for one of the same call. */
const NEAR = 100;
/**
 * Texts of files are omitted if one is larger, or more characters wait: Neovim then reads the files that it
 * has open.
 */
const LARGE_FILE = 500_000;
const MANY_CHARACTERS = 2_000_000;

/** Updates that nobody waits for. */
const GLANCED: ReadonlySet<Update["type"]> = new Set<Update["type"]>([
  "tool",
  "plan",
  "usage",
  "turn",
  "title",
]);

type TextUpdate = Extract<Update, { type: "text" }>;

export class Pump implements Disposable {
  readonly #deliver: (batch: readonly Update[]) => Promise<void>;
  readonly #onFlood: (chat: number, why: string) => void;
  readonly #bounds = new Bounds();
  readonly #pace: Pace;
  #queue: Update[] = [];
  /** Number of updates in the queue that are due. */
  #due = 0;
  /** Characters of files' texts in the queue. */
  #waiting = 0;
  /** The column that each chat's message has reached. */
  readonly #columns = new Map<number, { readonly message: string; readonly column: number }>();
  /** Text that is not long enough to show yet, per chat. */
  readonly #pending = new Map<number, TextUpdate>();
  /** Messages of each chat's turn that are partly visible: sub-agents speak at the same time. */
  readonly #visible = new Map<number, Set<string>>();
  #delivering = false;
  #disposed = false;

  /**
   * @param deliver resolves when Neovim has processed the batch
   * @param onFlood called when a chat's turn exceeds the limits; nothing more of it is shown. `why` follows
   * "it"
   */
  constructor(
    deliver: (batch: readonly Update[]) => Promise<void>,
    onFlood: (chat: number, why: string) => void = () => {},
    clock?: PaceClock,
  ) {
    this.#deliver = deliver;
    this.#onFlood = onFlood;
    this.#pace = new Pace(() => {
      this.#due = this.#queue.length;
      this.#flush();
    }, clock);
  }

  push(update: Update): void {
    if (this.#disposed) return;
    const admission = this.#bounds.admit(update);
    if (admission === "out") return;
    if (admission !== "in" && "chat" in update) {
      this.#queue = this.#queue.filter((queued) => !isOnlyShown(queued, update.chat));
      this.#due = this.#queue.length;
      this.#pending.delete(update.chat);
      return this.#onFlood(update.chat, admission.why);
    }
    this.#releaseBefore(update);
    if (update.type === "text") this.#pushText(this.#broken(update));
    else if (update.type === "ask_editor") this.#ask(update);
    else this.#append(update);
    if (update.type === "ask_editor") this.#flush();
    else if (GLANCED.has(update.type)) this.#pace.heard();
    else this.#pace.flush();
  }

  /** Queues a question after all updates except those that nobody waits for. */
  #ask(question: Update): void {
    this.#queue.splice(this.#due, 0, question);
    this.#due += 1;
  }

  #pushText(update: TextUpdate): void {
    const { chat, message } = update;
    const text = (this.#pending.get(chat)?.text ?? "") + update.text;
    const isVisible = this.#visible.get(chat)?.has(message) === true;
    if (isVisible || (text.match(WORD)?.length ?? 0) >= FIRST_TEXT) this.#show({ ...update, text });
    else this.#pending.set(chat, { ...update, text });
  }

  /** From here on the message's text waits for no more of it. */
  #show(update: TextUpdate): void {
    this.#pending.delete(update.chat);
    this.#visible.getOrInsertComputed(update.chat, () => new Set()).add(update.message);
    this.#append(update);
  }

  /** Any update after a text releases it; the order is kept within a chat. */
  #releaseBefore(update: Update): void {
    if (!("chat" in update)) return;
    const pending = this.#pending.get(update.chat);
    if (update.type === "text" && update.message === pending?.message) return;
    if (pending !== undefined) this.#show(pending);
    if (update.type === "turn_done") this.#visible.delete(update.chat);
  }

  /** Breaks lines that are too long for a window to draw. */
  #broken(update: TextUpdate): TextUpdate {
    const at = this.#columns.get(update.chat);
    const { text, column } = breakLines(update.text, at?.message === update.message ? at.column : 0);
    this.#columns.set(update.chat, { message: update.message, column });
    return { ...update, text };
  }

  #append(update: Update): void {
    for (let at = this.#queue.length - 1; at >= Math.max(0, this.#queue.length - NEAR); at--) {
      const before = this.#queue[at];
      const merged = before === undefined ? undefined : merge(before, update);
      if (merged !== undefined) {
        this.#queue[at] = merged;
        return;
      }
      // Calls may overtake each other; everything else keeps its order.
      if (before?.type !== "tool" || update.type !== "tool") break;
    }
    this.#queue.push(this.#lightened(update));
  }

  #lightened(update: Update): Update {
    if (update.type !== "file_modified") return update;
    const size = sizeOf(update);
    if (size > LARGE_FILE || this.#waiting + size > MANY_CHARACTERS) {
      const { before: _before, after: _after, ...light } = update;
      return light;
    }
    this.#waiting += size;
    return update;
  }

  /** As much as Neovim can process unnoticed. */
  #nextBatch(): readonly Update[] {
    let size = 0;
    let count = 0;
    for (const update of this.#queue.slice(0, this.#due)) {
      const next = sizeOf(update);
      if (count > 0 && (count === MOST_UPDATES || size + next > MOST_CHARACTERS)) break;
      // A long text is split.
      if (update.type === "text" && next > MOST_CHARACTERS) {
        const end = pieceEnd(update.text, MOST_CHARACTERS);
        this.#queue[0] = { ...update, text: update.text.slice(end) };
        return [{ ...update, text: update.text.slice(0, end) }];
      }
      if (update.type === "file_modified") this.#waiting = Math.max(0, this.#waiting - next);
      size += next;
      count += 1;
    }
    this.#due -= count;
    return this.#queue.splice(0, count);
  }

  #flush(): void {
    if (this.#delivering || this.#disposed || this.#due === 0) return;
    this.#delivering = true;
    const since = trace?.now();
    this.#deliver(this.#nextBatch())
      .catch(() => {}) // Neovim is gone or Lua has failed and said so; nothing can be shown either way.
      .then(() => {
        trace?.span("deliver", since, "deliver");
        this.#delivering = false;
        this.#flush();
      });
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#pace[Symbol.dispose]();
  }
}

/** Where a text can be split: not within a character. */
function pieceEnd(text: string, most: number): number {
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(most - 1));
  return isHalf ? most - 1 : most;
}

/** Whether an update of this chat only affects the display. */
function isOnlyShown(update: Update, chat: number): boolean {
  const types: readonly Update["type"][] = [
    "text",
    "thought",
    "tool",
    "plan",
    "notice",
    "retry",
    "user",
    "agent_state",
  ];
  return "chat" in update && update.chat === chat && types.includes(update.type);
}

/** Characters of the parts that may be long. */
function sizeOf(update: Update): number {
  switch (update.type) {
    case "text":
    case "thought":
    case "user":
    case "notice":
      return update.text.length;
    case "tool":
      return update.output?.length ?? 0;
    case "file_modified":
      return (update.before?.length ?? 0) + (update.after?.length ?? 0);
    case "agent_state":
      return JSON.stringify(update).length;
    case "plan":
      return update.steps.reduce((all, { step }) => all + step.length, 0);
    default:
      return 0;
  }
}

/** Merges two updates if the second continues the first. */
function merge(last: Update, next: Update): Update | undefined {
  if ((last.type === "text" || last.type === "thought") && next.type === last.type) {
    const same = last.chat === next.chat && last.message === next.message;
    return same ? { ...last, text: last.text + next.text } : undefined;
  }
  if (last.type === "tool" && next.type === "tool") {
    if (last.chat !== next.chat || last.id !== next.id) return undefined;
    const approvals = [...last.approvals ?? [], ...next.approvals ?? []];
    return { ...last, ...next, ...(approvals.length === 0 ? {} : { approvals }) };
  }
  if (last.type === "agent_state" && next.type === "agent_state") {
    return last.chat === next.chat ? { ...last, ...next } : undefined;
  }
  return undefined;
}
