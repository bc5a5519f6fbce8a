/** The servers that report abilities. To add one, add a file and a line here. */
import type { WireName } from "../../../protocol/providers.ts";
import { llamaCpp } from "./llama_cpp.ts";
import { lmStudio } from "./lm_studio.ts";
import { ollama } from "./ollama.ts";
import type { Look, ReportedAbilities, Server } from "./reported.ts";
import { vllm } from "./vllm.ts";

/** In query order: more specific servers first, where several answer the same query. */
const SERVERS: readonly Server[] = [ollama, vllm, llamaCpp, lmStudio];

/**
 * The servers that may run at this address. Public services are not queried: their models are known by name.
 */
export function serversAt(wire: WireName, baseUrl: string): readonly Server[] {
  const fitting = SERVERS.filter((server) => server.wires.includes(wire));
  return fitting.every(({ asksFor }) => asksFor !== undefined) || isNear(baseUrl) ? fitting : [];
}

/** The report of the first server that answers; empty if none does. @throws {Error} if none can be reached */
export async function askServers(
  servers: readonly Server[],
  model: string,
  look: Look,
): Promise<ReportedAbilities> {
  const answers = new Map<string, Promise<unknown>>();
  const once: Look = (path, body) => {
    const answer = answers.get(path) ?? look(path, body);
    answers.set(path, answer);
    return answer;
  };
  for (const server of servers) {
    const abilities = await server.ask(model, once);
    if (abilities !== undefined) return abilities;
  }
  return {};
}

/** Whether the address is on this machine or in its network. */
function isNear(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return /^(?:127|10|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d+)+$/.test(hostname) ||
    /^\[(?:::1|f[cde])|^[^.:]+$|\.(?:local|localhost|lan|home\.arpa|internal)$/.test(hostname);
}
