/** The options of another agent: the request `agent_options` and its result. All texts come from the agent. */
import * as z from "../../deps/zod.ts";

export const AgentOption = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  /** "model", "thought_level", or anything else. */
  category: z.string(),
  current: z.string(),
  values: z.array(z.object({ value: z.string(), name: z.string(), description: z.string().optional() })),
});
export type AgentOption = Readonly<z.infer<typeof AgentOption>>;

export const AgentOptionChange = z.object({ id: z.string().max(200), value: z.string().max(200) });
export type AgentOptionChange = Readonly<z.infer<typeof AgentOptionChange>>;

export const AgentOptionsResult = z.object({
  options: z.array(AgentOption),
  /** The agent's mode, which is not the user's choice; absent: it has none. */
  mode: z.string().optional(),
  /** Whether it asks before it acts in this mode, as far as it says. */
  asks: z.boolean(),
  /** Lines for the user. */
  notes: z.array(z.string()),
});
export type AgentOptionsResult = Readonly<z.infer<typeof AgentOptionsResult>>;
