/** Counts what each request to the model uses up: for the caps, for the log, and last for the screen. */
import type { Emit } from "../../log/events.ts";
import type { ToolCall, Usage } from "../../log/messages.ts";
import type { EditTried } from "../../log/edits.ts";
import { today } from "../../../shared/today.ts";
import type { PromptFacts, RequestUsage, UsageLog } from "../../ports.ts";
import type { Mode } from "../../context/modes.ts";
import { meantBy } from "../permission/meant_by.ts";
import type { Model } from "../../llm/model.ts";
import type { Tool } from "../../tools/define.ts";
import { costOf, type Spending } from "./budget.ts";

/** One request, as it went. Milliseconds. */
export interface Measured {
  /** Undefined if the provider has said nothing of it. */
  readonly usage: Usage | undefined;
  /** Characters of an answer that was ended here: what it has used up is to be estimated. */
  readonly cutAt?: number;
  readonly calls: readonly ToolCall[];
  readonly firstToken: number | undefined;
  readonly duration: number;
}

/** Milliseconds of a request, without the tries before it. */
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

/** What answers, as the log of usage names it. */
export type MeteredModel = Pick<Model, "provider" | "name" | "contextWindow" | "price">;

interface MeterPorts {
  readonly session: string;
  /** Number of the turn that runs, or ran last. */
  turn(): number;
  readonly model: MeteredModel;
  readonly spending: Spending;
  readonly log: Pick<UsageLog, "record" | "edits">;
  readonly emit: Emit;
}

/** Under this name stand calls of tools that there are not: models make up any. */
const UNKNOWN_TOOL = "(unknown)";

export class Meter {
  readonly #ports: MeterPorts;
  #since = performance.now();

  constructor(ports: MeterPorts) {
    this.#ports = ports;
  }

  get spending(): Spending {
    return this.#ports.spending;
  }

  /** The same for a session of which nothing is stored: what is used up is told, and written down nowhere. */
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

  /** What the next request is to answer has come. */
  begin(): void {
    this.#since = performance.now();
  }

  /** Milliseconds since then. */
  get waited(): number {
    return performance.now() - this.#since;
  }

  /** Writes down how an edit went, if it can: a count is worth no turn. */
  tried(edit: Omit<EditTried, "provider" | "model">, by: MeteredModel = this.#ports.model): void {
    const { session, turn, log } = this.#ports;
    const { provider, name: model } = by;
    try {
      log.edits.tried(session, turn(), { ...edit, provider, model });
    } catch {
      // What the edit itself did is told and stored by others.
    }
  }

  /**
   * Writes the request down, then tells it.
   * @param tools those that were offered
   * @param of the turn that it was made for, if it may have ended meanwhile; the model, if it was another one
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
      ...callsOf(measured.calls, tools),
    };
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
): Pick<RequestUsage, "tools" | "invalidCalls"> {
  const counts: Record<string, number> = {};
  let invalidCalls = 0;
  for (const call of calls) {
    const { tool, args } = meantBy(call, tools);
    const name = tool?.name ?? UNKNOWN_TOOL;
    counts[name] = (counts[name] ?? 0) + 1;
    if (tool === undefined || !args.ok || !tool.accepts(args.value)) invalidCalls += 1;
  }
  return { tools: counts, invalidCalls };
}
