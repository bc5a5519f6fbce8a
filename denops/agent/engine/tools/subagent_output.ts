import { z } from "../../deps/zod.ts";
import { ToolError } from "../core/errors.ts";
import { defineTool, NOTHING, shown } from "./define.ts";

export const subagentOutput = defineTool({
  name: "subagent_output",
  description: "What a sub-agent in the background has answered, or what it does; stop ends it.",
  kind: "read",
  readOnly: true,
  answersChange: true,
  schema: z.object({ id: z.string(), stop: z.boolean().optional() }),
  title: (args) => `${args.stop === true ? "stop" : "output of"} sub-agent ${shown(args.id)}`,

  prepare({ id, stop }, { agents }) {
    if (agents === undefined) throw new ToolError("A sub-agent has started no others.");
    return {
      accesses: NOTHING,
      run: async () => stop === true ? await agents.stop(id) : agents.output(id),
    };
  },
});
