/**
 * Nudges: notes to a model that ends its turn too early. Each turn gets one, and a few more for calls that are only
 * shown.
 */
import type { Mode } from "../../../context/modes.ts";
import type { ControlNote } from "../../../log/entries.ts";
import type { Plan } from "../../../log/events.ts";
import { END_MARK } from "../../../llm/end_mark.ts";
import { isQuestion, mayBeTask, printsCode } from "./claims.ts";
import { controlNote, type ControlState } from "./control.ts";
import type { TurnWork } from "../turn_work.ts";

/** An answer without calls, and the state of its turn. */
interface Stop {
  /** The user's words. */
  readonly request: string;
  readonly answer: string;
  /** The model declared that it is done. */
  readonly isComplete: boolean;
  readonly iteration: number;
  readonly maxIterations: number;
  readonly mode: Pick<Mode, "access" | "plans" | "isOrder">;
  /** The model writes its calls as text, so an unfinished answer may look finished. */
  readonly callsInText: boolean;
  /** The tool of a call that the answer shows but does not make. */
  readonly shownCall?: string | undefined;
  /** The name of the tool that asks the user, if it is offered. */
  readonly questionTool: string | undefined;
  /** A tool that can change something is offered. */
  readonly canWrite: boolean;
  readonly work: Pick<TurnWork, "hasCalled" | "hasPlanned" | "hasWritten" | "failedEdit">;
  readonly plan: Plan;
  /** Asks the model whether the answer claims a change. */
  claimsChange(): Promise<boolean>;
}

interface Nudge {
  readonly note: ControlNote;
  /** For the user. */
  readonly notice?: string;
}

interface Row {
  readonly state: ControlState;
  readonly applies: (stop: Stop) => boolean | Promise<boolean>;
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
        ? "answer with the call alone, outside of any fence, list or quotation. " +
          `If not, answer ${END_MARK}.`
        : "make it as a tool call, not as text. If not, say so in one sentence."),
    notice: "The answer shows a tool call that did not run; the model is asked to make it or to leave it.",
  },
  {
    state: "nothing_done",
    applies: (stop) => wroteNothing(stop) && stop.work.failedEdit !== undefined && !isQuestion(stop.answer),
    note: ({ work }) =>
      `Your last edit failed (${work.failedEdit}), and this turn has changed nothing. Read the error, correct the ` +
      "call and send it again. If the change is not needed or not possible, say that nothing was changed, and why.",
    notice: "An edit failed and nothing was changed; the model is asked to try again or to say so.",
  },
  {
    state: "nothing_done",
    applies: (stop) => stop.callsInText && wroteNothing(stop) && isTask(stop) && printsCode(stop.answer),
    note: () =>
      "You have shown code, but no call of this turn has written it to a file. Write it with the tools. If you only " +
      `meant to show it, answer ${END_MARK}.`,
    notice: "The answer shows code and nothing was written; the model is asked to write it.",
  },
  {
    state: "plan_open",
    applies: (stop) =>
      stop.mode.access !== "read" && isPlanLeft(stop) &&
      (stop.questionTool !== undefined || !isQuestion(stop.answer)),
    note: ({ plan, callsInText, answer, questionTool }) =>
      `Your plan has open steps: ${
        openSteps(plan).join("; ")
      }. Carry out the first of them, or update the plan if ` +
      "they are done or no longer wanted. If you cannot go on, say why." +
      (isQuestion(answer)
        ? ` If you cannot go on without the user's decision, ask with the tool ${questionTool}.`
        : "") +
      (callsInText ? ` When all is done, end with ${END_MARK}.` : ""),
    notice: "The plan has open steps; the model is asked to go on.",
  },
  {
    state: "nothing_done",
    applies: async (stop) =>
      wroteNothing(stop) && isTask(stop) && stop.answer.trim() !== "" &&
      !isQuestion(stop.answer) &&
      await stop.claimsChange(),
    note: () =>
      "Your answer says that something was changed, but no call of this turn has changed anything. Make the change " +
      "with the tools, or say that nothing was changed.",
    notice: "The model claimed a change but wrote nothing; it is asked to make the change or to say so.",
  },
  {
    state: "no_plan",
    applies: ({ mode, work }) => mode.plans === true && work.hasCalled && !work.hasPlanned,
    note: () =>
      "You have looked around, and the user has no plan yet. Send its steps with the tool plan, then end as your " +
      "mode says. If no change is wanted, say so.",
  },
];

/** Times that a model hears that its call did not run. */
const MOST_SHOWN = 3;

export class Nudges {
  #isGiven = false;
  #shownCalls = 0;

  /** Undefined: the turn may end. */
  async next(stop: Stop): Promise<Nudge | undefined> {
    const { iteration, maxIterations } = stop;
    if (iteration >= maxIterations) return undefined;
    const row = await this.#rowFor(stop);
    if (row === undefined) return undefined;
    const { state, notice } = row;
    if (state === "call_shown") this.#shownCalls += 1;
    else this.#isGiven = true;
    const note = controlNote({ state, iteration, maxIterations, filesChanged: [], note: row.note(stop) });
    return { note, ...(notice === undefined ? {} : { notice }) };
  }

  /** Rows are checked in order; the one that asks the model comes late. */
  async #rowFor(stop: Stop): Promise<Row | undefined> {
    for (const row of ROWS) {
      if (this.#mayGive(row.state) && await row.applies(stop)) return row;
    }
    return undefined;
  }

  #mayGive(state: ControlState): boolean {
    return state === "call_shown" ? this.#shownCalls < MOST_SHOWN : !this.#isGiven;
  }
}

/** A polite request may end in a question mark. */
function isTask({ mode, request }: Stop): boolean {
  return mode.isOrder === true || mayBeTask(request);
}

function wroteNothing({ mode, canWrite, work }: Stop): boolean {
  return mode.access !== "read" && canWrite && !work.hasWritten;
}

/** The plan has open steps that this turn worked on. A model with calls in its text often stops after a write too. */
function isPlanLeft(stop: Stop): boolean {
  const { plan, work, callsInText, isComplete } = stop;
  const concerns = work.hasPlanned || (work.hasCalled && isTask(stop));
  const isEarly = !work.hasWritten || (callsInText && !isComplete);
  return openSteps(plan).length > 0 && concerns && isEarly;
}

/** The steps of a plan that are not completed, in order. */
export function openSteps(plan: Plan): readonly string[] {
  return plan.filter(({ status }) => status !== "completed").map(({ step }) => step);
}
