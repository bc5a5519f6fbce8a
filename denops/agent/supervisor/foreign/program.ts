/** Starts the program of an agent from elsewhere. It is never installed by us, and never taken from the project. */
import { dirname } from "node:path";
import { hostProblem } from "../../policy/hosts.ts";
import { isInside } from "../../policy/path.ts";
import {
  type ForeignAgent,
  foreignAgent,
  foreignAgentNames,
  SANDBOX_PLACES,
} from "../../protocol/options/foreign_agents.ts";
import type { UserConfig } from "../../protocol/config.ts";
import type { AgentSandbox } from "../commands/agent_sandbox.ts";
import type { TurnRoots } from "../commands/overlay/turn_roots.ts";
import { AllowProxy } from "../network/allow_proxy.ts";
import { proxied, proxyEnvironment } from "../network/proxied.ts";
import type { PipeProgram } from "../pipes/pipes.ts";
import { commandEnvironment } from "../system/environment.ts";
import { CERTIFICATES, withRealCertificates } from "../system/network.ts";
import { openProgram } from "../system/programs.ts";
import { findProgram } from "../system/sandbox.ts";
import type { Mount } from "../system/sandbox/mounts.ts";
import { configMounts } from "./config_folders.ts";

export interface AgentPlace {
  /** Real paths, the project first. */
  readonly roots: readonly string[];
  readonly user: Pick<UserConfig, "state_dir" | "agents">;
  readonly sandbox: AgentSandbox;
  /** The socket of the editor's tools. */
  readonly tools: string;
  /** Neovim's own. */
  readonly environment: Readonly<Record<string, string>>;
  /** Globs of files that it must not read. */
  denied(): readonly string[];
  /** Patterns of hosts that rules and the user allow or, with "!", deny to it. */
  hosts(): readonly string[];
  /** @param host "name:port" */
  onRefused(host: string): void;
}

/** @throws {Error} one line, if no row has this name */
export function agentRow(name: string, { agents }: Pick<UserConfig, "agents">): ForeignAgent {
  const row = foreignAgent(name, agents);
  if (row === undefined) {
    const known = foreignAgentNames(agents).join(", ");
    throw new Error(`Cannot start ${name}: no agent has this name. Known are ${known}.`);
  }
  const wrong = row.hosts.find((host) => hostProblem(host) !== undefined);
  if (wrong !== undefined) {
    throw new Error(`Cannot start ${row.title}: its host ${wrong} ${hostProblem(wrong)}.`);
  }
  return row;
}

/** The absolute path of its program. @param roots real paths @throws {Error} one line, if it is missing */
export async function agentProgram(
  { title, cmd: [program = ""], install }: ForeignAgent,
  roots: readonly string[],
): Promise<string> {
  const isAbsolute = program.startsWith("/");
  const path = isAbsolute
    ? await Deno.stat(program).then(() => program, () => undefined)
    : await findProgram(program, roots);
  if (path !== undefined) return path;
  const how = install === undefined ? "Install it, or set the option agents" : `Install it: ${install}`;
  const problem = isAbsolute ? "does not exist" : "is not on the PATH outside of the project";
  throw new Error(`Cannot start ${title}: ${program} ${problem}. ${how}.`);
}

/** Over these roots, which stay when it has ended. @throws {Error} one line */
export async function startAgentProgram(
  row: ForeignAgent,
  turnRoots: TurnRoots,
  { roots, user, sandbox, tools, environment, denied, hosts, onRefused }: AgentPlace,
): Promise<{ readonly program: PipeProgram; readonly proxy: AllowProxy }> {
  const [, ...args] = row.cmd;
  const path = await agentProgram(row, roots);
  const bash = await findProgram("bash", roots);
  if (bash === undefined) throw new Error("bash was not found on the PATH outside of the project");
  const config = await configMounts(row, { roots, stateDir: user.state_dir, environment });
  const own = environmentOf(row, environment);
  const open = [...row.hosts, ...addressedHosts(own)];
  const all = () => [...open, ...hosts()];
  const proxy = await AllowProxy.open({ hosts: all, environment, onRefused });
  try {
    const behind = proxied([path, ...args], proxy.socket, bash, all());
    const { environment: real, files } = await withRealCertificates(environment);
    const { HOME: home = "/" } = environment;
    const places = await programPlaces(path, [home, user.state_dir, ...roots]);
    const read = [...places, ...files.map((path): Mount => ({ kind: "read", path }))];
    const server: Mount = { kind: "read", path: SANDBOX_PLACES.tools, source: tools };
    const confined = await sandbox.program(behind.arguments, denied(), {
      turnRoots,
      more: [...read, ...config, ...behind.mounts, server],
      ownSandbox: row.own_sandbox === true,
    });
    const env = {
      ...commandEnvironment([], "git+network", environment),
      ...Object.fromEntries(CERTIFICATES.flatMap((name) => real[name] ? [[name, real[name]]] : [])),
      ...proxyEnvironment(all()),
      SHELL: bash,
      ...own,
    };
    const process = openProgram("agent", confined.program, {
      args: [...confined.args],
      env,
      cwd: "/",
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      leadsGroup: true,
    }).spawn();
    return { program: { process, ended: () => proxy[Symbol.asyncDispose]() }, proxy };
  } catch (error) {
    await proxy[Symbol.asyncDispose]();
    throw error;
  }
}

function environmentOf(
  { env, set = {} }: ForeignAgent,
  environment: AgentPlace["environment"],
): Record<string, string> {
  const passed = env.flatMap((name) => environment[name] === undefined ? [] : [[name, environment[name]]]);
  return { ...Object.fromEntries(passed), ...set };
}

/** The hosts of the addresses that the user has given to it, such as ANTHROPIC_BASE_URL. */
function addressedHosts(own: Readonly<Record<string, string>>): readonly string[] {
  return Object.values(own).flatMap((value) => {
    const url = /^https?:\/\//.test(value) ? URL.parse(value) : null;
    if (url === null) return [];
    const host = url.port === "" ? url.hostname : url.host;
    return hostProblem(host) === undefined ? [host] : [];
  });
}

/**
 * The folders of a program that is a link into a package, as npm makes them: of both the link and the package. A folder
 * that contains more than programs is not shown.
 */
async function programPlaces(path: string, closed: readonly string[]): Promise<readonly Mount[]> {
  const real = await Deno.realPath(path);
  const [, packages] = /^(.*?\/node_modules)\//.exec(real) ?? [];
  const folders = [await Deno.realPath(dirname(path)), packages ?? dirname(real)];
  const isOpen = (folder: string) => !closed.some((other) => isInside(other, folder));
  // System folders are visible anyway.
  const places = [...new Set(folders)].filter((folder) => !/^\/(usr|bin|sbin)(\/|$)/.test(folder));
  return places.map((folder): Mount =>
    isOpen(folder) ? { kind: "read", path: folder } : { kind: "read", path: real }
  );
}
