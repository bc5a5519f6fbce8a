/** The logins of another agent: the request `agent_login` and its result. All texts come from the agent. */
import { z } from "../../deps/zod.ts";

const AgentLoginMethod = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  type: z.enum([
    /** The agent does it, when it is told to. */
    "agent",
    /** The user does it in a terminal: the agent's command with these arguments and variables. */
    "terminal",
    /** The user sets variables. */
    "variables",
  ]),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  variables: z.array(z.string()),
});
export type AgentLoginMethod = Readonly<z.infer<typeof AgentLoginMethod>>;

export const AgentLoginResult = z.object({ methods: z.array(AgentLoginMethod) });
export type AgentLoginResult = Readonly<z.infer<typeof AgentLoginResult>>;
