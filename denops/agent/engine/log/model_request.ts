/** A request to a model, before a wire encodes it. */
import type { Effort } from "../../protocol/options/efforts.ts";
import type { Message } from "./messages.ts";

/** A tool as models are offered it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON schema of type object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Lark grammar of its only argument, for wires with calls that are not JSON. */
  readonly grammar?: string;
}

/** The content of a request for any model. Only context/ creates it: the private field excludes look-alikes. */
export class Prompt {
  declare private readonly made: never;

  /**
   * @param textOnly the answer must be text; some models call tools nevertheless @param effort undefined: the
   * provider's default
   */
  constructor(
    readonly system: string,
    readonly messages: readonly Message[],
    readonly tools: readonly ToolSpec[],
    readonly textOnly = false,
    readonly effort?: Effort,
  ) {}
}

/**
 * Parts of a request that a provider may refuse, and that are then left out: the summary of its thoughts, their
 * encrypted form, earlier ones, and the effort.
 */
export type Refusable =
  | "reasoning_summary"
  | "encrypted_reasoning"
  | "earlier_reasoning"
  | "effort"
  | "custom_tools"
  | "stream_options"
  | "max_tokens";

export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  /** The answer must be text; the tools stay in the request because of the provider's cache. */
  readonly textOnly?: boolean;
  readonly temperature?: number;
  /** Most output tokens; undefined: the provider's default if possible. */
  readonly maxOutputTokens?: number;
  /** Tokens that the whole session may use. */
  readonly contextWindow: number;
  /** Refused parts. */
  readonly without?: readonly Refusable[];
  /** Undefined: the provider's default. */
  readonly effort?: Effort | undefined;
  /**
   * Values that the server accepts for reasoning: true, false and names of levels; undefined: unknown. Empty: it
   * accepts none.
   */
  readonly thinking?: readonly (boolean | string)[] | undefined;
}

/** The origin of a request: a person's message, or the agent. */
export type Initiator = "user" | "agent";

/**
 * Why an answer ended. "length": its own token limit; "window_full": the session's; "paused": the provider wants
 * another request; "malformed": it could not parse the model's call.
 */
export type FinishReason =
  | "stop"
  | "tool_calls"
  | "length"
  | "window_full"
  | "refused"
  | "paused"
  | "malformed";
