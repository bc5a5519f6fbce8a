/** When to retry a failed request. Pure. */

export const TRIES = 5;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** The longest wait that a provider may request. */
export const GIVE_UP_MS = 10 * 60_000;

export function isRetryable(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/**
 * Milliseconds before attempt `attempt + 1`: the provider's value, otherwise exponential with jitter.
 * @param random in [0, 1)
 */
export function waitMs(attempt: number, headers: Headers | undefined, now: number, random: number): number {
  const serverWait = headers === undefined ? undefined : askedWait(headers, now);
  if (serverWait !== undefined) return serverWait;
  const full = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  return Math.round(full * (0.5 + random / 2));
}

/** Reads retry-after (seconds or a date), retry-after-ms, and the rest of an exhausted x-ratelimit budget. */
function askedWait(headers: Headers, now: number): number | undefined {
  const milliseconds = amount(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return milliseconds;
  const after = headers.get("retry-after") ?? "";
  const seconds = amount(after);
  if (seconds !== undefined) return seconds * 1_000;
  // Accept only HTTP dates: Date.parse accepts nearly any text.
  const date = /^[A-Za-z]{3,9},? /.test(after) ? Date.parse(after) : NaN;
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  for (const kind of ["requests", "tokens"]) {
    if (headers.get(`x-ratelimit-remaining-${kind}`) !== "0") continue;
    const reset = duration(headers.get(`x-ratelimit-reset-${kind}`) ?? "");
    if (reset !== undefined) return reset;
  }
  return undefined;
}

function amount(text: string | null): number | undefined {
  return text !== null && /^\d{1,12}(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** OpenAI's durations: "1s", "6m0s", "20ms", "1h2m". */
function duration(text: string): number | undefined {
  const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  if (parts.length === 0) return undefined;
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ""] ?? 0), 0);
}
