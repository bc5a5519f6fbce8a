/** The ports of a session: its whole interface to the outside. */
import type { EngineConfig, FileRules } from "../../protocol/config.ts";
import type { Emit } from "../log/events.ts";
import type { Store } from "../ports/store.ts";
import type { UsageLog } from "../ports/usage.ts";
import type { Commands } from "../ports/commands.ts";
import type { AskApproval } from "../ports/approvals.ts";
import type { Editor } from "../ports/editor.ts";
import type { McpPort } from "../ports/mcp.ts";
import type { AttachmentPorts } from "../agent/gather/attachments.ts";
import type { Runner } from "../agent/turn/runner.ts";
import type { AskSurroundings } from "../agent/gather/git_now.ts";

export interface SessionPorts {
  readonly config: EngineConfig;
  readonly runner: Runner;
  readonly store: Store;
  readonly usage: UsageLog;
  readonly editor: Editor;
  readonly ask: AskApproval;
  /** Creates a symbolic link, if the engine itself may not. @throws {Error} */
  makeLink(path: string, target: string): Promise<void>;
  /** The current rules on files; undefined if only those of the configuration are known. */
  readonly fileRules?: (() => Promise<FileRules>) | undefined;
  /** Absent: the model gets no facts about its surroundings. */
  readonly surroundings?: { readonly ask?: AskSurroundings };
  /** Resolves mentions in messages; absent: only files are known. */
  readonly attachments?: Pick<AttachmentPorts, "abilities" | "earlier">;
  /** The project's MCP servers, which the first turn starts. Absent: there are none. */
  readonly mcp?: McpPort | undefined;
  /** Absent: the client runs no commands. */
  readonly commands?: Pick<Commands, "isRunning"> | undefined;
  readonly publish: Emit;
}
