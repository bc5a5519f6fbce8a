/** Makes the tests' starts of the program cheap, and keeps their chats from speaking of a download. */
import { join } from "node:path";
import { entryFiles } from "../../denops/agent/supervisor/agents/bundle.ts";
import { fillCodeCache } from "../../denops/agent/supervisor/agents/code_cache.ts";
import { ensureDependencies } from "../../denops/agent/supervisor/agents/dependencies.ts";
import { denoCache } from "../../tests/support/nvim_process.ts";
import { deno, PROJECT } from "../environment.ts";

/**
 * Makes the bundles, as the README's install does: the program starts hundreds of times. Without them, the tests start
 * it from its modules.
 */
export async function bundle(): Promise<void> {
  const code = await deno(["run", "-A", "--quiet", join(PROJECT, "scripts/bundle.ts")]);
  if (code !== 0) console.log("No bundles: the tests start the program from its modules.");
}

/** Fills Deno's caches for the engine. @param state becomes a state folder: the notes of what was filled are there */
export async function warmUp(state: string): Promise<void> {
  await Deno.mkdir(state);
  const plugin = await Deno.realPath(PROJECT);
  const before = Deno.env.get("DENO_DIR");
  // The note names the folder as the tests' Neovim gets it.
  Deno.env.set("DENO_DIR", denoCache().DENO_DIR);
  const denoDir = await ensureDependencies(plugin, state, () => {});
  if (before === undefined) Deno.env.delete("DENO_DIR");
  const agent = join(plugin, "denops/agent");
  const [engine = ""] = entryFiles(agent, "engine");
  const deps = { plugin, module: join(agent, engine), deno: Deno.execPath(), denoDir };
  await fillCodeCache(
    { ...deps, roots: [], state, scratch: state, hidden: [], host: undefined, certificates: [] },
    state,
  );
}
