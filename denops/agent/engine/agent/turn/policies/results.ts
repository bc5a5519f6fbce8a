/** Turn policies that act after the results of an answer's calls. */
import { CHOSEN } from "../../../context/modes.ts";
import type { Turn } from "../turn.ts";
import type { TurnPolicy } from "./policy.ts";

/** Steps before the limit at which a small model is warned. */
const FEW_STEPS = 3;

const NARROWED =
  "Three calls of the model could not be read: this session switches to mode ask. Choose another mode to go back: " +
  "`:Agent mode agent`.";

/** Adds the rules of folders that the calls touched. */
export function folderRules(turn: Turn): TurnPolicy {
  return {
    async afterResults() {
      const notes = await turn.ports.rulesOf(turn.work.takeTouched(), turn.signal);
      for (const note of notes) turn.append(note);
      return undefined;
    },
  };
}

/** Tells a small model how many steps are left. */
export function stepBudget(turn: Turn): TurnPolicy {
  return {
    afterResults() {
      const left = turn.limit - turn.iteration;
      if (!turn.ports.model.small || left < 1 || left > FEW_STEPS) return undefined;
      const steps = left === 1 ? "1 step is" : `${left} steps are`;
      const text =
        `[${steps} left in this turn. Finish what matters most, then say what is done and what is left.]`;
      turn.append({ type: "control_note", reason: "steps", text });
      return undefined;
    },
  };
}

/** Tells a model with calls in its text what became of them. Switches to mode ask after too many unreadable calls. */
export function textCallNotes(turn: Turn): TurnPolicy {
  const { ports } = turn;
  const { model, textCalls, mode, state } = ports;
  return {
    async afterResults({ message, isLoop }) {
      const { unreadable, isTooMany } = textCalls.count(message);
      if (model.textForm !== undefined) {
        const form = unreadable > 0 ? model.textForm : undefined;
        const repeated = turn.takeRepeated();
        turn.append(textCalls.resultsNote({ plan: state.plan, repeated, form, isLoop }));
      }
      if (!isTooMany || mode.access === "read") return undefined;
      turn.notice(NARROWED, "warning");
      ports.narrow();
      return await turn.restart(CHOSEN.ask);
    },
  };
}
