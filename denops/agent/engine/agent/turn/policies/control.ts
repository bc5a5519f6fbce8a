/** Notes about the state of a turn, from the loop to the model. */
import type { ControlNote } from "../../../log/entries.ts";

/** The reason why the loop continues, or a message for the model. */
export type ControlState = Extract<
  ControlNote["reason"],
  "need_fixes" | "nothing_done" | "call_shown" | "plan_open" | "no_plan"
>;

interface ControlPacket {
  readonly state: ControlState;
  readonly iteration: number;
  readonly maxIterations: number;
  readonly filesChanged: readonly string[];
  /** Instructions for the model. */
  readonly note: string;
}

const AGAINST_REPETITION =
  "Go on from here with tool calls; do not repeat what you have already said or done.";

export function controlNote(
  { state, iteration, maxIterations, filesChanged, note }: ControlPacket,
): ControlNote {
  const packet = controlPacket({
    state,
    iteration,
    max_iterations: maxIterations,
    remaining_iterations: Math.max(0, maxIterations - iteration),
    files_changed: filesChanged,
    note,
  });
  return { type: "control_note", reason: state, text: `${packet}\n${AGAINST_REPETITION}` };
}

/** Tool results cannot imitate this: see llm/text_tools/request.ts. */
export function controlPacket(fields: Readonly<Record<string, unknown>>): string {
  // Text of a plan must not close the packet.
  return `<agent_control>${JSON.stringify(fields).replaceAll("<", "\\u003c")}</agent_control>`;
}
