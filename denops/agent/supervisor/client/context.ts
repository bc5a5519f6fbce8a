/** The context of answers to an engine. */
import type { FileRules } from "../../protocol/config.ts";
import type { TurnLimits } from "../../protocol/modes.ts";
import type { Update } from "../../protocol/ui.ts";
import type { ProviderWorld } from "../agents/provider.ts";
import type { UserWrites } from "../agents/user_writes.ts";
import type { Terminals } from "../commands/terminals.ts";
import type { TrustedSession } from "../gate/approval_view.ts";
import type { AgentHost } from "../foreign/agent_host.ts";
import type { Gate, GateContext } from "../gate/gate.ts";
import type { Ledger } from "../gate/ledger.ts";
import type { UserQuestions } from "../gate/questions.ts";
import type { FirstFiles } from "../project/first_files.ts";
import type { McpHost } from "../mcp/mcp_host.ts";
import type { HookHost } from "../hooks/hook_host.ts";
import type { Pipes } from "../pipes/pipes.ts";
import type { ProjectSkills } from "../skills/skills.ts";
import type { EditorQuestions } from "../screen/editor_questions.ts";
import type { ProjectPermissions } from "./permissions.ts";

export interface ClientPorts {
  push(update: Update): void;
  /** The chat of an engine's session; undefined once it is closed. */
  ownerOf(sessionId: string): number | undefined;
  /** The same; also undefined while the engine is still busy with a stopped turn. */
  chatOf(sessionId: string): number | undefined;
  /** Restricts a chat to the mode that the engine reports. */
  narrow(chat: number, mode: string): void;
  /** Whether a turn of the chat is running, or the engine still ends a stopped one. */
  isWorking(chat: number): boolean;
  /** Whether the user has stopped the turn that the engine runs or ends. */
  isStopped(chat: number): boolean;
  /** The limits of a chat's turn, by the user's mode and message. */
  limitsOf(chat: number): TurnLimits;
  /** The user's choice for a session. The default, unless this engine has it open for this chat. */
  trustOf(client: ClientContext, chat: number, sessionId: string | undefined): TrustedSession;
  readonly gate: Gate;
  readonly editor: EditorQuestions;
  readonly questions: UserQuestions;
  readonly world: ProviderWorld;
}

export interface ClientContext {
  readonly ports: ClientPorts;
  readonly permissions: ProjectPermissions;
  readonly files: FirstFiles;
  readonly ledger: Ledger;
  readonly terminals: Terminals;
  readonly pipes: Pipes;
  readonly mcp: McpHost;
  readonly agents: AgentHost;
  readonly skills: ProjectSkills;
  readonly hooks: HookHost;
  readonly userWrites: UserWrites;
  /** The rules for a session's files. @throws {Error} if the rules cannot be read */
  rulesOf(sessionId: string): FileRules;
  /** @param sessionId undefined if the supervisor itself asks */
  gateContext(chat: number, sessionId: string | undefined): Promise<GateContext>;
}
