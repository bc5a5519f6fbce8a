import * as z from "../../deps/zod.ts";
import { plural } from "../../shared/text/text.ts";
import { defineTool, NOTHING, titleText } from "./define.ts";

export const readSkill = defineTool({
  name: "read_skill",
  description: "Read a skill: instructions for a special task, and the names of its files for read and run.",
  kind: "read",
  readOnly: true,
  basic: true,
  answersChange: true,
  needs: "skills",
  schema: z.object({ name: z.string() }),
  title: ({ name }) => `read the skill ${titleText(name)}`,

  prepare: ({ name }, { skills }) => ({
    access: NOTHING,
    async run(signal) {
      const text = await skills.text(name, signal);
      return skills.isSeen(text)
        ? {
          text: `You have read the skill ${name} already, see above: it has not changed.`,
          summary: "read already",
        }
        : { text, summary: plural(text.split("\n").length, "line") };
    },
  }),
});
