/** A turn policy: one rule about whether and how a turn continues. */
import type { TurnEnd } from "../runner.ts";
import type { StepEnd } from "../step.ts";
import type { Answered } from "../turn.ts";

/** "again": the model is asked again, with the notes that the policy appended. Undefined: the next policy decides. */
export type Verdict = "again" | TurnEnd | undefined;

/** Created for each turn, so it may keep state. */
export interface TurnPolicy {
  beforeRequest?(): Promise<TurnEnd | undefined>;
  /** After a request without a usable answer. */
  afterFailure?(end: StepEnd): Verdict | Promise<Verdict>;
  /** After an answer is stored, before its calls run. */
  afterAnswer?(answer: Answered): Verdict | Promise<Verdict>;
  /** After the results are stored. */
  afterResults?(answer: Answered): TurnEnd | undefined | Promise<TurnEnd | undefined>;
}
