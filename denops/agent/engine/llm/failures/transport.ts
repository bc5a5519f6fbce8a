/** Describes connection failures in one line that says what to check. Pure. */
import { TurnError } from "../../../shared/errors.ts";
import { connectionProblem } from "../../../models/connection_problem.ts";
import { PRESETS } from "../../../protocol/providers.ts";
import { failure, names, type Target, via } from "./text.ts";

/** Describes an error of fetch. `retryable`: the connection broke, as opposed to not being established. */
export function connectionError(error: unknown, target: Target): { error: TurnError; retryable: boolean } {
  const { baseUrl, keySource } = names(target);
  const server = { keySource, start: PRESETS[target.provider]?.start, proxy: target.proxy };
  const { reason, hint, retryable } = connectionProblem(error, server);
  return { error: failure("network", `Cannot reach ${baseUrl}: `, reason, ".", hint, target), retryable };
}

export function htmlError(target: Target): TurnError {
  const { baseUrl } = names(target);
  return new TurnError(
    "bad_answer",
    `Cannot read the answer of ${baseUrl}: it is a web page, not an API${via(target)}.`,
    target.proxy === undefined ? "Check base_url." : "Check the proxy and base_url.",
  );
}

/** @param came whether a part of the answer had arrived */
export function cutOffError(target: Target, came: boolean): TurnError {
  const hint = came ? 'What came is kept; send "continue" to go on.' : "Check the network and try again.";
  return new TurnError("cut_off", `The answer of ${names(target).provider}${via(target)} was cut off.`, hint);
}

export function tooLargeError(limit: number, target: Target): TurnError {
  const megabytes = Math.round(limit / 1_000_000);
  return new TurnError(
    "too_large",
    `Stopped reading: the answer of ${names(target).provider} is over ${megabytes} MB.`,
    "Ask for less at once.",
  );
}

export function silenceError(seconds: number, target: Target): TurnError {
  return new TurnError(
    "network",
    `No answer from ${names(target).provider}${via(target)} for ${seconds} s.`,
    "Try again or raise limits.request_timeout.",
  );
}
