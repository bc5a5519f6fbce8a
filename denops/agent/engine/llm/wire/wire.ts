/**
 * A wire is one provider's request and answer format, pure: it takes and returns values.
 * HTTP, retries and time are the client's.
 */
import type { WireName } from "../../../protocol/providers.ts";
import type { KeptFor, Reasoning, Usage } from "../../log/messages.ts";
import type { FinishReason, ModelRequest, Refusable } from "../../log/model_request.ts";

export interface Endpoint {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface HttpRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A piece of an answer. `index` keys the pieces of one tool call. */
export type Delta =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thought"; readonly text: string }
  /** All text that was told so far was a thought: its opening mark is missing. `text`: with what was held back of it. */
  | { readonly type: "text_was_thought"; readonly text?: string }
  /** All thought that was told so far was none: it is told again, as text. */
  | { readonly type: "thought_was_text" }
  | { readonly type: "signature"; readonly signature: string }
  | { readonly type: "redacted"; readonly data: string }
  /** Pieces of OpenRouter's `reasoning_details`, to go back unchanged. */
  | { readonly type: "details"; readonly details: readonly Readonly<Record<string, unknown>>[] }
  /** What only the provider can read of an answer, or what a text is to it. */
  | Extract<Reasoning, { type: "encrypted" | "phase" }>
  /** `id` is empty where the provider gives none. */
  | { readonly type: "call_start"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: "call_arguments"; readonly index: number; readonly text: string }
  /** What a model writes of a call into its text: not the arguments, which come when it has ended. */
  | { readonly type: "call_draft"; readonly index: number; readonly text: string }
  /** What was begun was no call. */
  | { readonly type: "call_dropped"; readonly index: number }
  /** The whole text of an answer whose calls stood in it, as the model wrote it. */
  | { readonly type: "written"; readonly text: string }
  /** The model has said that it is done (llm/end_mark.ts). */
  | { readonly type: "complete" }
  /** What goes back to the provider with the call. */
  | { readonly type: "call_extra"; readonly index: number; readonly extra: Readonly<Record<string, unknown>> }
  | { readonly type: "usage"; readonly usage: Partial<Usage> }
  /** `why`: the provider's own words for the user. */
  | { readonly type: "finish"; readonly reason: FinishReason; readonly why?: string }
  /** The provider says in mid-stream that it failed. `retryable` as for HTTP status codes. */
  | { readonly type: "error"; readonly message: string; readonly retryable: boolean }
  /** Nothing more comes; without it the stream was cut off. */
  | { readonly type: "done" };

/** What a wire remembers between two frames; each has its own. */
export interface Wire<State> {
  readonly framing: "sse" | "ndjson";
  encode(request: ModelRequest, endpoint: Endpoint): HttpRequest;
  /** How long the provider wants thoughts back that it has not signed; without it, or undefined: not at all. */
  keeps?(model: string, baseUrl: string): KeptFor | undefined;
  /** The first state of an answer. */
  start(): State;
  /** @throws {Error} if the frame is not of this format; the client makes one line of it. */
  step(state: State, frame: string): readonly [State, readonly Delta[]];
  /** The text of an error answer's JSON body, if it has the provider's shape. */
  errorText(body: unknown): string | undefined;
  /** What of this wire's own the provider has refused with these words. */
  refuses?(detail: string): Refusable | undefined;
  /** The wire to use instead, where a refusal says that this one is not served. */
  otherWire?(status: number, detail: string): WireName | undefined;
}
