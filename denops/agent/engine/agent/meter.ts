/** Counts what each request to the model uses up: for the caps, for the log, and last for the screen. */
import type { Price } from "../../protocol/config.ts";
import type { Emit } from "../core/events.ts";
import type { ToolCall, Usage } from "../core/messages.ts";
import type { Purpose, RequestUsage, UsageLog } from "../core/ports.ts";
import { parseArguments } from "../llm/arguments.ts";
import type { Tool } from "../tools/define.ts";
import { costOf, type Spending } from "./budget.ts";

/** One request, as it went. Milliseconds. */
export interface Measured {
  /** Undefined if the provider has said nothing of it. */
  readonly usage: Usage | undefined;
  readonly calls: readonly ToolCall[];
  readonly firstToken: number | undefined;
  readonly duration: number;
}

export interface MeterPorts {
  readonly session: string;
  readonly provider: string;
  readonly model: { readonly name: string; readonly contextWindow: number };
  readonly price: Price | undefined;
  readonly spending: Spending;
  readonly log: UsageLog;
  readonly emit: Emit;
}

/** Under this name stand calls of tools that there are not: models make up any. */
const UNKNOWN_TOOL = "(unknown)";

export class Meter {
  readonly #ports: MeterPorts;
  /** Tokens that the conversation takes. */
  #used = 0;

  constructor(ports: MeterPorts) {
    this.#ports = ports;
  }

  get spending(): Spending {
    return this.#ports.spending;
  }

  /**
   * Writes the request down, then tells it.
   * @param tools those that were offered
   */
  count(measured: Measured, purpose: Purpose, tools: readonly Tool[]): void {
    const { session, provider, model, price, spending, log, emit } = this.#ports;
    const { usage, firstToken, duration } = measured;
    const cost = usage === undefined ? undefined : costOf(usage, price);
    if (usage !== undefined) spending.add(usage, cost, new Date().toISOString().slice(0, 10));
    const request: RequestUsage = {
      purpose,
      provider,
      model: model.name,
      ...(usage === undefined ? {} : { usage }),
      ...(cost === undefined ? {} : { cost }),
      ...(firstToken === undefined ? {} : { firstToken: Math.round(firstToken) }),
      duration: Math.round(duration),
      ...callsOf(measured.calls, tools),
    };
    log.record(session, request);
    if (usage === undefined) return;
    if (purpose !== "title") this.#used = usage.input + usage.output;
    const sessionCost = log.cost(session);
    emit({
      type: "usage",
      usage,
      used: this.#used,
      window: model.contextWindow,
      ...(cost === undefined ? {} : { cost }),
      ...(sessionCost === undefined ? {} : { sessionCost }),
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
    const known = tools.some(({ name }) => name === call.name);
    const name = known ? call.name : UNKNOWN_TOOL;
    counts[name] = (counts[name] ?? 0) + 1;
    if (!known || !parseArguments(call.arguments).ok) invalidCalls += 1;
  }
  return { tools: counts, invalidCalls };
}
