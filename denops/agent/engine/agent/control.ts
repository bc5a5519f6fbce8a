/** Notes of the loop to the model about the state of a turn. One function builds them all. */
import type { ControlNote } from "../core/entries.ts";

/** Why the turn goes on although the model has stopped, or has to be told something. */
export type ControlState = Extract<ControlNote["reason"], "need_fixes" | "nothing_done" | "no_plan">;

export interface ControlPacket {
  readonly state: ControlState;
  readonly iteration: number;
  readonly maxIterations: number;
  readonly filesChanged: readonly string[];
  /** What is to be done now. */
  readonly note: string;
}

/** A turn that has looked around is to end in a plan. */
export function planWanted(iteration: number, maxIterations: number): ControlNote {
  const note =
    "You have looked around, and the user has no plan yet. Send its steps with update_plan, then end as your " +
    "mode says. If no change is wanted, say so.";
  return controlNote({ state: "no_plan", iteration, maxIterations, filesChanged: [], note });
}

const AGAINST_REPETITION =
  "Go on from here with tool calls; do not repeat what you have already said or done.";

export function controlNote(
  { state, iteration, maxIterations, filesChanged, note }: ControlPacket,
): ControlNote {
  const json = JSON.stringify({
    state,
    iteration,
    max_iterations: maxIterations,
    remaining_iterations: Math.max(0, maxIterations - iteration),
    files_changed: filesChanged,
    note,
  });
  const text = `<agent_control>${json}</agent_control>\n${AGAINST_REPETITION}`;
  return { type: "control_note", reason: state, text };
}
