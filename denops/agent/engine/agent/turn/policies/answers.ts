/** Turn policies that act on an answer, or on its failure. */
import { defined } from "../../../../shared/records.ts";
import type { TurnEnd } from "../runner.ts";
import type { Turn } from "../turn.ts";
import { controlNote } from "./control.ts";
import { Continuations } from "./cut_off.ts";
import { windowFull } from "./limits.ts";
import { Nudges } from "./nudges.ts";
import type { TurnPolicy } from "./policy.ts";

/** Errors listed when the turn may not end yet. */
const MOST_ERRORS = 20;

/** Sends less if the provider says that the prompt is too long. */
export function fullWindow(turn: Turn): TurnPolicy {
  const { ports, signal } = turn;
  let wasFull = false;
  return {
    async afterFailure(end) {
      if (end.type !== "failed" || end.error.kind !== "window_full") return undefined;
      if (ports.shortened()) return "again";
      if (!ports.room.isAutomatic) {
        turn.interrupted("cancelled", end.text);
        return windowFull();
      }
      const isFolded = !wasFull && await ports.room.make({ type: "refused" }, ports, signal);
      wasFull = true;
      if (!isFolded) return undefined;
      turn.forgetLookUps();
      return "again";
    },
  };
}

/**
 * Ends the turn if the provider refuses. The refused text is not sent again, because everything after it would be
 * refused.
 */
export function refusals(turn: Turn): TurnPolicy {
  const refused = (text: string): TurnEnd => {
    turn.append({ type: "assistant_message", text, calls: [], reasoning: [], refused: true });
    return { type: "stopped", reason: "refused" };
  };
  return {
    afterFailure(end) {
      if (end.type === "failed") return end.error.kind === "filtered" ? refused(end.text) : undefined;
      return end.type === "answered" ? refused(end.message.text) : undefined;
    },
  };
}

/** Continues an answer that ended too early. */
export function cutOffs(turn: Turn): TurnPolicy {
  const { ports, signal } = turn;
  const continuations = new Continuations();
  return {
    async afterAnswer({ finish }) {
      if (finish === "window_full" && !ports.room.isAutomatic) return windowFull();
      const cut = continuations.next(finish);
      if (cut === undefined) return undefined;
      if (cut.notice !== undefined) turn.notice(cut.notice, "warning");
      if (cut.note === undefined) {
        return { type: "stopped", reason: cut.end, ...defined({ problem: cut.problem }) };
      }
      turn.append(cut.note);
      if (finish === "window_full") await ports.room.make({ type: "refused" }, ports, signal);
      return "again";
    },
  };
}

/** Has the model fix errors that the turn added to its files; once. */
export function verification(turn: Turn): TurnPolicy {
  const { ports: { checks }, signal } = turn;
  let isDone = false;
  return {
    async afterAnswer({ message }) {
      if (message.calls.length > 0 || isDone) return undefined;
      isDone = true;
      if (checks === undefined || turn.iteration >= turn.limit) return undefined;
      const errors = await checks.remaining(signal).catch(() => []);
      if (signal.aborted) return CANCELLED;
      if (errors.length === 0) return undefined;
      const added = errors.length === 1 ? "1 error" : `${errors.length} errors`;
      turn.notice(`The edits added ${added}; the model is told to fix them.`);
      const more = errors.length > MOST_ERRORS ? `\n[${errors.length - MOST_ERRORS} more]` : "";
      const note = "Your edits added errors that are still there. Fix them, or say why they are to stay:\n" +
        errors.slice(0, MOST_ERRORS).join("\n") + more;
      const { iteration, limit: maxIterations } = turn;
      const filesChanged = checks.files;
      turn.append(controlNote({ state: "need_fixes", iteration, maxIterations, filesChanged, note }));
      return "again";
    },
  };
}

/** Nudges a model that ends the turn too early. */
export function nudging(turn: Turn): TurnPolicy {
  const { ports, signal, request, work } = turn;
  const nudges = new Nudges();
  return {
    async afterAnswer({ message, shownCall }) {
      if (message.calls.length > 0) return undefined;
      const nudge = await nudges.next({
        request,
        answer: message.text,
        isComplete: message.complete === true,
        iteration: turn.iteration,
        maxIterations: turn.limit,
        mode: ports.mode,
        plan: ports.state.plan,
        work,
        questionTool: ports.tools.find(({ needs }) => needs === "questions")?.name,
        canWrite: ports.tools.some(({ readOnly }) => !readOnly),
        callsInText: ports.model.textForm !== undefined,
        shownCall,
        claimsChange: () => ports.claimsChange(request, message.text, signal),
      });
      if (signal.aborted) return CANCELLED;
      if (nudge === undefined) return undefined;
      if (nudge.notice !== undefined) turn.notice(nudge.notice);
      turn.append(nudge.note);
      return "again";
    },
  };
}

const CANCELLED: TurnEnd = { type: "stopped", reason: "cancelled" };
