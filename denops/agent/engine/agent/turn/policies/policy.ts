/** A turn policy: one rule of whether and how a turn continues. */
import type { TurnEnd } from "../runner.ts";
import type { StepEnd } from "../step.ts";
import type { Answered } from "../turn.ts";

/** "again": the model is asked again, with what the policy has appended. Undefined: the next policy decides. */
export type Verdict = "again" | TurnEnd | undefined;

/** Made anew for each turn, so that it may keep the turn's state. */
export interface TurnPolicy {
  beforeRequest?(): Promise<TurnEnd | undefined>;
  /** After a request without an answer that may stay in the log. */
  afterFailure?(end: StepEnd): Verdict | Promise<Verdict>;
  /** After an answer was stored, before its calls run. */
  afterAnswer?(answer: Answered): Verdict | Promise<Verdict>;
  /** After the results were stored. */
  afterResults?(answer: Answered): TurnEnd | undefined | Promise<TurnEnd | undefined>;
}
