/** What a turn, a session and a day may use up; over a cap the user is asked. Pure but for the date it is given. */
import { today } from "../../../shared/today.ts";
import type { Budget as Caps, EngineConfig, Price } from "../../../protocol/config.ts";
import type { Usage } from "../../log/messages.ts";
import { OneByOne } from "../subagents/slots.ts";

/** Money of one request in US dollars; undefined where the model has no price. */
export function costOf(usage: Usage, price: Price | undefined): number | undefined {
  if (price === undefined) return undefined;
  const isLong = price.long_context !== undefined && usage.input > price.long_context;
  const fresh = usage.input - usage.cachedRead - usage.cachedWrite;
  const sent = fresh * price.input +
    usage.cachedRead * (price.cached_read ?? price.input) +
    usage.cachedWrite * (price.cached_write ?? price.input);
  const answered = usage.output * price.output;
  return (isLong ? sent * 2 + answered * 1.5 : sent + answered) / 1_000_000;
}

type Counter = "turn" | "session" | "day";

/** What a session has cost in all its life, and how often the user has raised its cap. */
interface SessionSpending {
  readonly amount: number;
  readonly raised: number;
}

const NOTHING_SPENT: SessionSpending = { amount: 0, raised: 0 };

export class Spending {
  /** Sub-agents reach a cap at the same time: it is one question. */
  readonly questions = new OneByOne();
  /** The user has said no to going on: until the turn's end that is the answer. */
  isDeclined = false;
  readonly #caps: Caps;
  readonly #used: Record<Counter, number>;
  /** How often each cap was raised by the user: each time by itself. */
  readonly #raised: Record<Counter, number> = { turn: 0, session: 0, day: 0 };
  #date: string;

  /**
   * @param spentToday money that other sessions have used up on `date` (YYYY-MM-DD)
   * @param session what this session had spent when it was left
   */
  constructor(caps: Caps, spentToday: number, date: string, session: SessionSpending = NOTHING_SPENT) {
    this.#caps = caps;
    this.#used = { turn: 0, session: session.amount, day: spentToday };
    this.#raised.session = session.raised;
    this.#date = date;
  }

  get session(): SessionSpending {
    return { amount: this.#used.session, raised: this.#raised.session };
  }

  beginTurn(): void {
    this.isDeclined = false;
    this.#used.turn = 0;
    this.#raised.turn = 0;
  }

  add(usage: Usage, cost: number | undefined, date: string): void {
    if (date !== this.#date) {
      this.#date = date;
      this.#used.day = 0;
    }
    this.#used.turn += usage.input + usage.output;
    this.#used.session += cost ?? 0;
    this.#used.day += cost ?? 0;
  }

  /** The cap that is reached, as one line; undefined if none is. */
  reached(): { readonly counter: Counter; readonly text: string } | undefined {
    const caps = {
      turn: this.#caps.max_tokens_per_turn,
      session: this.#caps.max_cost_per_session,
      day: this.#caps.max_cost_per_day,
    };
    for (const counter of ["turn", "session", "day"] as const) {
      const cap = caps[counter];
      if (cap === undefined || this.#used[counter] < cap * (this.#raised[counter] + 1)) continue;
      const used = this.#used[counter];
      const text = counter === "turn"
        ? `this turn has used ${used} tokens; the cap is ${cap} (limits.max_tokens_per_turn)`
        : `this ${counter} has cost ${used.toFixed(2)}; the cap is ${
          cap.toFixed(2)
        } (limits.max_cost_per_${counter})`;
      return { counter, text };
    }
    return undefined;
  }

  /** The user lets it go on for as much again. */
  raise(counter: Counter): void {
    this.#raised[counter] += 1;
  }
}

/** Caps by money do not hold where nobody knows what a model costs: that is said once of each. */
export class Unpriced {
  readonly #notifiedModels = new Set<string>();

  /** One line; undefined if there is nothing to say. */
  notice(
    { provider, max_cost_per_session, max_cost_per_day }: EngineConfig,
    { name, price }: { readonly name: string; readonly price?: Price | undefined },
  ): string | undefined {
    const caps = { max_cost_per_session, max_cost_per_day };
    const set = Object.entries(caps).flatMap(([cap, money]) => money === undefined ? [] : [`limits.${cap}`]);
    // Who asks for no key sends no bill.
    const isFree = price !== undefined || provider?.api_key === undefined;
    if (isFree || set.length === 0 || this.#notifiedModels.has(name)) return undefined;
    this.#notifiedModels.add(name);
    const verb = set.length === 1 ? "does" : "do";
    return `${set.join(" and ")} ${verb} not count ${name}: its price is unknown. Set its price in models.`;
  }
}

/**
 * Of a session that is opened.
 * @param known what its requests have cost by the table: that may have been told to no memory, when the engine was killed
 * @param left as the session remembers it
 */
export function spendingOf(
  { spent, ...caps }: Pick<EngineConfig, "spent" | keyof Caps>,
  known: number | undefined,
  left: SessionSpending,
): Spending {
  const date = today();
  const amount = Math.max(left.amount, known ?? 0);
  return new Spending(caps, spent?.date === date ? spent.amount : 0, date, { ...left, amount });
}
