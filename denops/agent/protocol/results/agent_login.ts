/** The logins of another agent: the request `agent_login` and its result. All texts come from the agent. */
import * as z from "../../deps/zod.ts";

const AgentLoginMethod = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  type: z.enum([
    /** The agent does it on request. */
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

/** A login as the menu shows it: a command for a terminal, variables to set, or, without both, the agent's own work. */
export interface ShownLogin {
  readonly id: string;
  readonly name: string;
  readonly command?: readonly string[];
  /** Of the command: PATH without folders of the project, where scripts would find their interpreter. */
  readonly path?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly variables?: readonly string[];
}
