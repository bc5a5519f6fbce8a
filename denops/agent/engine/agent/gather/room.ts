/** Keeps a session within the model's window: folds what is old, and cuts results that would fill what is left. */
import { allOf, bytesOf, Estimate, IMAGE_BYTES, type PromptSizes, sizesOf } from "../../context/estimate.ts";
import {
  type CallFacts,
  entryBytes,
  type Foldable,
  keptWords,
  type MaskPlan,
  MOST_WORDS,
  pinnedParts,
  planMasks,
  tailBegin,
  usersWords,
} from "../../context/folding/fold_plan.ts";
import { middleCut } from "../../../shared/text/text.ts";
import type { Chosen } from "../../context/chosen.ts";
import { planEarlyMasks } from "../../context/folding/early_masks.ts";
import { folded } from "../../context/folding/folds.ts";
import { type Mode, MODES } from "../../context/modes.ts";
import { ownSummary, summaryQuestion } from "../../context/folding/summary.ts";
import type { HistoryWindow } from "../../context/folding/window.ts";
import type { Compaction, FoldEntry, MessageEntry, ResultEntry } from "../../log/entries.ts";
import type { AgentEvent } from "../../log/events.ts";
import type { Prompt, ToolCall } from "../../log/messages.ts";
import { isRecord } from "../../calls/json_schema.ts";
import { meantBy } from "../permission/meant_by.ts";
import type { Model } from "../../llm/model.ts";
import type { Tool, ToolMemory } from "../../tools/define.ts";
import { ask } from "../permission/ask.ts";
import type { Measured, Meter } from "../turn/meter.ts";

/** Shares of the window: of what is not tools, of everything, and of everything once the user has taken a fold back. */
const MOST_HISTORY = 0.7;
const MOST_IN_ALL = 0.85;
const MOST_UNFOLDED = 0.95;
/** A step that frees less than this share is not worth a cold prefix; and this much stays free until the next one. */
const LEAST_FREED = 0.2;
const LEAST_LEFT = 0.1;
/** Share of the window that the last messages may take, and the summary, and the user's words with it. */
const MOST_TAIL = 0.25;
const MOST_SUMMARY = 0.125;
/** The same of what the user has pinned before them. */
const MOST_PINNED = 0.25;
/** Tokens that an answer needs at least. */
const ANSWER_TOKENS = 1_000;
/** Bytes of messages that no summary is shorter than by much. */
const SHORT_SUMMARIZED = 8_000;
/** Share of a small model's window that one result may take: it loses the thread in a long one. */
const MOST_RESULT = 0.25;
/** Bytes of a result that there is always room for. */
const SHORT_RESULT = 400;

/** What of the history is seen, and what is not. */
export type SeenHistory = Pick<HistoryWindow, "folds" | "messages" | "placeOf">;

interface RoomPorts {
  readonly mode: Mode;
  readonly model: Model;
  /** Writes summaries in the model's place. */
  readonly summarizer?: Model | undefined;
  /** Those that are offered. */
  readonly tools: readonly Tool[];
  readonly meter: Meter;
  readonly state: Pick<ToolMemory, "plan">;
  readonly history: SeenHistory;
  readonly chosen: Chosen;
  emit(event: AgentEvent): void;
  /** What is sent in this mode at this moment. @param more messages that are in no log */
  view(mode: Mode, more?: readonly MessageEntry[]): Prompt;
  newCallId(id: string): string;
  /** @throws {TurnError} if it cannot be stored: then nothing is folded */
  fold(entry: FoldEntry): void;
}

/** "refused": the provider has said that the prompt is too long. */
type Cause =
  | { readonly type: "full" | "refused" }
  /** They are in no log yet. `cut`: as they would be stored if nothing was folded. */
  | { readonly type: "results"; readonly whole: readonly ResultEntry[]; readonly cut: readonly ResultEntry[] }
  | { readonly type: "request"; readonly focus: string | undefined };

/** Of one session. */
export class Room {
  readonly #estimate = new Estimate();
  /** Calls are looked at again before each request. */
  readonly #facts = new WeakMap<ToolCall, CallFacts>();

  /** @param input tokens, as the provider has counted them; undefined if it has not */
  learn(prompt: Prompt, input: number | undefined): void {
    if (input !== undefined) this.#estimate.learn(allOf(sizesOf(prompt)), input);
  }

  /** With what an answer that was ended here has used up, as far as the provider has not said it. */
  estimated(prompt: Prompt, measured: Measured): Measured {
    const { usage, cutAt } = measured;
    if (cutAt === undefined) return measured;
    const none = { input: 0, output: 0, cachedRead: 0, cachedWrite: 0, ...usage };
    const output = Math.max(none.output, this.#estimate.tokens(cutAt));
    const input = none.input || this.#estimate.tokens(allOf(sizesOf(prompt)));
    return { ...measured, usage: { ...none, input, output } };
  }

  /** @returns whether anything was folded @throws {TurnError} if that cannot be stored */
  async make(cause: Cause, ports: RoomPorts, signal: AbortSignal): Promise<boolean> {
    const { model: { contextWindow: window, price }, history, tools, chosen } = ports;
    const results = cause.type === "results" ? cause : undefined;
    if (results !== undefined && !this.#isFull(sizesOf(ports.view(ports.mode, results.whole)), ports)) {
      return false;
    }
    const sizes = sizesOf(ports.view(ports.mode, results?.cut));
    if (cause.type === "refused") this.#estimate.refused(allOf(sizes), window);
    // What nothing can be folded of is full already.
    const fixed = this.#tokens(sizes, sizes.system + sizes.tools);
    if (cause.type === "full" && fixed > window * MOST_IN_ALL) return false;
    const foldable: Foldable = {
      messages: history.messages,
      get masked() {
        return history.folds.masked;
      },
      about: (call) => this.#about(call, tools),
      chosen,
    };
    const announcer = new FoldAnnouncer(ports, () => this.#share(ports));
    if (cause.type === "full" && !this.#isFull(sizes, ports)) {
      const early = price === undefined || history.folds.undone ? undefined : planEarlyMasks(foldable, price);
      if (early !== undefined) announcer.masking(early);
      return early !== undefined;
    }
    const wantsSummary = cause.type === "request" && cause.focus !== undefined;
    const masked = wantsSummary
      ? undefined
      : planMasks(foldable, (frees) => this.#isEnough(frees, cause, sizes, window));
    if (masked !== undefined) {
      announcer.masking(masked);
      if (cause.type !== "refused") return true;
    }
    if (await this.#summarize(cause, foldable, announcer, ports, signal)) return true;
    if (cause.type !== "request" || signal.aborted) return masked !== undefined;
    const rest = planMasks(foldable, (frees) => frees >= SHORT_SUMMARIZED);
    if (rest !== undefined) announcer.masking(rest);
    return rest !== undefined;
  }

  /**
   * Results as they are stored: each takes half of the room that is left at most. Before one of them is cut for want of
   * room that a fold would make, the fold is made.
   */
  async fit(
    results: readonly ResultEntry[],
    ports: RoomPorts,
    signal: AbortSignal,
  ): Promise<readonly ResultEntry[]> {
    const cut = this.#cut(results, ports);
    const isCut = cut.some(({ text }, at) => text !== results[at]?.text);
    if (!isCut || !await this.make({ type: "results", whole: results, cut }, ports, signal)) return cut;
    return this.#cut(results, ports);
  }

  #cut(results: readonly ResultEntry[], { view, model, mode }: RoomPorts): readonly ResultEntry[] {
    const used = this.#estimate.tokens(allOf(sizesOf(view(mode))));
    let left = this.#estimate.bytes(model.contextWindow * MOST_IN_ALL - used);
    const most = model.small ? this.#estimate.bytes(model.contextWindow * MOST_RESULT) : Infinity;
    return results.map((result) => {
      const images = IMAGE_BYTES * (result.images?.length ?? 0);
      const text = cutTo(result.text, Math.max(SHORT_RESULT, Math.min(most, left / 2)));
      left = Math.max(0, left - bytesOf(text) - images);
      return text === result.text ? result : { ...result, text };
    });
  }

  #about(call: ToolCall, tools: readonly Tool[]): CallFacts {
    const known = this.#facts.get(call) ?? callFacts(call, tools);
    this.#facts.set(call, known);
    return known;
  }

  #tokens(sizes: PromptSizes, bytes: number): number {
    const all = allOf(sizes);
    return this.#estimate.tokens(all) * bytes / all;
  }

  /** Tokens of the prompt without its tools that are the most. */
  #limit(sizes: PromptSizes, { history, model: { contextWindow: window } }: RoomPorts): number {
    const tools = this.#tokens(sizes, sizes.tools);
    if (history.folds.undone) return window * MOST_UNFOLDED - tools;
    return Math.min(window * MOST_HISTORY, window * MOST_IN_ALL - tools);
  }

  #isFull(sizes: PromptSizes, ports: RoomPorts): boolean {
    return this.#tokens(sizes, allOf(sizes) - sizes.tools) > this.#limit(sizes, ports);
  }

  /** Masking alone brings so much that the next step is far. */
  #isEnough(frees: number, { type }: Cause, sizes: PromptSizes, window: number): boolean {
    if (type === "refused") return true;
    const freed = this.#tokens(sizes, frees);
    const left = this.#tokens(sizes, allOf(sizes)) - freed;
    return freed >= window * LEAST_FREED && left <= window * (MOST_HISTORY - LEAST_LEFT);
  }

  async #summarize(
    cause: Cause,
    foldable: Foldable,
    announcer: FoldAnnouncer,
    ports: RoomPorts,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { model: { contextWindow: window }, history, state } = ports;
    const begin = tailBegin(foldable, this.#estimate.bytes(window * MOST_TAIL));
    const covered = foldable.messages.slice(0, begin);
    const bytes = folded(covered, { masked: foldable.masked }).reduce(
      (sum, entry) => sum + entryBytes(entry),
      0,
    );
    const worthIt = this.#estimate.bytes(window * LEAST_FREED);
    const least = { full: worthIt, results: worthIt, request: SHORT_SUMMARIZED, refused: 0 };
    if (covered.length === 0 || bytes < least[cause.type]) return false;
    const modelSummary = await this.#askForSummary(cause, ports, signal);
    if (signal.aborted) return false;
    const { compaction: before } = history.folds;
    const room = this.#estimate.bytes(window * MOST_SUMMARY);
    const summary = modelSummary ?? ownSummary({ ...foldable, messages: covered }, before?.summary);
    announcer.compaction({
      type: "compaction",
      ...history.placeOf(begin),
      summary: cutTo(summary, room),
      words: [...keptWords([...before?.words ?? [], ...usersWords(covered)], Math.min(MOST_WORDS, room))],
      plan: [...state.plan],
      by: modelSummary === undefined ? "engine" : "model",
      ...this.#pinned({ ...foldable, messages: covered }, before, this.#estimate.bytes(window * MOST_PINNED)),
    }, covered.length);
    return true;
  }

  /** What the user has pinned goes over from one summary to the next. @param room bytes */
  #pinned(covered: Foldable, before: Compaction | undefined, room: number): Pick<Compaction, "pinned"> {
    const { pinned } = covered.chosen;
    const found = pinnedParts(covered);
    const again = new Set(found.map(({ id }) => id));
    const earlier = before?.pinned?.filter(({ id }) => pinned.has(id) && !again.has(id)) ?? [];
    const all = [...earlier, ...found];
    const bytes = all.reduce((sum, { text }) => sum + bytesOf(text), 0);
    const share = Math.min(1, room / Math.max(1, bytes));
    if (all.length === 0) return {};
    return {
      pinned: all.map((one) => ({ ...one, text: cutTo(one.text, Math.floor(bytesOf(one.text) * share)) })),
    };
  }

  /** Undefined if no model gives one. */
  async #askForSummary(cause: Cause, ports: RoomPorts, signal: AbortSignal): Promise<string | undefined> {
    const { model, summarizer, tools, meter, newCallId, view } = ports;
    const mode = MODES.compaction;
    const question = summaryQuestion(cause.type === "request" ? cause.focus : undefined);
    const prompt = view(mode, [...cause.type === "results" ? cause.cut : [], question]);
    const size = this.#estimate.tokens(allOf(sizesOf(prompt))) + ANSWER_TOKENS;
    for (const one of [...summarizer === undefined ? [] : [summarizer], model]) {
      // Over a cap nothing more is sent; the question of the cap comes with the next request.
      if (size > one.contextWindow || meter.spending.reached() !== undefined) continue;
      const step = {
        ...{ model: one, tools, newCallId },
        // It is no answer to the user.
        emit: (event: AgentEvent) => event.type === "retry" ? ports.emit(event) : undefined,
        count: (measured: Measured) => meter.count(measured, mode, tools, { model: one }),
      };
      const end = await ask(mode, prompt, step, signal);
      const isGood = end.type === "answered" && end.finish !== "refused" && end.finish !== "repeated";
      const text = isGood ? end.message.text.trim() : "";
      if (signal.aborted || text !== "") return text;
    }
    return undefined;
  }

  /** Of the window, in percent. */
  #share({ view, model, mode }: RoomPorts): number {
    const tokens = this.#estimate.tokens(allOf(sizesOf(view(mode))));
    return Math.round(tokens / model.contextWindow * 100);
  }
}

/** Stores a fold, then says so. */
class FoldAnnouncer {
  readonly #ports: RoomPorts;
  readonly #share: () => number;

  /** @param share of the window that the prompt takes, in percent */
  constructor(ports: RoomPorts, share: () => number) {
    this.#ports = ports;
    this.#share = share;
  }

  masking({ results }: MaskPlan): void {
    const what = results.length === 1
      ? "1 old result is one line"
      : `${results.length} old results are one line each`;
    this.#tell({ type: "masking", results }, what);
  }

  compaction(entry: FoldEntry, messages: number): void {
    const what = messages === 1 ? "1 message" : `${messages} messages`;
    this.#tell(entry, `a summary stands for ${what}`);
  }

  #tell(entry: FoldEntry, what: string): void {
    const before = this.#share();
    this.#ports.fold(entry);
    const text = `Made room, ${before} % → ${this.#share()} % of the model's window: ${what}. ` +
      ":Agent compact undo takes it back.";
    this.#ports.emit({ type: "notice", severity: "info", text });
  }
}

/** At most so many bytes, where characters have about as many each. */
function cutTo(text: string, bytes: number): string {
  const size = bytesOf(text);
  if (size <= bytes) return text;
  return middleCut(text, Math.floor(bytes * text.length / size), "left out: the window has no more room");
}

export function callFacts(call: ToolCall, tools: readonly Tool[]): CallFacts {
  const { tool, fitted } = meantBy(call, tools);
  const args = fitted.ok && isRecord(fitted.value) ? fitted.value : {};
  const paths = [args.path, ...Array.isArray(args.paths) ? args.paths : []].filter((one) =>
    typeof one === "string"
  );
  const path = paths.length === 1 ? paths[0] : undefined;
  const isOfFile = tool?.kind === "read" || tool?.readOnly === false;
  return {
    title: tool?.title(args) ?? call.name,
    path: isOfFile ? path : undefined,
    lines: linesOf(args),
    writes: tool?.readOnly === false,
  };
}

/** Of a file that is read in part. */
function linesOf({ offset, limit }: Readonly<Record<string, unknown>>): string | undefined {
  const isWhole = (offset === undefined || offset === 1) && limit === undefined;
  return isWhole ? undefined : JSON.stringify([offset ?? 1, limit]);
}
