/** Starts the program of an MCP server as its entry says. */
import { join } from "node:path";
import { isInside } from "../../policy/path.ts";
import type { McpEntry } from "../../protocol/options/shapes.ts";
import type { UserConfig } from "../../protocol/config.ts";
import { AllowProxy } from "../network/allow_proxy.ts";
import { proxied, proxyEnvironment } from "../network/proxied.ts";
import { defined } from "../../shared/records.ts";
import { bridgeProgram, bridgeStart, type PluginModules } from "./http/bridge_program.ts";
import { TO_SUPERVISOR, Unauthorized } from "./http/messages.ts";
import type { PipeProgram } from "../pipes/pipes.ts";
import { CERTIFICATES, withRealCertificates } from "../system/network.ts";
import type { CommandSandbox } from "../commands/sandbox.ts";
import { commandEnvironment } from "../system/environment.ts";
import { openProgram } from "../system/programs.ts";
import { findProgram } from "../system/sandbox.ts";
import type { Mount } from "../system/sandbox/mounts.ts";
import { cacheFolder } from "./entry_problem.ts";
import { filledIn, type TemplateValues } from "./templates.ts";

export interface ProgramPlace {
  /** Real paths, the project first. */
  readonly roots: readonly string[];
  readonly user: Pick<UserConfig, "state_dir">;
  readonly sandbox: Pick<CommandSandbox, "program">;
  /** Neovim's own. */
  readonly environment: Readonly<Record<string, string>>;
  /** For servers over HTTP. @throws {Error} one line */
  modules(): Promise<PluginModules>;
  /** Globs of files that it must not read. */
  denied(): readonly string[];
}

/** Answers to a running server. */
export interface ServerPorts {
  /** Patterns of hosts that it can reach now. */
  hosts(): readonly string[];
  /** It wanted to reach another one. @param host "name:port" */
  onRefused(host: string): void;
  /** An access token for a server over HTTP; undefined: the user has to log in. */
  token(refused?: Unauthorized): Promise<string | undefined>;
}

/** @throws {Error} one line */
export async function startServerProgram(
  entry: McpEntry,
  place: ProgramPlace,
  ports: ServerPorts,
): Promise<PipeProgram> {
  const { roots, environment } = place;
  const [root = ""] = roots;
  const values: TemplateValues = { environment, root };
  if (entry.url !== undefined) return await startBridge(entry, values, place, ports);
  const words = (entry.cmd ?? []).map((word) => withHome(filledIn(word, values), environment));
  const [program = "", ...args] = words;
  const path = program.includes("/") ? program : await findProgram(program, roots);
  if (path === undefined) throw new Error(`${program} was not found on the PATH outside of the project`);
  const command = { path, args, own: ownVariables(entry, values) };
  if (entry.sandbox === false) return await startFree(command, place);
  const cache = entry.cache === undefined ? [] : [await cacheMount(entry.cache, place)];
  return await startConfined(command, cache, place, ports);
}

interface ServerCommand {
  readonly path: string;
  readonly args: readonly string[];
  /** The variables of the entry. */
  readonly own: Readonly<Record<string, string>>;
}

const STREAMS = { stdin: "piped", stdout: "piped", stderr: "piped", leadsGroup: true } as const;

/** Without a sandbox. @throws {Error} one line */
async function startFree(
  { path, args, own }: ServerCommand,
  { roots, environment }: ProgramPlace,
): Promise<PipeProgram> {
  const real = await Deno.realPath(path).catch(() => undefined);
  if (!path.startsWith("/") || real === undefined || roots.some((root) => isInside(real, root))) {
    throw new Error(`without a sandbox it must be a program outside of the project, not ${path}`);
  }
  const env = { ...commandEnvironment([], undefined, environment), ...own };
  const options = { args: [...args], env, cwd: roots[0] ?? "/", ...STREAMS };
  return { process: openProgram("free_mcp_server", path, options).spawn() };
}

/** For a server over HTTP. @throws {Error} one line */
async function startBridge(
  entry: McpEntry,
  values: TemplateValues,
  place: ProgramPlace,
  ports: ServerPorts,
): Promise<PipeProgram> {
  const { words: [path = "", ...args], mounts, variables } = bridgeProgram(await place.modules());
  const start = { ...bridgeStart(entry, values), ...defined({ token: await ports.token() }) };
  const program = await startConfined({ path, args, own: variables }, mounts, place, ports);
  return {
    ...program,
    first: `${JSON.stringify(start)}\n`,
    takes(line, write) {
      if (!line.startsWith(TO_SUPERVISOR)) return false;
      const refused = readRefusal(line.slice(TO_SUPERVISOR.length));
      ports.token(refused).catch(() => undefined).then(async (token) => {
        await write(`${JSON.stringify({ bridge_token: token ?? null })}\n`);
      }).catch(() => {});
      return true;
    },
  };
}

function readRefusal(text: string): Unauthorized {
  try {
    return Unauthorized.parse(JSON.parse(text));
  } catch {
    return {};
  }
}

/** @throws {Error} one line */
async function startConfined(
  { path, args, own }: ServerCommand,
  cache: readonly Mount[],
  { roots, environment, sandbox, denied }: ProgramPlace,
  ports: ServerPorts,
): Promise<PipeProgram> {
  const bash = await findProgram("bash", roots);
  if (bash === undefined) throw new Error("bash was not found on the PATH outside of the project");
  const { hosts, onRefused } = ports;
  const proxy = await AllowProxy.open({ hosts, onRefused, environment });
  try {
    const behind = proxied([path, ...args], proxy.socket, bash, hosts());
    const { environment: all, files } = await withRealCertificates(environment);
    const certificates = files.map((path): Mount => ({ kind: "read", path }));
    const mounts = [...cache, ...certificates, ...behind.mounts];
    const confined = await sandbox.program(behind.arguments, denied(), mounts);
    const env = {
      ...commandEnvironment([], "look+network", environment),
      ...Object.fromEntries(CERTIFICATES.flatMap((name) => all[name] ? [[name, all[name]]] : [])),
      ...proxyEnvironment(hosts()),
      ...own,
    };
    const options = { args: [...confined.args], env, cwd: "/", ...STREAMS };
    const process = openProgram("mcp_server", confined.program, options).spawn();
    return { process, ended: () => proxy[Symbol.asyncDispose]() };
  } catch (error) {
    await proxy[Symbol.asyncDispose]();
    throw error;
  }
}

/** @throws {Error} one line, if a variable is not set */
function ownVariables({ env = {} }: McpEntry, values: TemplateValues): Record<string, string> {
  if (!Array.isArray(env)) {
    return Object.fromEntries(Object.entries(env).map(([name, text]) => [name, filledIn(text, values)]));
  }
  return Object.fromEntries(env.map((name) => [name, filledIn(`\${${name}}`, values)]));
}

function withHome(path: string, { HOME = "/" }: ProgramPlace["environment"]): string {
  return path.startsWith("~/") ? join(HOME, path.slice(2)) : path;
}

/** Creates the folder. @throws {Error} one line, if the program must not write it */
async function cacheMount(cache: string, { roots, user, environment }: ProgramPlace): Promise<Mount> {
  const place = { roots, stateDir: user.state_dir, environment };
  const path = cacheFolder(cache, place);
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  cacheFolder(cache, place);
  return { kind: "write", path: await Deno.realPath(path) };
}
