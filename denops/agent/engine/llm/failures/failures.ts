/** Describes HTTP and wire failures in one line of less than 300 characters that says what to check. Pure. */
import { type ErrorKind, TurnError } from "../../../shared/errors.ts";
import type { WireName } from "../../../protocol/providers.ts";
import { SMALL_WINDOW } from "../abilities/window.ts";
import { isOutOfMemory, windowIn } from "./local.ts";
import { failure, names, type Target, via } from "./text.ts";

export function statusError(status: number, detail: string, target: Target): TurnError {
  const { provider, model, baseUrl, keySource } = names(target);
  const http = detail === "" ? `HTTP ${status}` : `HTTP ${status}: `;
  const fail = (kind: ErrorKind, what: string, hint: string) =>
    failure(kind, `${what} (${http}`, detail, ").", hint, target);
  switch (status) {
    case 401:
    case 403:
      return fail("auth", `Cannot use ${provider}: the API key was refused`, `Check ${keySource}.`);
    case 402:
      return fail("auth", `Cannot use ${provider}: payment is required`, "Check the account's credit.");
    case 404: {
      // The wording of Ollama.
      const hint = /try pulling it/.test(detail)
        ? `Try "ollama pull ${model}", or check the option model.`
        : "Check the options model and base_url.";
      return fail("not_found", `Cannot find model "${model}" at ${baseUrl}`, hint);
    }
    case 407:
      return fail(
        "auth",
        `Cannot use ${provider}${via(target)}: the proxy requires a login`,
        "Set it in the proxy's address.",
      );
    case 429:
      return fail("rate_limited", `Rate limit reached at ${provider}`, "Try again later.");
  }
  if (status >= 500) {
    const [before, after] = detail === "" ? ["", "."] : [" (", ")."];
    const what = `${provider}${via(target)} answered HTTP ${status}${before}`;
    return failure("overloaded", what, detail, after, "Try again later.", target);
  }
  if (status >= 300 && status < 400) {
    return fail("setup", `Cannot use ${baseUrl}: it redirects`, "Set base_url to the address itself.");
  }
  return fail("bad_request", `Cannot ask ${provider}: it refused the request`, `Check the model "${model}".`);
}

/**
 * How providers say that a request exceeds the context window: OpenAI, OpenRouter, DeepSeek and vLLM
 * ("maximum context length", "context length is only"), OpenAI's Responses, Anthropic, Gemini, xAI, Groq and
 * Mistral, llama.cpp, LM Studio (three ways), Ollama, Copilot, Kimi, MiniMax, Bedrock.
 */
const WINDOW_FULL = new RegExp(
  [
    "context[ _]length[ _]exceeded|(?:maximum|model's) context length|exceeds? the (?:maximum )?context (?:window|length)",
    "prompt is too long|input is too long for",
    "input token count.*exceeds the maximum|maximum prompt length is|prompt token count of \\d+ exceeds",
    "reduce the length of the (?:messages|input|prompt)|too large for model with \\d+ maximum context",
    "exceeds? the available context size|exceed_context_size|greater than the context length",
    "context window exceeds limit|exceeded model token limit|context window is full",
    "cannot truncate prompt with n_keep|when context (?:the )?overflows|reached context length of",
  ].join("|"),
  "i",
);

/** @param text the provider's answer */
export function isWindowFull(text: string): boolean {
  return WINDOW_FULL.test(text);
}

/** @param message the provider's error text, after its status if it has one */
export function windowFullError(message: string, target: Target): TurnError {
  const before = "The session no longer fits the model's window (";
  const hint = (windowIn(message) ?? Infinity) <= SMALL_WINDOW
    ? "Try :Agent new, or give the model a larger context."
    : "Try :Agent new, or :Agent session fork at an earlier turn.";
  return failure("window_full", before, message, ").", hint, target);
}

/** The provider's content filter refused the request. */
export function filteredError(detail: string, target: Target): TurnError {
  const before = `${names(target).provider} refused what was sent: `;
  return failure("filtered", before, detail, ".", "Rephrase the message, or choose another model.", target);
}

/** The provider serves the model, but not in this wire format. */
export function otherWireError(status: number, detail: string, wire: WireName, target: Target): TurnError {
  const { provider, baseUrl } = names(target);
  const before = `Cannot ask ${baseUrl} in this way (HTTP ${status}${detail === "" ? "" : ": "}`;
  const hint = `Set wire = "${wire}" in providers.${provider}.`;
  return failure("setup", before, detail, ").", hint, target);
}

/** The account has no credit, so a retry fails too. */
export function quotaError(status: number, detail: string, target: Target): TurnError {
  const reason = status === 429 ? "the account's quota is used up" : "the account has no credit left";
  const before = `Cannot use ${names(target).provider}: ${reason} (HTTP ${status}: `;
  return failure("auth", before, detail, ").", "Check its plan and billing.", target);
}

export function garbageError(detail: string, target: Target): TurnError {
  const before = `Cannot read the answer of ${names(target).provider}${via(target)}: `;
  return failure("bad_answer", before, detail, ".", "Try again, or check base_url.", target);
}

/** The server lacks the memory for the model or its window. */
export function memoryError(detail: string, target: Target): TurnError {
  const before = `${names(target).provider} has not enough memory for ${names(target).model} (`;
  return failure(
    "setup",
    before,
    detail,
    ").",
    "Set limits.context_window to less, or choose a smaller model.",
    target,
  );
}

/** The server is running, but its model is not loaded. */
export function loadingError(detail: string, target: Target): TurnError {
  const before = `${names(target).provider} is still loading the model (`;
  return failure(
    "overloaded",
    before,
    detail,
    ").",
    "Try again later, or raise limits.request_timeout.",
    target,
  );
}

export function streamError(detail: string, target: Target): TurnError {
  if (isWindowFull(detail)) return windowFullError(detail, target);
  if (isOutOfMemory(detail)) return memoryError(detail, target);
  const before = `${names(target).provider} stopped with an error: `;
  return failure("overloaded", before, detail, ".", "Try again.", target);
}
