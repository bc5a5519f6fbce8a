/** From a project and a configuration to the command that starts its engine. */
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { UserConfig } from "../../protocol/config.ts";
import { hostAndPort } from "../../protocol/providers.ts";
import { denoProblem } from "../../protocol/version.ts";
import { ensureDependencies } from "./dependencies.ts";
import type { AgentCommand } from "./spawn.ts";
import { bwrapArguments, denoArguments, engineEnvironment, type EngineGrants } from "./grants.ts";
import { encodeHex } from "../system/hex.ts";
import { neovimEnvironment } from "../system/neovim_environment.ts";
import { gitPaths, type Sandbox, sandbox } from "../system/sandbox.ts";

export const PLUGIN = fileURLToPath(new URL("../../../../", import.meta.url));

export interface Launch extends AgentCommand {
  readonly grants: EngineGrants;
  /** "bubblewrap and Deno permissions", or what is missing. */
  readonly sandbox: string;
  /** By the operating system, not by Deno's permissions alone. */
  readonly held: boolean;
}

/** @param baseUrl the address of the model; undefined: the engine reaches nothing */
export async function launchCommand(
  roots: readonly string[],
  baseUrl: string | undefined,
  user: UserConfig,
  announceFetch: () => void,
): Promise<Launch> {
  const tooOld = denoProblem(Deno.version.deno);
  if (tooOld !== undefined) throw new Error(`Cannot start the engine: ${tooOld}`);
  const [root = ""] = roots;
  const plugin = await Deno.realPath(PLUGIN);
  const denoDir = await ensureDependencies(plugin, user.state_dir, announceFetch);
  const state = await stateFolder(root, user.state_dir);
  const grants: EngineGrants = {
    roots,
    state,
    host: baseUrl === undefined ? undefined : hostAndPort(baseUrl),
    plugin,
    deno: await Deno.realPath(Deno.execPath()),
    denoDir,
  };
  const env = engineEnvironment(grants, neovimEnvironment());
  const level: Sandbox = user.sandbox === "off"
    ? { level: "deno", reason: "switched off by the option sandbox" }
    : await sandbox(roots);
  if (level.level === "deno") {
    const text = `Deno permissions only (${level.reason})`;
    const args = denoArguments(grants);
    return { grants, program: grants.deno, args, env, cwd: root, sandbox: text, held: false };
  }
  const args = bwrapArguments(grants, await gitPaths(roots), level.system);
  return {
    grants,
    program: level.bwrap,
    args,
    env,
    cwd: root,
    sandbox: "bubblewrap and Deno permissions",
    held: true,
  };
}

/** `<state>/<name>-<hash of the real path>`: one folder per project. */
async function stateFolder(root: string, stateDir: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(root)));
  const folder = join(stateDir, `${basename(root)}-${encodeHex(digest).slice(0, 12)}`);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  return await Deno.realPath(folder);
}
