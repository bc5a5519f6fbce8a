import * as z from "../../deps/zod.ts";
import { defineTool, NOTHING } from "./define.ts";

export const think = defineTool({
  name: "think",
  description: "Write down a thought before a difficult step. It changes nothing and looks up nothing.",
  kind: "think",
  readOnly: true,
  answersChange: true,
  special: true,
  schema: z.object({ thought: z.string() }),
  title: () => "think",

  prepare({ thought }) {
    return {
      access: NOTHING,
      run: () => Promise.resolve({ text: "Noted.", summary: thought.replace(/\s+/g, " ").slice(0, 80) }),
    };
  },
});
