/** Counts a session's unreadable text calls and writes the note that follows their results. */
import type { AssistantEntry, ControlNote } from "../../../log/entries.ts";
import type { Plan } from "../../../log/events.ts";
import { END_MARK } from "../../../llm/end_mark.ts";
import { RESULTS_STATE } from "../../../llm/text_tools/request.ts";
import { isUnread } from "../../../llm/text_tools/tools.ts";
import { controlPacket } from "./control.ts";
import { openSteps } from "./nudges.ts";

/** After this many unreadable calls the session loses its writing tools. */
const MOST_UNREADABLE = 3;

export class TextCalls {
  #unreadable = 0;
  #isFormShown = false;

  /** @returns the number of unreadable calls, and whether the session has had too many; then the count restarts */
  count({ written, calls }: Pick<AssistantEntry, "written" | "calls">): {
    readonly unreadable: number;
    readonly isTooMany: boolean;
  } {
    const unreadable = written === undefined ? 0 : calls.filter((call) => isUnread(call.arguments)).length;
    this.#unreadable += unreadable;
    const isTooMany = this.#unreadable >= MOST_UNREADABLE;
    if (isTooMany) this.#unreadable = 0;
    return { unreadable, isTooMany };
  }

  /**
   * The note after the results of text calls. It stays in the history as it was sent.
   * @param repeated names of calls with the same arguments as before @param form the syntax of a call, if one was
   * unreadable @param isLoop the answer repeated the same call
   */
  resultsNote(
    { plan, repeated, form, isLoop }: {
      readonly plan: Plan;
      readonly repeated: readonly string[];
      readonly form: string | undefined;
      readonly isLoop: boolean;
    },
  ): ControlNote {
    const [next, ...others] = openSteps(plan);
    const packet = controlPacket({
      state: RESULTS_STATE,
      ...(next === undefined ? {} : { next_step: next, steps_after_it: others.length }),
      note: `Results of your calls, not the user's words. Go on, or end with ${END_MARK} if all is done.`,
    });
    const lines = [packet];
    if (repeated.length > 0) {
      lines.push(
        `You have made this call before with the same arguments (${
          repeated.join(", ")
        }): do not repeat it, use what you ` +
          "have or do something else.",
      );
    }
    if (isLoop) {
      lines.push(
        "You wrote the same call again and again and were stopped there; it was made once. Write each call once.",
      );
    }
    if (form !== undefined && !this.#isFormShown) {
      this.#isFormShown = true;
      lines.push(`A call could not be read. This is how one is written:\n\n${form}`);
    }
    return { type: "control_note", reason: "results", text: lines.join("\n") };
  }
}
