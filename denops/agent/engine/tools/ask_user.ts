import * as z from "../../deps/zod.ts";
import { ToolError } from "../../shared/errors.ts";
import { defineTool, titleText } from "./define.ts";

export const askUser = defineTool({
  name: "ask_user",
  description:
    "Ask the user a question that only they can answer, with options to choose from if there are some. Ask " +
    "when a wrong guess would cost work, not for leave to go on.",
  kind: "other",
  readOnly: true,
  ofUser: true,
  basic: true,
  answersChange: true,
  needs: "questions",
  schema: z.object({
    question: z.string().min(1),
    options: z.array(z.string().min(1)).max(10).optional(),
  }),
  title: (args) => `ask ${titleText(args.question)}`,

  prepare({ question, options = [] }, { questions, callId }) {
    return {
      access: { kind: "ask", about: "question", text: question },
      async run(signal) {
        const answer = await questions.ask(question, options, callId, signal);
        if (answer === undefined) {
          throw new ToolError(
            "The user gave no answer. Go on with what you know, or stop and say what you need.",
          );
        }
        return { text: `The user answers: ${answer}`, summary: answer.replace(/\s+/g, " ").slice(0, 80) };
      },
    };
  },
});
