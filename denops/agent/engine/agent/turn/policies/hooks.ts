/** Turn policies of the user's hooks. */
import { lastOf } from "../../hooks/hook_tools.ts";
import { hookTexts } from "../../hooks/turn_hooks.ts";
import type { Turn } from "../turn.ts";
import type { TurnPolicy } from "./policy.ts";

/** A hook can keep a turn from ending this many times. */
const MOST_STOPS = 3;

/** Ends the turn if a hook wants that. */
export function hookEnd(turn: Turn): TurnPolicy {
  const { hooks } = turn.ports;
  return {
    afterResults() {
      if (hooks?.stop === undefined) return undefined;
      turn.notice(`A hook has ended the turn: ${hooks.stop}`, "warning");
      return turn.interrupted("end_turn");
    },
  };
}

/** After a compaction, hooks can tell the model again what it has forgotten. */
export function hookContext(turn: Turn): TurnPolicy {
  const { ports: { hooks }, signal } = turn;
  return {
    async beforeRequest() {
      if (hooks?.takeCompacted() !== true) return undefined;
      const answer = await hooks.run({ event: "SessionStart", source: "compact" }, signal);
      const text = hookTexts(answer).trim();
      if (text !== "") turn.append({ type: "control_note", reason: "hook", text });
      return undefined;
    },
  };
}

/** Hooks can keep the turn from ending. */
export function stopHooks(turn: Turn): TurnPolicy {
  const { ports: { hooks, unattended, mode }, signal } = turn;
  const event = unattended === true ? "SubagentStop" : "Stop";
  let stops = 0;
  return {
    async afterAnswer({ message: { calls, text } }) {
      if (calls.length > 0 || hooks?.has(event) !== true || stops >= MOST_STOPS) return undefined;
      if (turn.iteration >= turn.limit) return undefined;
      const details = { again: stops > 0, message: lastOf(text) };
      const answer = await hooks.run(
        event === "Stop" ? { event, ...details } : { event, ...details, agent: mode.name },
        signal,
      );
      if (signal.aborted) return { type: "stopped", reason: "cancelled" };
      if (answer.decision !== "deny" || answer.stop !== undefined) return undefined;
      stops += 1;
      const reason = answer.reason ?? "it gave no reason";
      turn.notice(`A hook keeps the turn going: ${reason}`);
      const note = `A hook of the user does not let you end the turn yet: ${reason}${hookTexts(answer)}`;
      turn.append({ type: "control_note", reason: "hook", text: note });
      return "again";
    },
  };
}
