/** A wire is a provider's request and answer format. Pure: HTTP, retries and timing belong to the client. */
import type { WireName } from "../../../protocol/providers.ts";
import type { KeptFor, Reasoning, Usage } from "../../log/messages.ts";
import type { FinishReason, ModelRequest, Refusable } from "../../log/model_request.ts";

export interface Endpoint {
  /** Without a trailing slash. */
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
  /** All text so far was a thought, because its opening mark is missing. `text`: includes the held part. */
  | { readonly type: "text_was_thought"; readonly text?: string }
  /** All thoughts so far were text; they are sent again as text. */
  | { readonly type: "thought_was_text" }
  | { readonly type: "signature"; readonly signature: string }
  | { readonly type: "redacted"; readonly data: string }
  /** Pieces of OpenRouter's `reasoning_details`, to be sent back unchanged. */
  | { readonly type: "details"; readonly details: readonly Readonly<Record<string, unknown>>[] }
  /** Data that only the provider can read, or the role of a text. */
  | Extract<Reasoning, { type: "encrypted" | "phase" }>
  /** `id` is empty if the provider sends none. */
  | { readonly type: "call_start"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: "call_arguments"; readonly index: number; readonly text: string }
  /** The text of a call while it is being written; the parsed arguments follow at its end. */
  | { readonly type: "call_draft"; readonly index: number; readonly text: string }
  /** The text was not a call. */
  | { readonly type: "call_dropped"; readonly index: number }
  /** The full text of an answer with calls in text, as the model wrote it. */
  | { readonly type: "written"; readonly text: string }
  /** The model reported that it is done (llm/end_mark.ts). */
  | { readonly type: "complete" }
  /** Data that goes back to the provider with the call. */
  | { readonly type: "call_extra"; readonly index: number; readonly extra: Readonly<Record<string, unknown>> }
  | { readonly type: "usage"; readonly usage: Partial<Usage> }
  /** `why`: the provider's explanation, for the user. */
  | { readonly type: "finish"; readonly reason: FinishReason; readonly why?: string }
  /** The provider reported a failure in mid-stream. `retryable` is as for HTTP status codes. */
  | { readonly type: "error"; readonly message: string; readonly retryable: boolean }
  /** The end; without it the stream was cut off. */
  | { readonly type: "done" };

/** `State` is what a wire remembers between two frames. */
export interface Wire<State> {
  readonly framing: "sse" | "ndjson";
  encode(request: ModelRequest, endpoint: Endpoint): HttpRequest;
  /** How long the provider wants unsigned thoughts back; absent or undefined: never. */
  keeps?(model: string, baseUrl: string): KeptFor | undefined;
  /** The initial state of an answer. */
  start(): State;
  /** @throws {Error} if the frame is invalid; the client shortens it to one line */
  step(state: State, frame: string): readonly [State, readonly Delta[]];
  /** The error text in a JSON body, if it has the provider's format. */
  errorText(body: unknown): string | undefined;
  /** The field of this wire that the provider refuses with this text. */
  refuses?(detail: string): Refusable | undefined;
  /** The wire to use instead, if a refusal says that this one is not supported. */
  otherWire?(status: number, detail: string): WireName | undefined;
}
