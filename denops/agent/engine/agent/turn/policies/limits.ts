/** The limits of a turn. Above most, the turn continues only with the user's approval. */
import { TurnError } from "../../../../shared/errors.ts";
import type { Emit } from "../../../log/events.ts";
import type { AskApproval } from "../../../ports/approvals.ts";
import { ruleOf } from "../../permission/permission.ts";
import type { Spending } from "../budget.ts";
import type { TurnEnd } from "../runner.ts";

interface Asker {
  readonly emit: Emit;
  readonly ask: AskApproval;
}

/** The end of a turn in a full window, if the session is not compacted automatically. */
export function windowFull(): TurnEnd {
  const reason = "Cannot continue: the model's window is full, and sessions.compaction is false.";
  return {
    type: "failed",
    error: new TurnError("window_full", reason, "Run :Agent compact, or :Agent new."),
  };
}

interface Question {
  /** The reason for the question, one line. */
  readonly text: string;
  /** The answers' labels on screen. */
  readonly yes: string;
  readonly no: string;
}

/**
 * Only the user's answer counts: rules do not apply, and a client that cannot ask declines. Undefined: no question
 * was sent.
 */
async function mayGoOn(
  { text, yes, no }: Question,
  { emit, ask }: Asker,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const call = {
    id: `limit-${crypto.randomUUID()}`,
    title: "go on",
    kind: "other",
    paths: [],
  } as const;
  emit({ type: "tool_start", call });
  const answer = await ask({
    call,
    reason: text,
    force: false,
    access: { kind: "ask", about: "limit", text },
  }, signal);
  const allowed = answer.answer === "allow_once" || answer.answer === "allow_session";
  const status = allowed ? "completed" : "failed";
  emit({ type: "tool_done", id: call.id, status, summary: allowed ? yes : no, output: text });
  return answer.answer === "cancelled" || ruleOf(answer) !== undefined ? undefined : allowed;
}

/** Asks the user above a cap, before anything is sent. */
export async function maySpend(asker: Asker, spending: Spending, signal: AbortSignal): Promise<boolean> {
  if (spending.reached() === undefined) return true;
  return await spending.questions.run(async () => {
    for (let cap = spending.reached(); cap !== undefined; cap = spending.reached()) {
      if (spending.isDeclined || signal.aborted) return false;
      const question = { text: cap.text, yes: "for as much again", no: "stopped at the cap" };
      const allowed = await mayGoOn(question, asker, signal);
      spending.isDeclined = allowed === false;
      if (allowed !== true) return false;
      spending.raise(cap.counter);
    }
    return true;
  });
}

/** @param done steps so far @param more additional steps if the user agrees */
export async function mayStepOn(
  asker: Asker,
  done: number,
  more: number,
  signal: AbortSignal,
): Promise<boolean> {
  const steps = (count: number) => `${count} ${count === 1 ? "step" : "steps"}`;
  const text = `${steps(done)} done. Go on for ${more} more?`;
  return true === await mayGoOn(
    { text, yes: `for ${steps(more)} more`, no: "stopped at the limit of steps" },
    asker,
    signal,
  );
}
