/** Builds the command that starts a project's engine. */
import { join } from "node:path";
import type { UserConfig } from "../../protocol/config.ts";
import { hostAndPort } from "../../protocol/providers.ts";
import { isInside } from "../../policy/path.ts";
import { denoProblem } from "../../protocol/version.ts";
import { entryFiles, isBundle } from "./bundle.ts";
import { loginFolder } from "./copilot/logins.ts";
import { ensureDependencies, findDenoDir } from "./dependencies.ts";
import type { AgentCommand } from "./spawn.ts";
import { bwrapArguments, denoArguments, engineEnvironment, type EngineGrants } from "./grants.ts";
import { neovimEnvironment } from "../system/neovim_environment.ts";
import { withRealCertificates } from "../system/network.ts";
import { ensureStateFolder, projectState, scratchFolder } from "../system/project_state.ts";
import { gitPaths, type Sandbox, sandbox } from "../system/sandbox.ts";

/** Folder of main.ts. This module may be part of a bundle, which lies as deep as the module. */
const AGENT = join(import.meta.dirname ?? "", "../..");

export interface Launch extends AgentCommand {
  readonly grants: EngineGrants;
  /** "bubblewrap and Deno permissions", or what is missing. */
  readonly sandbox: string;
  /** Confined by the operating system, not only by Deno's permissions. */
  readonly isConfined: boolean;
}

/** The plugin's folder, and Deno's cache with all of its packages. @throws {Error} one line */
export async function pluginModules(
  stateDir: string,
): Promise<{ readonly plugin: string; readonly denoDir: string }> {
  const plugin = join(await Deno.realPath(AGENT), "../..");
  return { plugin, denoDir: await ensureDependencies(plugin, stateDir, () => {}) };
}

/** @param baseUrl the address of the model; undefined: no network */
export async function launchCommand(
  roots: readonly string[],
  baseUrl: string | undefined,
  user: UserConfig,
  announceFetch: () => void,
): Promise<Launch> {
  const tooOld = denoProblem(Deno.version.deno);
  if (tooOld !== undefined) throw new Error(`Cannot start the engine: ${tooOld}`);
  const [root = ""] = roots;
  const agent = await Deno.realPath(AGENT);
  await ensureStateFolder(user.state_dir);
  const [engine = ""] = entryFiles(agent, "engine");
  const plugin = join(agent, "../..");
  // A bundle contains its packages, so Deno's cache may lack them.
  const denoDir = isBundle(engine)
    ? await findDenoDir(plugin, user.state_dir)
    : await ensureDependencies(plugin, user.state_dir, announceFetch);
  const state = await projectState(root, user.state_dir);
  const scratch = await scratchFolder(state);
  const { environment, files } = await withRealCertificates(neovimEnvironment());
  const grants: EngineGrants = {
    roots,
    state,
    scratch,
    hidden: await hiddenLogins(roots, user.state_dir),
    host: baseUrl === undefined ? undefined : hostAndPort(baseUrl),
    plugin,
    module: join(agent, engine),
    deno: await Deno.realPath(Deno.execPath()),
    denoDir,
    certificates: files,
  };
  const env = engineEnvironment(grants, environment);
  const level: Sandbox = user.sandbox === "off"
    ? { level: "deno", reason: "switched off by the option sandbox" }
    : await sandbox(roots);
  if (level.level === "deno") {
    const text = `Deno permissions only (${level.reason})`;
    const args = denoArguments(grants);
    return { grants, program: grants.deno, args, env, cwd: root, sandbox: text, isConfined: false };
  }
  const args = bwrapArguments(grants, await gitPaths(roots), level.system);
  return {
    grants,
    program: level.bwrap,
    args,
    env,
    cwd: root,
    sandbox: "bubblewrap and Deno permissions",
    isConfined: true,
  };
}

/** The folder of logins, if it is in a root; it is created, so that something can be mounted over it. */
async function hiddenLogins(roots: readonly string[], stateDir: string): Promise<readonly string[]> {
  const folder = loginFolder(await Deno.realPath(stateDir));
  if (!roots.some((root) => isInside(folder, root))) return [];
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  return [folder];
}
