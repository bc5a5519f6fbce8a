/** Starts an agent with exactly its grants. */
export interface AgentCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** All that it gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** @throws {Error} if it cannot be started */
export function spawnAgent({ program, args, env, cwd }: AgentCommand): Deno.ChildProcess {
  return new Deno.Command(program, {
    args: [...args],
    env: { ...env },
    clearEnv: true,
    cwd,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}
