/** Answers that ended too early, and the notes that make the model continue. */
import type { ControlNote } from "../../../log/entries.ts";
import type { StopReason } from "../../../log/events.ts";
import type { StepEnd } from "../step.ts";

type Finish = Extract<StepEnd, { type: "answered" }>["finish"];

interface CutOff {
  readonly reason: ControlNote["reason"];
  /** For the model. */
  readonly text: string;
  /** Maximum for each turn. */
  readonly most: number;
  /** For the user: the first time, and at the maximum. */
  readonly notice?: string;
  readonly givenUp?: string;
  /** How the turn ends at the maximum. */
  readonly end: StopReason;
}

const NOT_RUN = "A tool call that was cut off was not run: send it again, in smaller pieces.";

const CUT_OFF: Partial<Readonly<Record<Finish, CutOff>>> = {
  length: {
    reason: "output_limit",
    text: `Your answer hit the output limit. Continue exactly where you stopped. ${NOT_RUN}`,
    most: 3,
    end: "max_tokens",
  },
  window_full: {
    reason: "output_limit",
    text: `Your answer ended where your window was full. Continue exactly where you stopped. ${NOT_RUN}`,
    most: 1,
    end: "max_tokens",
  },
  paused: {
    reason: "cut_off",
    text: "You paused. Continue exactly where you stopped.",
    most: 10,
    end: "end_turn",
  },
  malformed: {
    reason: "cut_off",
    text: "Your tool call could not be read and was not run. Send it again, as a call and not as code.",
    most: 2,
    givenUp: "The model's tool calls cannot be read. Ask again, or choose another model.",
    end: "end_turn",
  },
  repeated: {
    reason: "cut_off",
    text:
      "You wrote the same again and again and were stopped there. Do not repeat it: go on in another way, or " +
      "say what is in your way.",
    most: 1,
    notice: "The model repeated itself and was stopped; it is asked to go on in another way.",
    givenUp: "The model repeats itself. Ask in other words, or choose another model.",
    end: "end_turn",
  },
};

interface Continuation {
  /** Absent if the turn ends. */
  readonly note?: ControlNote;
  readonly notice?: string;
  readonly end: StopReason;
  /** For a turn that ends, unless its end says it. */
  readonly problem?: string;
}

/** The continuations of one turn. */
export class Continuations {
  readonly #times = new Map<Finish, number>();

  /** Undefined: the answer is complete. */
  next(
    finish: Finish,
  ): Continuation | undefined {
    const row = CUT_OFF[finish];
    if (row === undefined) return undefined;
    const times = (this.#times.get(finish) ?? 0) + 1;
    this.#times.set(finish, times);
    const isOver = times > row.most;
    const notice = isOver ? row.givenUp : times === 1 ? row.notice : undefined;
    return {
      end: row.end,
      ...(row.end === "end_turn" ? { problem: row.givenUp ?? "The model paused too often." } : {}),
      ...(notice === undefined ? {} : { notice }),
      ...(isOver ? {} : { note: { type: "control_note", reason: row.reason, text: row.text } }),
    };
  }
}
