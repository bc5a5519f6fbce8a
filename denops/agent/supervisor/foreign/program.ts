/** Finds the program of an agent from elsewhere. It is never installed by us, and never taken from the project. */
import { type ForeignAgent, foreignAgent, foreignAgentNames } from "../../protocol/options/foreign_agents.ts";
import type { UserConfig } from "../../protocol/config.ts";
import { findProgram } from "../system/sandbox.ts";

/** @throws {Error} one line, if no row has this name */
export function agentRow(name: string, { agents }: Pick<UserConfig, "agents">): ForeignAgent {
  const row = foreignAgent(name, agents);
  if (row !== undefined) return row;
  throw new Error(
    `Cannot start ${name}: there is no agent of this name. Known are ${
      foreignAgentNames(agents).join(", ")
    }.`,
  );
}

/** The absolute path of its program. @param roots real paths @throws {Error} one line, if it is missing */
export async function agentProgram(
  { title, cmd: [program = ""], install }: ForeignAgent,
  roots: readonly string[],
): Promise<string> {
  const path = program.startsWith("/") ? program : await findProgram(program, roots);
  if (path !== undefined) return path;
  const how = install === undefined ? "Install it, or set the option agents" : `Install it: ${install}`;
  throw new Error(`Cannot start ${title}: ${program} is not on the PATH outside of the project. ${how}.`);
}
