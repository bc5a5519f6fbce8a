/**
 * Masks long before the window is full. Old results cost a little with every request. To mask them costs once: what
 * stands behind them is no longer in the provider's cache. They are masked when the former has come to the latter, by
 * the model's prices, so both together are at most twice the least that is possible. Pure.
 */
import type { Price } from "../../../protocol/config.ts";
import { entryBytes, type Foldable, type Maskable, maskable, type MaskPlan, planOf } from "./fold_plan.ts";
import { folded } from "./folds.ts";

/** Answers whose results stay. Source: arXiv 2508.21433, where agents do best with the last ten. */
const LAST_ROUNDS = 10;
/** The same for files that the model has only read, and that no later call shows: it may still go by them. */
const LAST_READ_ROUNDS = 30;
/** Bytes that are worth a line in the chat. */
const LEAST_FREED = 16_000;

interface OldResult extends Maskable {
  /** Requests that have sent it since it was old. */
  readonly sent: number;
}

/** The gentlest plan that is worth its price. @param price of the model that the session goes on with */
export function planEarlyMasks(foldable: Foldable, price: Price): MaskPlan | undefined {
  const others = oldResults(foldable, LAST_ROUNDS, false);
  const known = new Set(others.map(({ id }) => id));
  const read = oldResults(foldable, LAST_READ_ROUNDS, true).filter(({ id }) => !known.has(id));
  const all = [...others, ...read].toSorted((one, other) => one.at - other.at);
  const found = [others, all].find((old) => isWorthIt(old, foldable, price));
  return found && planOf(found);
}

/** @param kept answers whose results stay @param ofRead newest states of files that were only read count too */
function oldResults(foldable: Foldable, kept: number, ofRead: boolean): readonly OldResult[] {
  const { messages } = foldable;
  const rounds = messages.flatMap(({ type }, at) => type === "assistant_message" ? [at] : []);
  const end = rounds.at(-kept) ?? 0;
  let later = rounds.length;
  const laterThan = messages.map(({ type }) => type === "assistant_message" ? --later : later);
  return maskable(foldable, end, ofRead).map((one) => {
    const sent = (laterThan[Math.max(one.at, one.oldSince)] ?? 0) - kept;
    return { ...one, sent: Math.max(0, sent) };
  });
}

/** @param old in the order of the messages */
function isWorthIt(old: readonly OldResult[], { messages, masked }: Foldable, price: Price): boolean {
  const [first] = old;
  const { frees } = planOf(old);
  if (first === undefined || frees < LEAST_FREED) return false;
  const { input, cached_read = input, cached_write = input } = price;
  const paid = old.reduce((sum, { sent, frees }) => sum + sent * frees, 0) * cached_read;
  const behind = folded(messages.slice(first.at), { masked }).reduce((sum, one) => sum + entryBytes(one), 0);
  return paid >= (behind - frees) * (Math.max(input, cached_write) - cached_read);
}
