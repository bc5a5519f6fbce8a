/** Records the usage of each request: for the caps, the usage log and the screen. */
import type { Emit } from "../../log/events.ts";
import type { ToolCall, Usage } from "../../log/messages.ts";
import type { EditTried } from "../../log/edits.ts";
import { today } from "../../../shared/today.ts";
import type { PromptFacts, RequestUsage, UsageLog } from "../../ports/usage.ts";
import type { Mode } from "../../context/modes.ts";
import { meantBy } from "../permission/meant_by.ts";
import type { Model } from "../../llm/model.ts";
import type { Tool } from "../../tools/define.ts";
import { costOf, type Spending } from "./budget.ts";

/** One measured request. Times are in milliseconds. */
export interface Measured {
  /** Undefined if the provider reported nothing. */
  readonly usage: Usage | undefined;
  /** Characters of an answer that was cut off here; its usage is estimated. */
  readonly cutAt?: number;
  readonly calls: readonly ToolCall[];
  readonly firstToken: number | undefined;
  readonly duration: number;
}

/** Duration of a request in milliseconds, without failed attempts. */
export class Clock {
  #began = performance.now();
  #first: number | undefined;

  restart(waitMs: number): void {
    this.#began = performance.now() + waitMs;
    this.#first = undefined;
  }

  heard(): void {
    this.#first ??= performance.now() - this.#began;
  }

  read(): { readonly firstToken: number | undefined; readonly duration: number } {
    return { firstToken: this.#first, duration: Math.max(0, performance.now() - this.#began) };
  }
}

/** The model as the usage log names it. */
export type MeteredModel =
  & Pick<Model, "provider" | "name" | "contextWindow" | "price">
  & Partial<Pick<Model, "small">>;

interface MeterPorts {
  readonly session: string;
  /** Number of the current or last turn. */
  turn(): number;
  readonly model: MeteredModel;
  readonly spending: Spending;
  readonly log: Pick<UsageLog, "record" | "edits">;
  readonly emit: Emit;
}

const NO_USAGE: Usage = { input: 0, output: 0, cachedRead: 0, cachedWrite: 0 };
/** The name for calls of unknown tools, because models make up any name. */
const UNKNOWN_TOOL = "(unknown)";
/** The name for pages of the web that the user attaches, which no tool reads. */
const ATTACHED_PAGE = "@https";

export class Meter {
  readonly #ports: MeterPorts;
  #since = performance.now();
  /** Attached pages since the last request. */
  #pages = 0;

  constructor(ports: MeterPorts) {
    this.#ports = ports;
  }

  get spending(): Spending {
    return this.#ports.spending;
  }

  /** A meter for an unstored session: it reports usage, but stores nothing. */
  unstored(emit: Emit): Meter {
    const { session, model, spending, log } = this.#ports;
    return new Meter({
      session,
      turn: () => 0,
      model,
      spending,
      emit,
      log: { record: () => {}, edits: log.edits },
    });
  }

  /** The input of the next request is ready. */
  begin(): void {
    this.#since = performance.now();
  }

  /** The next request has these pages, which the user attaches. */
  attach(pages: number): void {
    this.#pages += pages;
  }

  /** Milliseconds since then. */
  get waited(): number {
    return performance.now() - this.#since;
  }

  /** Records the outcome of an edit. A failure to store it does not end the turn. */
  tried(edit: Omit<EditTried, "provider" | "model">, by: MeteredModel = this.#ports.model): void {
    const { session, turn, log } = this.#ports;
    const { provider, name: model } = by;
    try {
      log.edits.tried(session, turn(), { ...edit, provider, model });
    } catch {
      // Others report and store the edit itself.
    }
  }

  /** Stores a turn of another agent as one request. The agent's own updates are published instead. */
  countTurn(turn: Omit<RequestUsage, "purpose" | "provider" | "invalidCalls" | "offered">, mode: Mode): void {
    const { session, spending, log, model: { provider } } = this.#ports;
    spending.add(turn.usage ?? NO_USAGE, turn.cost, today());
    log.record(session, this.#ports.turn(), {
      ...{ purpose: mode.name, provider, invalidCalls: 0, offered: 0 },
      ...turn,
    });
  }

  /**
   * Stores the request, then publishes it.
   * @param tools the offered tools @param of the turn it belongs to, if that may have ended, and the model, if it was
   * another one
   */
  count(
    measured: Measured,
    mode: Mode,
    tools: readonly Tool[],
    of: {
      readonly turn?: number;
      readonly model?: MeteredModel;
      readonly prompt?: PromptFacts | undefined;
    } = {},
  ): void {
    const { session, spending, log, emit } = this.#ports;
    const { turn, model } = { turn: this.#ports.turn(), model: this.#ports.model, ...of };
    const { usage, firstToken, duration } = measured;
    const cost = usage === undefined ? undefined : costOf(usage, model.price);
    if (usage !== undefined) spending.add(usage, cost, today());
    const request: RequestUsage = {
      purpose: mode.name,
      provider: model.provider,
      model: model.name,
      ...(usage === undefined ? {} : { usage }),
      ...(cost === undefined ? {} : { cost }),
      ...(firstToken === undefined ? {} : { firstToken: Math.round(firstToken) }),
      duration: Math.round(duration),
      offered: tools.length,
      ...(of.prompt === undefined ? {} : { prompt: of.prompt }),
      ...callsOf(measured.calls, tools, this.#pages),
    };
    this.#pages = 0;
    log.record(session, turn, request);
    if (usage === undefined) return;
    const { amount } = spending.session;
    emit({
      type: "usage",
      usage,
      window: model.contextWindow,
      ...(cost === undefined ? {} : { cost }),
      ...(cost === undefined && amount === 0 ? {} : { sessionCost: amount }),
      ...(mode.aside === true ? { purpose: mode.name } : {}),
    });
  }
}

function callsOf(
  calls: readonly ToolCall[],
  tools: readonly Tool[],
  pages: number,
): Pick<RequestUsage, "tools" | "invalidCalls"> {
  const counts: Record<string, number> = pages === 0 ? {} : { [ATTACHED_PAGE]: pages };
  let invalidCalls = 0;
  for (const call of calls) {
    const { tool, args } = meantBy(call, tools);
    const name = tool?.name ?? UNKNOWN_TOOL;
    counts[name] = (counts[name] ?? 0) + 1;
    if (tool === undefined || !args.ok || !tool.accepts(args.value)) invalidCalls += 1;
  }
  return { tools: counts, invalidCalls };
}
