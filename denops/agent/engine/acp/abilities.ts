/** The services of a session's client for tools. */
import type { AgentContext } from "../../deps/acp_sdk.ts";
import type { EngineConfig } from "../../protocol/config.ts";
import type { McpPort } from "../ports/mcp.ts";
import { messageOf, ToolError } from "../../shared/errors.ts";
import type { Web, WebSearchPort } from "../ports/web.ts";
import type { Embedder, ProjectIndexes } from "../ports/code_index.ts";
import type { ClientAbilities } from "../ports/abilities.ts";
import type { SkillsPort } from "../ports/skills.ts";
import { AcpCommands } from "./commands.ts";
import { screenServers } from "./editor.ts";
import { foreignPort } from "./pipes/foreign.ts";
import { screenHooks } from "./hooks.ts";
import type { Moment } from "./moment.ts";
import { acpQuestions } from "./questions.ts";
import type { Screen } from "./screen.ts";
import { acpSearch } from "./search.ts";
import type { Capabilities } from "./updates.ts";

export interface IndexOptions {
  readonly index: ProjectIndexes;
}

export function clientAbilities(
  client: AgentContext,
  screen: Screen,
  moment: Moment,
  { id, can, mcp, index, config }: IndexOptions & {
    readonly id: string;
    readonly can: Capabilities;
    readonly mcp: McpPort | undefined;
    readonly config: Pick<EngineConfig, "agent" | "search_engine" | "embedding_model" | "hook_events">;
  },
): Partial<ClientAbilities> {
  const { search_engine: searchEngine, embedding_model: embeddingModel, hook_events: hookEvents } = config;
  const agent = config.agent?.name;
  return {
    ...(agent !== undefined && screen.has("agent_begin") ? { agent: foreignPort(screen, agent) } : {}),
    ...(can.terminals ? { commands: new AcpCommands(client, screen, id) } : {}),
    ...(can.questions ? { questions: acpQuestions(client, id) } : {}),
    ...searchAbilities(screen, index, embeddingModel),
    ...(mcp === undefined ? {} : { mcp }),
    ...(screen.has("skill") ? { skills: screenSkills(screen) } : {}),
    ...(screen.has("lsp") ? { languages: screenServers(screen, moment) } : {}),
    ...(screen.has("hook") && hookEvents.length > 0 ? { hooks: screenHooks(screen, hookEvents) } : {}),
    ...(screen.has("fetch") ? { web: screenWeb(screen) } : {}),
    ...(screen.has("search_web") && searchEngine !== undefined
      ? { webSearch: screenSearch(screen, searchEngine) }
      : {}),
  };
}

/** The client lists the files that are indexed. */
function searchAbilities(
  screen: Screen,
  index: ProjectIndexes,
  model: string | undefined,
): Partial<Pick<ClientAbilities, "search" | "index">> {
  if (!screen.has("search")) return {};
  const search = acpSearch(screen);
  const embedder = model === undefined || !screen.has("embed") ? undefined : screenEmbedder(screen, model);
  return { search, index: index.of(search, embedder) };
}

function screenEmbedder(screen: Screen, model: string): Embedder {
  return {
    model,
    async embed(texts, signal) {
      const { vectors } = await screen.ask("embed", { texts: [...texts] }, signal);
      return vectors.map((vector) => new Int8Array(Uint8Array.fromBase64(vector).buffer));
    },
  };
}

function screenSkills(screen: Screen): SkillsPort {
  const failed = (signal: AbortSignal, what: string) => (error: unknown): never => {
    signal.throwIfAborted();
    throw new ToolError(`Cannot read ${what}: ${messageOf(error)}.`);
  };
  return {
    text: async (name, signal) =>
      (await screen.ask("skill", { name }, signal).catch(failed(signal, "the skill"))).text,
    file: async (path, signal) =>
      (await screen.ask("skill_file", { path }, signal).catch(failed(signal, path))).text,
    isSeen: () => false,
  };
}

function screenWeb(screen: Screen): Web {
  return {
    read: new Map(),
    fetch: (url, signal) =>
      screen.ask("fetch", { url }, signal).catch((error) => {
        signal.throwIfAborted();
        throw new ToolError(`Cannot fetch ${messageOf(error)}.`);
      }),
  };
}

function screenSearch(screen: Screen, engine: WebSearchPort["engine"]): WebSearchPort {
  return {
    engine,
    search: (query, count, signal) =>
      screen.ask("search_web", { query, count }, signal).catch((error) => {
        signal.throwIfAborted();
        const reason = messageOf(error);
        throw new ToolError(reason.startsWith("Cannot ") ? reason : `Cannot search the web: ${reason}`);
      }),
  };
}
