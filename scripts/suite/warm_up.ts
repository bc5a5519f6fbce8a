/** Fills Deno's caches for the engine, so that no test pays for it and no chat speaks of a download. */
import { join } from "node:path";
import { entryFiles } from "../../denops/agent/supervisor/agents/bundle.ts";
import { fillCodeCache } from "../../denops/agent/supervisor/agents/code_cache.ts";
import { ensureDependencies } from "../../denops/agent/supervisor/agents/dependencies.ts";
import { denoCache } from "../../tests/support/nvim_process.ts";
import { PROJECT } from "../environment.ts";

/** @param state becomes a state folder: the notes of what was filled are there */
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
