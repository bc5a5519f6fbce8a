import { z } from "../../deps/zod.ts";
import { defineTool, NOTHING, shown } from "./define.ts";
import { reportText } from "./run_terminal_command.ts";

export const stopCommand = defineTool({
  name: "stop_command",
  description: "Stop a command in the background, with all that it started.",
  kind: "execute",
  readOnly: false,
  basic: true,
  least: "read",
  needs: "commands",
  schema: z.object({ id: z.string() }),
  title: (args) => `stop ${shown(args.id)}`,

  prepare({ id }, { commands }) {
    return {
      accesses: NOTHING,
      async run() {
        const report = await commands.stop(id);
        return { text: reportText(report), summary: report.end };
      },
    };
  },
});
