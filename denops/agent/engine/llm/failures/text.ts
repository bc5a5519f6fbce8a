/** Builds the one-line message of a failure, without secrets and within its length limit. Pure. */
import { type ErrorKind, TurnError } from "../../../shared/errors.ts";

/** The destination of a request, for messages. */
export interface Target {
  readonly baseUrl: string;
  readonly provider: string;
  readonly model: string;
  readonly keySource: string;
  /** "host:port" of the proxy in use. */
  readonly proxy?: string | undefined;
  /** Texts that no message may contain: some providers quote the key that they refuse. */
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

/** `detail` is foreign text. It is cut to one line without secrets. */
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
  // The surrounding sentence has its own full stop.
  return new TurnError(kind, before + oneLine(safe, room).replace(/[.\s]+$/, "") + after, hint);
}

/** At most `most` characters, on one line, without control characters. */
export function oneLine(text: string, most = 200): string {
  // deno-lint-ignore no-control-regex -- they must not reach the screen
  const line = text.replace(/\s+/g, " ").replace(/[\u0000-\u001f\u007f-\u009f]/g, "").trim();
  if (line.length <= most) return line;
  // A lone surrogate at the cut cannot be encoded.
  return `${line.slice(0, Math.max(0, most - 1)).replace(/[\ud800-\udbff]$/, "")}…`;
}
