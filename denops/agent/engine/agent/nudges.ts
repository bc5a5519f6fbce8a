/** What a model is told that stops too early: once in a turn, whatever the reason; of a call it only shows, a few times. */
import type { Mode } from "../context/modes.ts";
import type { ControlNote } from "../core/entries.ts";
import type { Plan } from "../core/ports.ts";
import { END_MARK } from "../llm/end_mark.ts";
import { claimsChange, isQuestion, printsCode, wantsMore } from "./claims.ts";
import { controlNote, type ControlState } from "./control.ts";

/** An answer without calls, and what the turn has come to. */
export interface Stop {
  /** In the user's words. */
  readonly request: string;
  readonly answer: string;
  /** The model has said that it is done. */
  readonly isComplete: boolean;
  readonly iteration: number;
  readonly maxIterations: number;
  readonly mode: Pick<Mode, "access" | "plans">;
  /** Its calls stand in its text, so that it is easily taken for done. */
  readonly callsInText: boolean;
  /** The tool of a call that the answer shows and that was not made. */
  readonly shownCall?: string | undefined;
  /** A tool is offered that can change something. */
  readonly canWrite: boolean;
  /** A call of the turn could have changed something. */
  readonly hasActed: boolean;
  readonly hasCalled: boolean;
  readonly hasPlanned: boolean;
  readonly plan: Plan;
}

interface Nudge {
  readonly note: ControlNote;
  /** For the user. */
  readonly notice?: string;
}

interface Row {
  readonly state: ControlState;
  readonly applies: (stop: Stop) => boolean;
  readonly note: (stop: Stop) => string;
  readonly notice?: string;
}

const ROWS: readonly Row[] = [
  {
    state: "call_shown",
    applies: ({ shownCall, isComplete, answer }) =>
      shownCall !== undefined && !isComplete && !isQuestion(answer),
    note: ({ shownCall, callsInText }) =>
      `Your answer shows a call of ${shownCall}, which did not run. If you meant to make it, ` +
      (callsInText
        ? "end your answer with it, outside of any fence, list or quotation, and write nothing after it. " +
          `If not, answer ${END_MARK}.`
        : "make it as a tool call, not as text. If not, say so in one sentence."),
    notice: "The answer shows a tool call that did not run; the model is asked to make it or to leave it.",
  },
  {
    state: "nothing_done",
    applies: (stop) => mayWrite(stop) && claimsChange(stop.request, stop.answer),
    note: () =>
      "You say that something was changed, but no call of this turn has written a file or run a command. " +
      "Make the change with the tools, or say that nothing was changed.",
    notice: "Nothing was written in this turn, whatever the answer says; the model is told to do it.",
  },
  {
    state: "nothing_done",
    applies: (stop) => stop.callsInText && mayWrite(stop) && printsCode(stop.request, stop.answer),
    note: () =>
      "You have shown code, and no call of this turn has written it to a file. Write it with the tools. If it was " +
      `only to be shown, answer ${END_MARK}.`,
    notice: "The answer shows code and nothing was written; the model is told to write it.",
  },
  {
    state: "plan_open",
    applies: (stop) =>
      stop.callsInText && !stop.isComplete && stop.mode.access !== "read" &&
      openSteps(stop.plan).length > 0 &&
      wantsMore(stop.request, stop.answer, stop.hasCalled),
    note: ({ plan }) =>
      `Your plan has open steps: ${
        openSteps(plan).join("; ")
      }. Go on with the first of them, or mark with update_plan ` +
      `what is done. When all is done, end with ${END_MARK}.`,
    notice: "The plan has open steps; the model is told to go on.",
  },
  {
    state: "no_plan",
    applies: ({ mode, hasCalled, hasPlanned }) => mode.plans === true && hasCalled && !hasPlanned,
    note: () =>
      "You have looked around, and the user has no plan yet. Send its steps with update_plan, then end as your " +
      "mode says. If no change is wanted, say so.",
  },
];

/** Times that a model is told that its call did not run. */
const MOST_SHOWN = 3;

export class Nudges {
  #isGiven = false;
  #shown = 0;

  /** Undefined: the turn may end. */
  next(stop: Stop): Nudge | undefined {
    const { iteration, maxIterations } = stop;
    if (iteration >= maxIterations) return undefined;
    const row = ROWS.find(({ state, applies }) => this.#mayGive(state) && applies(stop));
    if (row === undefined) return undefined;
    const { state, notice } = row;
    if (state === "call_shown") this.#shown += 1;
    else this.#isGiven = true;
    const note = controlNote({ state, iteration, maxIterations, filesChanged: [], note: row.note(stop) });
    return { note, ...(notice === undefined ? {} : { notice }) };
  }

  #mayGive(state: ControlState): boolean {
    return state === "call_shown" ? this.#shown < MOST_SHOWN : !this.#isGiven;
  }
}

function mayWrite({ mode, canWrite, hasActed }: Stop): boolean {
  return mode.access !== "read" && canWrite && !hasActed;
}

/** In their order, the one in work as it stands there. */
export function openSteps(plan: Plan): readonly string[] {
  return plan.filter(({ status }) => status !== "completed").map(({ step }) => step);
}
