import * as z from "../../deps/zod.ts";
import { defineTool, NOTHING } from "./define.ts";
import { plural } from "../../shared/text/text.ts";

export const plan = defineTool({
  name: "plan",
  description:
    "Show the user the steps of a longer task and where you are. Send all steps each time; one at a time is " +
    "in_progress.",
  kind: "think",
  readOnly: true,
  basic: true,
  answersChange: true,
  schema: z.object({
    steps: z.array(z.object({
      step: z.string().min(1),
      status: z.enum(["pending", "in_progress", "completed"]),
    })).min(1).max(50),
  }),
  title: () => "plan",

  prepare({ steps }, { session }) {
    return {
      access: NOTHING,
      run() {
        session.plan = steps;
        const done = steps.filter(({ status }) => status === "completed").length;
        const left = steps.length - done;
        const text = left === 0 ? "The plan is done." : `The plan is shown; ${plural(left, "step")} left.`;
        return Promise.resolve({ text, summary: `${done} of ${plural(steps.length, "step")}`, plan: steps });
      },
    };
  },
});
