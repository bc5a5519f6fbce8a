/** Shared by the encoders. */
import type { ScriptedStop, ScriptedUsage } from "./answer.ts";
import type { Content } from "./plan.ts";

/** The parts of a request that its answer depends on. */
export interface Reply {
  readonly model: string;
  /** Number of the request, for the ids. */
  readonly request: number;
  /** Number of the first tool call, for the ids. */
  readonly firstCall: number;
  /** Seconds since 1970. */
  readonly created: number;
  /** Tokens of the prompt, if the script has no `usage`. */
  readonly promptTokens: number;
  /** OpenAI's chat only: `stream_options.include_usage`. */
  readonly includeUsage: boolean;
  /** OpenAI's responses only: `include` has "reasoning.encrypted_content". */
  readonly encrypted: boolean;
  /** OpenAI's responses only: tools whose calls are text. */
  readonly custom?: readonly string[];
}

/** Encodes one answer for one wire; every string has one or more frames, and is sent separately. */
export interface Encoder {
  begin(): readonly string[];
  content(delta: Content): readonly string[];
  error(type: string | undefined, message: string): readonly string[];
  /** The last frame is the end mark, which `nodone` omits. */
  end(stop: ScriptedStop, usage: ScriptedUsage): readonly string[];
}
