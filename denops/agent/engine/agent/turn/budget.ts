/** Spending caps of a turn, a session and a day; above one, the user is asked. Pure, apart from the date. */
import { today } from "../../../shared/today.ts";
import type { Budget as Caps, EngineConfig, Price } from "../../../protocol/config.ts";
import type { Usage } from "../../log/messages.ts";
import { OneByOne } from "../../../shared/slots.ts";

/** Cost of one request in US dollars; undefined if the model has no price. */
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

/** The total cost of a session, and how often the user raised its cap. */
interface SessionSpending {
  readonly amount: number;
  readonly raised: number;
}

const NOTHING_SPENT: SessionSpending = { amount: 0, raised: 0 };

export class Spending {
  /** Sub-agents may reach a cap together; the user gets one question. */
  readonly questions = new OneByOne();
  /** The user declined; this holds until the turn ends. */
  isDeclined = false;
  readonly #caps: Readonly<Record<Counter, number | undefined>>;
  readonly #used: Record<Counter, number>;
  /** How often the user raised each cap. */
  readonly #raised: Record<Counter, number> = { turn: 0, session: 0, day: 0 };
  #date: string;

  /** @param spentToday cost of other sessions on `date` (YYYY-MM-DD) @param session this session's earlier spending */
  constructor(caps: Caps, spentToday: number, date: string, session: SessionSpending = NOTHING_SPENT) {
    this.#caps = {
      turn: caps.max_tokens_per_turn,
      session: caps.max_cost_per_session,
      day: caps.max_cost_per_day,
    };
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

  /** The reached cap as one line; undefined if there is none. */
  reached(): { readonly counter: Counter; readonly text: string } | undefined {
    for (const counter of ["turn", "session", "day"] as const) {
      const cap = this.#caps[counter];
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

  /** The user allows the same amount again: as often as necessary, because one turn may cost any multiple of it. */
  raise(counter: Counter): void {
    const { [counter]: cap = 0 } = this.#caps;
    const times = cap > 0 ? Math.floor(this.#used[counter] / cap) : 0;
    this.#raised[counter] = Math.max(this.#raised[counter] + 1, times);
  }
}

/** Caps by money cannot hold for models without a price; the user is notified once for each model. */
export class Unpriced {
  readonly #notifiedModels = new Set<string>();

  /** One line; undefined if the price is known or no cap is set. */
  notice(
    { provider, max_cost_per_session, max_cost_per_day }: EngineConfig,
    { name, price }: { readonly name: string; readonly price?: Price | undefined },
  ): string | undefined {
    const caps = { max_cost_per_session, max_cost_per_day };
    const set = Object.entries(caps).flatMap(([cap, money]) => money === undefined ? [] : [`limits.${cap}`]);
    // Providers without a key send no bill.
    const isFree = price !== undefined || provider?.api_key === undefined;
    if (isFree || set.length === 0 || this.#notifiedModels.has(name)) return undefined;
    this.#notifiedModels.add(name);
    const verb = set.length === 1 ? "does" : "do";
    return `${set.join(" and ")} ${verb} not count ${name}: its price is unknown. Set its price in models.`;
  }
}

/**
 * The spending of a reopened session.
 * @param known cost by the usage table, which includes requests that a killed engine did not remember
 * @param left cost that the session remembers
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
