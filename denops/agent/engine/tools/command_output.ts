import { z } from "../../deps/zod.ts";
import { defineTool, NOTHING, shown } from "./define.ts";
import { reportText } from "./run_terminal_command.ts";

export const commandOutput = defineTool({
  name: "command_output",
  description: "What a command in the background has printed so far, and whether it still runs.",
  kind: "read",
  readOnly: true,
  basic: true,
  answersChange: true,
  needs: "commands",
  schema: z.object({ id: z.string() }),
  title: (args) => `output of ${shown(args.id)}`,

  prepare({ id }, { commands }) {
    return {
      accesses: NOTHING,
      async run() {
        const report = await commands.output(id);
        return { text: reportText(report), summary: report.end };
      },
    };
  },
});
