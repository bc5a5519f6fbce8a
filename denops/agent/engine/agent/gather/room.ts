/** Keeps a session within the model's window: folds old entries and shortens results that would fill the rest. */
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
import { folded, keptPins } from "../../context/folding/folds.ts";
import { type Mode, MODES } from "../../context/modes.ts";
import { ownSummary, summaryQuestion } from "../../context/folding/summary.ts";
import type { HistoryWindow } from "../../context/folding/window.ts";
import type { Compaction, FoldEntry, MessageEntry, ResultEntry } from "../../log/entries.ts";
import type { AgentEvent } from "../../log/events.ts";
import type { RequestResult } from "../../../protocol/requests.ts";
import type { ToolCall } from "../../log/messages.ts";
import type { Prompt } from "../../log/model_request.ts";
import { isRecord } from "../../calls/json_schema.ts";
import { meantBy } from "../permission/meant_by.ts";
import type { Model } from "../../llm/model.ts";
import type { Tool, ToolMemory } from "../../tools/define.ts";
import { ask } from "../permission/ask.ts";
import type { Measured, Meter } from "../turn/meter.ts";

/** Shares of the window: of all but tools, of everything, and of everything after the user has undone a fold. */
const MOST_HISTORY = 0.7;
const MOST_IN_ALL = 0.85;
const MOST_UNFOLDED = 0.95;
/** A fold that frees less than this share is not worth a cold cache. This share stays free until the next one. */
const LEAST_FREED = 0.2;
const LEAST_LEFT = 0.1;
/** Shares of the window for the last messages, and for the summary with the user's words. */
const MOST_TAIL = 0.25;
const MOST_SUMMARY = 0.125;
/** The share for pinned entries before them. */
const MOST_PINNED = 0.25;
/** The least tokens for an answer. */
const ANSWER_TOKENS = 1_000;
/** Bytes of messages that are too short to summarize. */
const SHORT_SUMMARIZED = 8_000;
/** Share of a small model's window for one result, because small models lose track in long ones. */
const MOST_RESULT = 0.25;
/** Bytes of a result that always fit. */
const SHORT_RESULT = 400;

/** The visible part of the history. */
export type SeenHistory = Pick<HistoryWindow, "folds" | "messages" | "placeOf">;

interface RoomPorts {
  readonly mode: Mode;
  readonly model: Model;
  /** The model for summaries. */
  readonly summarizer?: Model | undefined;
  /** The offered tools. */
  readonly tools: readonly Tool[];
  readonly meter: Meter;
  readonly state: Pick<ToolMemory, "plan">;
  readonly history: SeenHistory;
  readonly chosen: Chosen;
  emit(event: AgentEvent): void;
  /** Builds the current request of this mode. @param more messages that are not in the log */
  view(mode: Mode, more?: readonly MessageEntry[]): Prompt;
  newCallId(id: string): string;
  /** The user's hooks about compactions; undefined: none. */
  readonly hooks?: {
    /**
     * The reason against an automatic one; undefined: hooks permit it. @param focus of the user's request
     * @throws {TurnError} if they are against the user's request
     */
    againstCompaction(
      trigger: "manual" | "auto",
      focus: string | undefined,
      signal: AbortSignal,
    ): Promise<string | undefined>;
    compacted(): void;
  } | undefined;
  /** @throws {TurnError} if storing fails; then nothing is folded */
  fold(entry: FoldEntry): void;
}

/** The option `sessions.compaction`. */
type CompactionOption = "auto" | false | number;

type WindowFill = Pick<RequestResult<"context">, "tokens" | "window" | "window_from" | "folds_above">;

/** "refused": the provider said that the prompt is too long. */
type Cause =
  | { readonly type: "full" | "refused" }
  /** Results that are not stored yet. `cut`: as they would be stored without a fold. */
  | { readonly type: "results"; readonly whole: readonly ResultEntry[]; readonly cut: readonly ResultEntry[] }
  | { readonly type: "request"; readonly focus: string | undefined };

/** The room of one session. */
export class Room {
  readonly #estimate = new Estimate();
  /** Cached, because each request needs them. */
  readonly #facts = new WeakMap<ToolCall, CallFacts>();
  readonly #option: CompactionOption;
  /** The last reason of a hook against a compaction. */
  #refusal: string | undefined;

  constructor(option: CompactionOption = "auto") {
    this.#option = option;
  }

  /** It folds without a request of the user's. */
  get isAutomatic(): boolean {
    return this.#option !== false;
  }

  /** The user's share of the window. */
  get #share(): number | undefined {
    return typeof this.#option === "number" ? this.#option : undefined;
  }

  /** @param input tokens by the provider's count; undefined if it gave none */
  learn(prompt: Prompt, input: number | undefined): void {
    if (input !== undefined) this.#estimate.learn(allOf(sizesOf(prompt)), input);
  }

  /** The size of this request, and the limits that it is measured against. */
  fill(prompt: Prompt, ports: Pick<RoomPorts, "history" | "model">): WindowFill {
    const { contextWindow: window, windowFrom } = ports.model;
    const sizes = sizesOf(prompt);
    const tokens = this.#estimate.tokens(allOf(sizes));
    if (!Number.isFinite(window)) return { tokens };
    if (!this.isAutomatic) return { tokens, window, window_from: windowFrom };
    const foldsAbove = this.#tokens(sizes, sizes.tools) + this.#limit(sizes, ports);
    return { tokens, window, window_from: windowFrom, folds_above: Math.floor(foldsAbove) };
  }

  /** Adds estimated usage for an answer that was cut off here, unless the provider reported it. */
  estimated(prompt: Prompt, measured: Measured): Measured {
    const { usage, cutAt } = measured;
    if (cutAt === undefined) return measured;
    const none = { input: 0, output: 0, cachedRead: 0, cachedWrite: 0, ...usage };
    const output = Math.max(none.output, this.#estimate.tokens(cutAt));
    const input = none.input || this.#estimate.tokens(allOf(sizesOf(prompt)));
    return { ...measured, usage: { ...none, input, output } };
  }

  /**
   * Whether the next request surely exceeds the window because nothing is folded automatically. Before the first count
   * the provider decides.
   */
  isOver({ model, mode, view }: Pick<RoomPorts, "model" | "mode" | "view">): boolean {
    if (this.isAutomatic || !this.#estimate.isCounted) return false;
    return this.#estimate.tokens(allOf(sizesOf(view(mode)))) > model.contextWindow * MOST_UNFOLDED;
  }

  /** @returns whether anything was folded @throws {TurnError} if storing fails */
  async make(cause: Cause, ports: RoomPorts, signal: AbortSignal): Promise<boolean> {
    const { model: { contextWindow: window, price }, history, tools, chosen } = ports;
    if (!this.isAutomatic && cause.type !== "request") return false;
    const results = cause.type === "results" ? cause : undefined;
    if (results !== undefined && !this.#isFull(sizesOf(ports.view(ports.mode, results.whole)), ports)) {
      return false;
    }
    const sizes = sizesOf(ports.view(ports.mode, results?.cut));
    if (cause.type === "refused") this.#estimate.refused(allOf(sizes), window);
    // Then the parts that cannot be folded already fill the window.
    const fixed = this.#tokens(sizes, sizes.system + sizes.tools);
    if (cause.type === "full" && fixed > window * (this.#share ?? MOST_IN_ALL)) return false;
    const foldable: Foldable = {
      messages: history.messages,
      get masked() {
        return history.folds.masked;
      },
      about: (call) => this.#about(call, tools),
      chosen,
    };
    const announcer = new FoldAnnouncer(ports, () => this.#used(ports));
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
   * The results to store: each takes at most half of the remaining room. A fold comes before shortening if it would
   * make room.
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
    const share = Math.max(MOST_IN_ALL, this.#share ?? 0);
    let left = this.#estimate.bytes(model.contextWindow * share - used);
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

  /** The most tokens for the prompt without its tools. */
  #limit(
    sizes: PromptSizes,
    { history, model: { contextWindow: window } }: Pick<RoomPorts, "history" | "model">,
  ): number {
    const tools = this.#tokens(sizes, sizes.tools);
    if (history.folds.undone) return window * MOST_UNFOLDED - tools;
    if (this.#share !== undefined) return window * this.#share - tools;
    return Math.min(window * MOST_HISTORY, window * MOST_IN_ALL - tools);
  }

  #isFull(sizes: PromptSizes, ports: RoomPorts): boolean {
    return this.#tokens(sizes, allOf(sizes) - sizes.tools) > this.#limit(sizes, ports);
  }

  /** Masking alone frees enough to postpone the next fold for long. */
  #isEnough(frees: number, { type }: Cause, sizes: PromptSizes, window: number): boolean {
    if (type === "refused") return true;
    const freed = this.#tokens(sizes, frees);
    const left = this.#tokens(sizes, allOf(sizes)) - freed;
    return freed >= window * LEAST_FREED && left <= window * ((this.#share ?? MOST_HISTORY) - LEAST_LEFT);
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
    const [trigger, focus] = cause.type === "request" ? ["manual", cause.focus] as const : ["auto"] as const;
    const against = await ports.hooks?.againstCompaction(trigger, focus, signal);
    if (against !== undefined) {
      if (against !== this.#refusal) {
        ports.emit({ type: "notice", severity: "warning", text: `Not compacted: ${against}` });
      }
      this.#refusal = against;
      return false;
    }
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
    ports.hooks?.compacted();
    return true;
  }

  /** Pinned entries move from one summary to the next. @param room bytes */
  #pinned(covered: Foldable, before: Compaction | undefined, room: number): Pick<Compaction, "pinned"> {
    const found = pinnedParts(covered);
    const again = new Set(found.map(({ id }) => id));
    const earlier = keptPins(before, covered.chosen).filter(({ id }) => !again.has(id));
    const all = [...earlier, ...found];
    const bytes = all.reduce((sum, { text }) => sum + bytesOf(text), 0);
    const share = Math.min(1, room / Math.max(1, bytes));
    if (all.length === 0) return {};
    return {
      pinned: all.map((one) => ({ ...one, text: cutTo(one.text, Math.floor(bytesOf(one.text) * share)) })),
    };
  }

  /** Undefined if no model writes one. */
  async #askForSummary(cause: Cause, ports: RoomPorts, signal: AbortSignal): Promise<string | undefined> {
    const { model, summarizer, tools, meter, newCallId, view } = ports;
    const mode = MODES.compaction;
    const question = summaryQuestion(cause.type === "request" ? cause.focus : undefined);
    const prompt = view(mode, [...cause.type === "results" ? cause.cut : [], question]);
    const size = this.#estimate.tokens(allOf(sizesOf(prompt))) + ANSWER_TOKENS;
    for (const one of [...summarizer === undefined ? [] : [summarizer], model]) {
      // Above a cap nothing is sent; the next request asks about the cap.
      if (size > one.contextWindow || meter.spending.reached() !== undefined) continue;
      const step = {
        ...{ model: one, tools, newCallId },
        // The summary is not an answer to the user.
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

  /** The used share of the window, in percent. */
  #used({ view, model, mode }: RoomPorts): number {
    const tokens = this.#estimate.tokens(allOf(sizesOf(view(mode))));
    return Math.round(tokens / model.contextWindow * 100);
  }
}

/** Stores a fold, then announces it. */
class FoldAnnouncer {
  readonly #ports: RoomPorts;
  readonly #share: () => number;

  /** @param share of the window that the prompt uses, in percent */
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

/** Shortens a text to about this many bytes. */
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
    ...tool?.needs === "skills" ? { ofSkill: true } : {},
  };
}

/** The lines of a partial read. */
function linesOf({ offset, limit }: Readonly<Record<string, unknown>>): string | undefined {
  const isWhole = (offset === undefined || offset === 1) && limit === undefined;
  return isWhole ? undefined : JSON.stringify([offset ?? 1, limit]);
}
