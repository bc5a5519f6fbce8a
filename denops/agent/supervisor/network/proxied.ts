/** Starts a program in a sandbox without network, where HTTP clients find the proxy in their environment. */
import { join } from "node:path";
import { type HostPattern, parseHost } from "../../policy/hosts.ts";
import { SANDBOX_PLACES } from "../../protocol/options/foreign_agents.ts";
import type { Mount } from "../system/sandbox/mounts.ts";

const SOCKET = "/run/agent-proxy.sock";
const { deno: DENO, forwarder: FORWARDER, denoDir: DENO_DIR } = SANDBOX_PLACES;

/** This module may be part of a bundle, which lies as deep as the module. */
const FORWARDER_FILE = join(import.meta.dirname ?? "", "../../supervisor/network/forwarder.ts");

const PORT = "3128";
const ADDRESS = `http://127.0.0.1:${PORT}`;
/** Names of the sandbox's own servers, and of the machine's in patterns. */
const HERE: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];
/** Programs without privileges cannot listen on lower ports. */
const FIRST_PORT = 1_024;

/** The needs of a sandbox beside `--unshare-net`. */
interface ProxiedStart {
  readonly mounts: readonly Mount[];
  /** The words of the program to start, which becomes `inner`. */
  readonly arguments: readonly string[];
}

/**
 * Variables of programs behind the proxy, by default behind the forwarder of a sandbox. They reach the sandbox's own
 * servers directly, and also the ports of this machine that the forwarder opens. For a name with another allowed port they
 * use the proxy.
 * @param hosts patterns of the allowed hosts
 */
export function proxyEnvironment(
  hosts: readonly string[],
  address = ADDRESS,
): Readonly<Record<string, string>> {
  const behind = hosts.map(parseHost).filter((host) => !isForwarded(host)).map((host) => host?.name);
  const here = HERE.filter((name) => !behind.includes(name)).map((name) => name.replace(/^\[|\]$/g, ""));
  const variables = {
    HTTP_PROXY: address,
    HTTPS_PROXY: address,
    ALL_PROXY: address,
    NO_PROXY: here.join(","),
  };
  // Programs read them in one case or the other.
  const lower = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...variables, ...Object.fromEntries(lower), NODE_USE_ENV_PROXY: "1" };
}

/** Whether the forwarder opens this port of the machine in the sandbox. */
function isForwarded(host: HostPattern | undefined): boolean {
  const { name = "", below, port } = host ?? {};
  return HERE.includes(name) && below === false && Number(port) >= FIRST_PORT &&
    Number(port) !== Number(PORT);
}

/** The ports that the forwarder opens: "localhost:8080". */
function forwardedPorts(hosts: readonly string[]): readonly string[] {
  return hosts.map(parseHost).filter(isForwarded).map((host) => `${host?.name}:${Number(host?.port)}`);
}

/**
 * Bash starts the forwarder, waits until it listens, and becomes the program. The forwarder has the program's permissions,
 * which the sandbox limits, and ends with it.
 */
const start = (ports: readonly string[]) =>
  `exec 9< <(DENO_DIR=${DENO_DIR} DENO_NO_UPDATE_CHECK=1 exec ${DENO} run -A --quiet --no-config --no-lock --no-remote \\
  ${FORWARDER} ${[SOCKET, PORT, ...ports.map((port) => `'${port}'`)].join(" ")} </dev/null 2>/dev/null)
read -r -u 9 line; exec 9<&-
[ "$line" = ready ] || { echo "Cannot start the command: its way to the allowed hosts failed. Try again." >&2; exit 1; }
exec "$@"`;

/**
 * @param inner the program and its arguments
 * @param socket of the {@link AllowProxy}
 * @param bash its path, also in the sandbox
 * @param hosts patterns of the allowed hosts
 */
export function proxied(
  inner: readonly string[],
  socket: string,
  bash: string,
  hosts: readonly string[],
): ProxiedStart {
  return {
    mounts: [
      { kind: "read", path: SOCKET, source: socket },
      { kind: "read", path: DENO, source: Deno.execPath() },
      { kind: "read", path: FORWARDER, source: FORWARDER_FILE },
    ],
    arguments: [bash, "-c", start(forwardedPorts(hosts)), "bash", ...inner],
  };
}
