/** What `:checkhealth agent` shows of this side: found, not guessed. */
import type { UserConfig } from "../protocol/config.ts";
import type { HealthReport } from "../protocol/ui.ts";
import { patternProblems } from "../policy/rules.ts";
import { launchCommand } from "./launch.ts";
import { engineConfig, type ProviderWorld } from "./provider.ts";
import { findRoot, otherRoots, type RootQuery } from "./root.ts";

/** @param config the options, or what is wrong with them */
export async function healthReport(
  config: UserConfig | string,
  place: RootQuery,
  world: ProviderWorld,
  engines: readonly string[],
): Promise<HealthReport> {
  const problems: string[] = [];
  const note = (error: unknown): undefined => {
    problems.push(error instanceof Error ? error.message : String(error));
    return undefined;
  };
  const user = typeof config === "string" ? note(`Wrong option: ${config}.`) : config;
  if (user !== undefined) problems.push(...patternProblems(user).map((problem) => `Wrong option ${problem}`));
  const home = world.env("HOME");
  const root = await findRoot(place, home).catch(note);
  const others = user === undefined || root === undefined
    ? undefined
    : await otherRoots(user.roots, root, home).catch(note);
  const engine = user === undefined ? undefined : await engineConfig(user, world).catch(note);
  const launch = user === undefined || root === undefined || engine === undefined || others === undefined
    ? undefined
    : await launchCommand([root, ...others], engine, user, () => {}).catch(note);
  return {
    deno: `${Deno.version.deno} (${Deno.execPath()})`,
    address: engine?.provider.base_url ?? "",
    root: [...(root === undefined ? [] : [root]), ...(others ?? [])].join(", "),
    provider: engine?.provider.name ?? "",
    model: engine?.model ?? "",
    // Found or not; the key itself is never shown.
    key: engine === undefined
      ? ""
      : engine.provider.api_key === undefined
      ? "none needed"
      : `from ${engine.provider.key_source}`,
    sandbox: launch?.sandbox ?? "",
    grants: launch === undefined ? [] : [launch.program, ...launch.args],
    problems,
    engines,
  };
}
