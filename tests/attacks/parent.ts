/**
 * A supervisor to be killed. With a setup as its only argument it opens the project and begins a turn; with a command it
 * starts that as an engine is started, and holds its pipes only. Both as JSON.
 */
import { type AgentCommand, spawnAgent } from "../../denops/agent/supervisor/agents/spawn.ts";
import { type EngineSetup, openProject } from "../support/engine.ts";

export type ParentOrders = { readonly setup: EngineSetup } | { readonly command: AgentCommand };

const orders: ParentOrders = JSON.parse(Deno.args[0] ?? "{}");
if ("setup" in orders) {
  const project = await openProject(orders.setup, "reject");
  await project.play("Go on.");
} else {
  await spawnAgent(orders.command).status;
}
