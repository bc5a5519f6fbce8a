/** Turn policies that act before a request. */
import type { Turn } from "../turn.ts";
import { maySpend, mayStepOn, windowFull } from "./limits.ts";
import type { TurnPolicy } from "./policy.ts";

/** Asks the user at the step limit; a sub-agent ends there. */
export function stepLimit(turn: Turn): TurnPolicy {
  const { ports, signal } = turn;
  return {
    async beforeRequest() {
      if (turn.iteration <= turn.limit) return undefined;
      if (ports.unattended === true) return await turn.finish({ text: "" });
      if (!await mayStepOn(ports, turn.limit, ports.maxIterations, signal)) {
        return turn.interrupted("max_iterations");
      }
      turn.limit += ports.maxIterations;
      return undefined;
    },
  };
}

/** Waits while the user has paused the turn, and passes on the user's messages. */
export function pause(turn: Turn): TurnPolicy {
  const { ports, signal } = turn;
  return {
    async beforeRequest() {
      await ports.steering?.step(signal);
      if (turn.iteration > 1) await ports.steering?.tell(ports, signal);
      return undefined;
    },
  };
}

/** Asks the user above a cap. The last message always gets an answer. */
export function spendingCap(turn: Turn): TurnPolicy {
  const { ports, signal } = turn;
  return {
    async beforeRequest() {
      const may = await maySpend(ports, ports.meter.spending, signal);
      return may ? undefined : turn.interrupted("end_turn");
    },
  };
}

/** Adds the answers of background sub-agents. */
export function agentUpdates(turn: Turn): TurnPolicy {
  return {
    beforeRequest() {
      const text = turn.ports.agents?.news();
      if (text !== undefined) turn.append({ type: "control_note", reason: "agents", text });
      return Promise.resolve(undefined);
    },
  };
}

/** Compacts the session if the window is nearly full. If the user's options forbid that, a full window ends the turn. */
export function compaction(turn: Turn): TurnPolicy {
  const { ports, signal } = turn;
  return {
    async beforeRequest() {
      if (await ports.room.make({ type: "full" }, ports, signal)) turn.forgetLookUps();
      if (!ports.room.isOver(ports)) return undefined;
      turn.interrupted("cancelled");
      return windowFull();
    },
  };
}

/** Tells the model its mode, unless it still sees the same mode. */
export function modeNote(turn: Turn): TurnPolicy {
  const { mode, modeText, missingTools, messages } = turn.ports;
  return {
    beforeRequest() {
      const text = modeText();
      const last = messages().findLast((entry) => entry.type === "control_note" && entry.reason === "mode");
      if (last?.type === "control_note" && last.text === text) return Promise.resolve(undefined);
      turn.append({ type: "control_note", reason: "mode", text });
      const missing = missingTools();
      if (missing.length > 0) {
        const names = missing.join(", ");
        turn.notice(
          `Mode ${mode.name} names tools that this session does not have: ${names}. :Agent tools adds them.`,
        );
      }
      return Promise.resolve(undefined);
    },
  };
}
