/** What the wires share. */
import type { ScriptedStop, ScriptedUsage } from "./answer.ts";
import type { Content } from "./plan.ts";

/** What an answer takes over from its request. */
export interface Reply {
  readonly model: string;
  /** Number of the request, for the ids. */
  readonly request: number;
  /** Number of the first tool call, for the ids. */
  readonly firstCall: number;
  /** Seconds since 1970. */
  readonly created: number;
  /** Tokens of the prompt, if the script does not say `usage`. */
  readonly promptTokens: number;
  /** OpenAI's chat only: `stream_options.include_usage`. */
  readonly includeUsage: boolean;
  /** OpenAI's responses only: `include` has "reasoning.encrypted_content". */
  readonly encrypted: boolean;
  /** OpenAI's responses only: tools whose calls are text. */
  readonly custom?: readonly string[];
}

/** One wire's side of one answer; every string is a frame, or several, and is sent by itself. */
export interface Encoder {
  begin(): readonly string[];
  content(delta: Content): readonly string[];
  error(type: string | undefined, message: string): readonly string[];
  /** The last frame is the mark of the end, which `nodone` leaves out. */
  end(stop: ScriptedStop, usage: ScriptedUsage): readonly string[];
}
