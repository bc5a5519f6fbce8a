/** Fills Deno's caches for the engine, so that no test pays for it and no chat speaks of a download. */
import { join } from "node:path";
import { fillCodeCache } from "../../denops/agent/supervisor/agents/code_cache.ts";
import { deno, PROJECT } from "../environment.ts";

/** @param state becomes a state folder: the note of what was filled is there */
export async function warmUp(state: string): Promise<void> {
  await Deno.mkdir(state);
  const plugin = await Deno.realPath(PROJECT);
  const main = join(plugin, "denops", "agent", "engine", "main.ts");
  if (await deno(["cache", "--quiet", "--frozen", main]) !== 0) Deno.exit(1);
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  const { denoDir } = JSON.parse(new TextDecoder().decode(stdout));
  const deps = { plugin, deno: Deno.execPath(), denoDir };
  await fillCodeCache(
    { ...deps, roots: [], state, scratch: state, hidden: [], host: undefined, certificates: [] },
    state,
  );
}
