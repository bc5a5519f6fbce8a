/**
 * Masks old results long before the window is full. Each request pays for old results; masking them pays once for a
 * cold cache. Results are masked when both costs are equal by the model's prices, so the total is at most twice the
 * optimum. Pure.
 */
import type { Price } from "../../../protocol/config.ts";
import { entryBytes, type Foldable, type Maskable, maskable, type MaskPlan, planOf } from "./fold_plan.ts";
import { folded } from "./folds.ts";

/** Recent answers whose results stay. Source: arXiv 2508.21433, where agents do best with the last ten. */
const LAST_ROUNDS = 10;
/** The same for the newest reads of files, which the model may still rely on. */
const LAST_READ_ROUNDS = 30;
/** Fewer bytes are not worth a notice. */
const LEAST_FREED = 16_000;

interface OldResult extends Maskable {
  /** Requests that have sent it since it became old. */
  readonly sent: number;
}

/** The smallest plan that is worth its price. @param price of the current model */
export function planEarlyMasks(foldable: Foldable, price: Price): MaskPlan | undefined {
  const others = oldResults(foldable, LAST_ROUNDS, false);
  const known = new Set(others.map(({ id }) => id));
  const read = oldResults(foldable, LAST_READ_ROUNDS, true).filter(({ id }) => !known.has(id));
  const all = [...others, ...read].toSorted((one, other) => one.at - other.at);
  const found = [others, all].find((old) => isWorthIt(old, foldable, price));
  return found && planOf(found);
}

/** @param kept recent answers whose results stay @param ofRead includes the newest reads of files */
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
