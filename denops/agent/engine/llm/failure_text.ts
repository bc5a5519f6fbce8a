/** Builds the one line of a failure: without secrets, and as long as there is room. Pure. */
import { type ErrorKind, TurnError } from "../../shared/errors.ts";

/** Where a request went, for messages. */
export interface Target {
  readonly baseUrl: string;
  readonly provider: string;
  readonly model: string;
  readonly keySource: string;
  /** "host:port" of the proxy that is asked. */
  readonly proxy?: string | undefined;
  /** What no message may show: some providers quote the key that they refuse. */
  readonly secrets: readonly string[];
}

const LONGEST_MESSAGE = 299;

const LONGEST_NAME = 80;

export function via({ proxy }: Target): string {
  return proxy === undefined ? "" : ` (proxy ${oneLine(proxy, LONGEST_NAME)})`;
}

export function names({ provider, model, baseUrl, keySource }: Target) {
  const short = (text: string) => oneLine(text, LONGEST_NAME);
  return {
    provider: short(provider),
    model: short(model),
    baseUrl: short(baseUrl),
    keySource: short(keySource),
  };
}

/** `detail` is what others wrote: without secrets, on one line, and as long as there is room. */
export function failure(
  kind: ErrorKind,
  before: string,
  detail: string,
  after: string,
  hint: string,
  { secrets }: Target,
): TurnError {
  const safe = secrets.reduce((text, secret) => text.replaceAll(secret, "[key]"), detail);
  const room = LONGEST_MESSAGE - before.length - after.length - hint.length - 1;
  // The sentence around it has its own full stop.
  return new TurnError(kind, before + oneLine(safe, room).replace(/[.\s]+$/, "") + after, hint);
}

/** At most `most` characters, on one line, without control characters. */
export function oneLine(text: string, most = 200): string {
  // deno-lint-ignore no-control-regex -- they must not reach the screen
  const line = text.replace(/\s+/g, " ").replace(/[\u0000-\u001f\u007f-\u009f]/g, "").trim();
  if (line.length <= most) return line;
  // Half a character at the cut would be one that no encoding can hold.
  return `${line.slice(0, Math.max(0, most - 1)).replace(/[\ud800-\udbff]$/, "")}…`;
}
