/** Failures of HTTP and of the wire → one line that says what to check. Pure. */
import { messageOf, TurnError } from "../core/errors.ts";

/** Where a request went, for messages. */
export interface Target {
  readonly baseUrl: string;
  readonly provider: string;
  readonly model: string;
  readonly keySource: string;
}

export function statusError(status: number, detail: string, target: Target): TurnError {
  const said = detail === "" ? `HTTP ${status}` : `HTTP ${status}: ${quoted(detail)}`;
  switch (status) {
    case 401:
    case 403:
      return new TurnError(
        "auth",
        `Cannot use ${target.provider}: the API key was refused (${said}).`,
        `Check ${target.keySource}.`,
      );
    case 404:
      return new TurnError(
        "not_found",
        `Cannot find model "${target.model}" at ${target.baseUrl} (${said}).`,
        "Check the options model and base_url.",
      );
    case 429:
      return new TurnError(
        "rate_limited",
        `Cannot go on: ${target.provider} limits the rate (${said}).`,
        "Try again later.",
      );
    default:
      if (status >= 500) {
        return new TurnError(
          "overloaded",
          `Cannot go on: ${target.provider} has a problem (${said}).`,
          "Try again later.",
        );
      }
      if (status >= 300 && status < 400) {
        return new TurnError(
          "setup",
          `Cannot use ${target.baseUrl}: it redirects (${said}).`,
          "Set base_url to the address itself.",
        );
      }
      return new TurnError("bad_request", `Cannot ask ${target.provider}: it refused the request (${said}).`);
  }
}

/** An error of fetch itself. `retryable`: the connection broke, as against nobody being there. */
export function connectionError(error: unknown, target: Target): { error: TurnError; retryable: boolean } {
  const text = withCauses(error);
  const fail = (reason: string, hint: string, retryable: boolean) => ({
    error: new TurnError("network", `Cannot reach ${target.baseUrl}: ${reason}.`, hint),
    retryable,
  });
  if (/refused/i.test(text)) {
    return fail("connection refused", "Is the server running? Check base_url.", false);
  }
  if (/dns|lookup|resolve/i.test(text)) return fail("unknown host", "Check base_url and the network.", false);
  if (/certificate|tls|ssl/i.test(text)) {
    return fail("TLS failed", `Check the certificate: ${oneLine(text)}`, false);
  }
  if (/Requires net access/i.test(text)) {
    return fail("not granted to the engine", "Restart with :Agent new.", false);
  }
  return fail("the connection broke", "Check the network and try again.", true);
}

/** Since Deno 2.9 fetch says only "fetch failed", and why stands in the cause. */
function withCauses(error: unknown): string {
  const texts: string[] = [];
  for (
    let at = error;
    at !== undefined && texts.length < 5;
    at = at instanceof Error ? at.cause : undefined
  ) {
    texts.push(messageOf(at));
  }
  return texts.join(": ");
}

export function htmlError(target: Target): TurnError {
  return new TurnError(
    "bad_answer",
    `Cannot read the answer of ${target.baseUrl}: it is a web page, not an API.`,
    "Check base_url.",
  );
}

export function garbageError(detail: string, target: Target): TurnError {
  return new TurnError(
    "bad_answer",
    `Cannot read the answer of ${target.provider}: ${quoted(detail)}.`,
    "Try again.",
  );
}

export function streamError(detail: string, target: Target): TurnError {
  return new TurnError(
    "overloaded",
    `${target.provider} stopped with an error: ${quoted(detail)}.`,
    "Try again.",
  );
}

/** @param came whether a part of the answer had come before */
export function cutOffError(target: Target, came: boolean): TurnError {
  const hint = came ? 'What came is kept; send "continue" to go on.' : "Check the network and try again.";
  return new TurnError("cut_off", `The answer of ${target.provider} was cut off.`, hint);
}

export function tooLargeError(limit: number, target: Target): TurnError {
  const megabytes = Math.round(limit / 1_000_000);
  return new TurnError(
    "too_large",
    `Stopped reading: the answer of ${target.provider} is over ${megabytes} MB.`,
    "Ask for less at once.",
  );
}

export function silenceError(seconds: number, target: Target): TurnError {
  return new TurnError(
    "network",
    `Cannot go on: ${target.provider} was silent for ${seconds} s.`,
    "Try again or raise request_timeout.",
  );
}

/** Foreign words inside a sentence of ours, which has its own full stop. */
function quoted(text: string): string {
  return oneLine(text).replace(/[.\s]+$/, "");
}

/** At most 200 characters, on one line, without control characters. */
export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  // deno-lint-ignore no-control-regex -- they must not reach the screen
  return (line.length > 200 ? `${line.slice(0, 200)}…` : line).replace(/[\u0000-\u001f\u007f]/g, "");
}
