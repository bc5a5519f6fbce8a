/** Starts an agent with exactly its grants. */
import { openProgram } from "../system/programs.ts";

export interface AgentCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** @throws {Error} if it cannot be started */
export function spawnAgent({ program, args, env, cwd }: AgentCommand): Deno.ChildProcess {
  return openProgram("engine", program, {
    args: [...args],
    env,
    cwd,
    leadsGroup: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}
