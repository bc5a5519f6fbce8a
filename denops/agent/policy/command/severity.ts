/** How dangerous something is, and how findings are put together: the worst wins. Pure. */

export type Severity = "none" | "medium" | "high" | "critical";

/** What one look at a command found. */
export interface Judgement {
  readonly severity: Severity;
  /** Half a sentence that goes on from the command's own text: "deletes a folder". */
  readonly reason: string;
  readonly network: boolean;
  readonly writes: boolean;
}

const RANK: Readonly<Record<Severity, number>> = { none: 0, medium: 1, high: 2, critical: 3 };

export function rank(severity: Severity): number {
  return RANK[severity];
}

export function worse(a: Severity, b: Severity): Severity {
  return RANK[b] > RANK[a] ? b : a;
}

/** What leaves nothing behind and needs nobody's word. */
export const HARMLESS: Judgement = { severity: "none", reason: "only reads", network: false, writes: false };

export interface Effects {
  readonly network?: boolean;
  readonly writes?: boolean;
}

/** @param effects both false unless said */
export function judged(severity: Severity, reason: string, effects: Effects = {}): Judgement {
  return { severity, reason, network: effects.network ?? false, writes: effects.writes ?? false };
}

/** The highest severity with the reason that came with it first; network and writes of all. */
export function worst(...all: readonly Judgement[]): Judgement {
  let found = HARMLESS;
  let network = false;
  let writes = false;
  for (const one of all) {
    if (RANK[one.severity] > RANK[found.severity]) found = one;
    network ||= one.network;
    writes ||= one.writes;
  }
  return { severity: found.severity, reason: found.reason, network, writes };
}

export function atLeast(one: Judgement, severity: Severity, reason: string): Judgement {
  return RANK[one.severity] >= RANK[severity] ? one : { ...one, severity, reason };
}
