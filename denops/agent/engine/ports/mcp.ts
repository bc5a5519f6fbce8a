/** The project's MCP servers, as one session uses them. Their texts are cleaned and bounded, but remain data. */
import type { Questions } from "./approvals.ts";

/** A tool of a server. */
export interface McpTool {
  /** For models, unique: "server__tool". */
  readonly name: string;
  readonly server: string;
  /** The server's own name for it. */
  readonly tool: string;
  readonly description: string;
  /** JSON schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Changes with description and schema. */
  readonly digest: string;
  /** Models see it without a search: providers accept its schema, and there are few tools. */
  readonly isListed: boolean;
}

/** An image of a result, in base64. */
export interface McpImage {
  readonly name: string;
  readonly data: string;
}

export interface McpContent {
  readonly text: string;
  readonly images: readonly McpImage[];
}

export interface McpAnswer extends McpContent {
  /** The server reports an error of its tool. */
  readonly failed: boolean;
}

/** The call that a request belongs to. */
export interface McpCall {
  readonly id: string;
  /** Absent: nobody can be asked. */
  readonly questions?: Questions | undefined;
  /** Receives one line about the call's progress. */
  progress(line: string): void;
}

export type McpServerPhase = "off" | "starting" | "ready" | "failed" | "stopped";

export interface McpServerFacts {
  readonly name: string;
  readonly state: McpServerPhase;
  /** Why it is not ready, in one line. */
  readonly problem?: string | undefined;
  /** The server's own advice for models. */
  readonly instructions?: string | undefined;
}

export interface McpPort {
  /** In the order of the configuration. */
  readonly servers: readonly McpServerFacts[];
  /** Of servers that are ready; another array after each change. */
  readonly tools: readonly McpTool[];
  /** Starts the servers, once for the process. */
  start(): void;
  /** Resolves when all have started or failed, or after this time. The user's answers about their starts take longer. */
  settled(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Waits for its server. @param args as they were approved @throws {ToolError} */
  call(
    tool: Pick<McpTool, "server" | "tool">,
    args: Readonly<Record<string, unknown>>,
    call: McpCall,
    signal: AbortSignal,
  ): Promise<McpAnswer>;
  /** Waits for its server. @throws {ToolError} */
  resource(server: string, uri: string, signal: AbortSignal): Promise<McpContent>;
  /** Waits for its server. @param words behind the prompt's name @throws {ToolError} */
  prompt(server: string, name: string, words: string, signal: AbortSignal): Promise<McpContent>;
}
