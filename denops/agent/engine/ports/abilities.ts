/** All services of clients for tools and runners. */
import type { Questions } from "./approvals.ts";
import type { CodeIndex } from "./code_index.ts";
import type { Commands } from "./commands.ts";
import type { Hooks } from "./hooks.ts";
import type { LanguageServers } from "./editor.ts";
import type { ForeignPort } from "./foreign.ts";
import type { McpPort } from "./mcp.ts";
import type { Search } from "./search.ts";
import type { SkillsPort } from "./skills.ts";
import type { Web, WebSearchPort } from "./web.ts";

/** Abilities that only some clients have. */
export interface ClientAbilities {
  readonly commands: Commands;
  readonly search: Search;
  readonly index: CodeIndex;
  readonly questions: Questions;
  readonly languages: LanguageServers;
  readonly mcp: McpPort;
  readonly skills: SkillsPort;
  readonly web: Web;
  readonly webSearch: WebSearchPort;
  readonly hooks: Hooks;
  /** The other agent that runs the session's turns. */
  readonly agent: ForeignPort;
}
