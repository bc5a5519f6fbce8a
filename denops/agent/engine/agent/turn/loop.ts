/** The loop of a turn: request, answer, calls, results, until a policy or an answer without calls ends it. */
import type { UserMessage } from "../../log/events.ts";
import { agentUpdates, compaction, modeNote, pause, spendingCap, stepLimit } from "./policies/before.ts";
import { cutOffs, fullWindow, nudging, refusals, verification } from "./policies/answers.ts";
import { hookContext, hookEnd, stopHooks } from "./policies/hooks.ts";
import { folderRules, stepBudget, textCallNotes } from "./policies/results.ts";
import type { TurnPolicy, Verdict } from "./policies/policy.ts";
import type { TurnEnd } from "./runner.ts";
import { Turn } from "./turn.ts";
import type { TurnPorts } from "./turn_ports.ts";

/** Checked in this order; the first verdict counts. */
const POLICIES: readonly ((turn: Turn) => TurnPolicy)[] = [
  stepLimit,
  pause,
  spendingCap,
  agentUpdates,
  compaction,
  hookContext,
  modeNote,
  fullWindow,
  refusals,
  cutOffs,
  verification,
  nudging,
  stopHooks,
  hookEnd,
  folderRules,
  stepBudget,
  textCallNotes,
];

/** @returns the end of the turn, also for a failure of the model @throws {TurnError} if storing fails */
export async function runTurn(message: UserMessage, ports: TurnPorts, signal: AbortSignal): Promise<TurnEnd> {
  const turn = new Turn(message, ports, signal, (mode) => runTurn(message, ports.inMode(mode), signal));
  const policies = POLICIES.map((policy) => policy(turn));
  for (;; turn.iteration++) {
    const early = await first(policies, (policy) => policy.beforeRequest?.());
    if (early !== undefined) return early;
    // A list of tools that was not sent can still change.
    if (signal.aborted) return turn.interrupted("cancelled");
    const answer = await turn.ask();
    if (answer.type !== "answered" || answer.finish === "refused") {
      const verdict = await first(policies, (policy) => policy.afterFailure?.(answer));
      if (verdict === "again") continue;
      if (verdict !== undefined) return verdict;
      const stopped = turn.interrupted("cancelled", answer.type === "answered" ? "" : answer.text);
      return answer.type === "failed" ? answer : stopped;
    }
    turn.append(answer.message);
    const verdict = await first(policies, (policy) => policy.afterAnswer?.(answer));
    if (verdict === "again") continue;
    if (verdict !== undefined) return verdict;
    if (answer.message.calls.length === 0) return await turn.finish(answer.message);
    await turn.runCalls(answer);
    if (signal.aborted) return turn.interrupted("cancelled");
    const end = await first(policies, (policy) => policy.afterResults?.(answer));
    if (end !== undefined) return end;
  }
}

async function first<Result extends Verdict>(
  policies: readonly TurnPolicy[],
  ask: (policy: TurnPolicy) => Result | Promise<Result> | undefined,
): Promise<Result | undefined> {
  for (const policy of policies) {
    const verdict = await ask(policy);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}
