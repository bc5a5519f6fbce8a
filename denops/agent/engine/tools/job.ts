import * as z from "../../deps/zod.ts";
import { ToolError } from "../../shared/errors.ts";
import { defineTool, NOTHING, titleText } from "./define.ts";
import { reportText } from "./run.ts";

export const job = defineTool({
  name: "job",
  description:
    "See what a command or sub-agent in the background has printed or answered so far, or stop it with all that it " +
    "started.",
  kind: "read",
  readOnly: true,
  inOrder: true,
  basic: true,
  answersChange: true,
  uses: "commands",
  schema: z.object({ id: z.string(), stop: z.boolean().optional() }),
  title: ({ id, stop }) => `${stop === true ? "stop" : "output of"} ${titleText(id)}`,

  prepare({ id, stop }, { commands, agents }) {
    return {
      access: NOTHING,
      async run() {
        if (agents?.knows(id)) return stop === true ? await agents.stop(id) : agents.output(id);
        if (commands === undefined) {
          throw new ToolError(`Nothing in the background has the id ${titleText(id)}.`);
        }
        const report = await (stop === true ? commands.stop(id) : commands.output(id));
        return { text: reportText(report), summary: report.end };
      },
    };
  },
});
