/**
 * A supervisor to be killed: starts the engine as its only argument says, as JSON, and stays. With a configuration it
 * speaks to it as the real one does and begins a turn; without one it holds the pipes only.
 */
import type { EngineConfig } from "../../denops/agent/protocol/config.ts";
import { Engine, type EngineCommand } from "../../denops/agent/supervisor/engine.ts";
import { clientThatAnswers } from "../support/engine.ts";

export interface ParentOrders {
  readonly command: EngineCommand;
  readonly root: string;
  readonly config?: EngineConfig;
}

const { command, root, config }: ParentOrders = JSON.parse(Deno.args[0] ?? "{}");
if (config === undefined) {
  const { program, args, env, cwd } = command;
  const child = new Deno.Command(program, {
    args: [...args],
    env: { ...env },
    clearEnv: true,
    cwd,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  await child.status;
} else {
  const engine = await Engine.start(command, config, clientThatAnswers("reject").events);
  await engine.prompt(await engine.newSession([root]), "Go on.");
}
