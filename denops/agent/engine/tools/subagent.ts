import * as z from "../../deps/zod.ts";
import { ToolError } from "../../shared/errors.ts";
import { defineTool, titleText } from "./define.ts";

/** A read-only mode. */
const USUAL_MODE = "explore";

export const subagent = defineTool({
  name: "subagent",
  description:
    "Give a part of the work to another agent: a wide search, a review, a question of many look-ups. It sees nothing " +
    "but task and context_hint, and answers once, in at most 1,500 words. Several calls in one answer run at the same " +
    "time.",
  kind: "other",
  readOnly: false,
  ofUser: true,
  least: "read",
  parallel: true,
  answersChange: true,
  schema: z.object({
    title: z.string().min(1).describe("three to six words"),
    task: z.string().min(1).describe("the whole question or order, and what the answer is to have"),
    mode: z.string().default(USUAL_MODE).describe(
      "explore, deep-explore or review look only; deep-explore-write writes docs; agent has all tools; or one of the user's",
    ),
    model: z.string().optional().describe("only one that the user has named"),
    context_hint: z.string().optional().describe("what you know already"),
    background: z.boolean().optional().describe("get an id at once; you are told when it has ended"),
  }),
  title: (args) => `${titleText(args.mode, USUAL_MODE)}: ${titleText(args.title, titleText(args.task))}`,

  prepare({ title, task: text, mode, model, context_hint: hint, background }, { agents, access, callId }) {
    if (agents === undefined) throw new ToolError("A sub-agent starts no others: do this yourself.");
    const more = { ...model === undefined ? {} : { model }, ...hint === undefined ? {} : { hint } };
    const task = { title: titleText(title), task: text, mode, ...more };
    return {
      access: agents.accessOf(task, access),
      async run(signal) {
        if (background !== true) return await agents.run(task, callId, signal);
        const id = agents.startInBackground(task, callId);
        const text = `Started in the background, its id is ${id}. You are told when it has ended.`;
        return { text, summary: "in the background" };
      },
    };
  },
});
