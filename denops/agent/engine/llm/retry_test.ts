import assert from "node:assert/strict";
import fc from "fast-check";
import { isRetryable, waitMs } from "./retry.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

const statuses: readonly (readonly [status: number, again: boolean])[] = [
  [400, false],
  [401, false],
  [403, false],
  [404, false],
  [408, true],
  [409, true],
  [413, false],
  [422, false],
  [429, true],
  [500, true],
  [502, true],
  [503, true],
  [529, true],
];

for (const [status, again] of statuses) {
  Deno.test(`HTTP ${status} is ${again ? "" : "not "}tried again`, () =>
    assert.equal(isRetryable(status), again));
}

/** `undefined`: the headers ask for nothing, so the wait is our own. */
const asked: readonly (readonly [headers: Readonly<Record<string, string>>, wait: number | undefined])[] = [
  [{}, undefined],
  [{ "retry-after": "3" }, 3_000],
  [{ "retry-after": "0" }, 0],
  [{ "retry-after": "1.5" }, 1_500],
  [{ "retry-after": " 2 " }, 2_000],
  [{ "retry-after": "" }, undefined],
  [{ "retry-after": "-5" }, undefined],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "Infinity" }, undefined],
  [{ "retry-after": "86400" }, 86_400_000],
  [{ "retry-after": "Thu, 01 Jan 2026 00:00:07 GMT" }, 7_000],
  [{ "retry-after": "Wed, 31 Dec 2025 23:59:00 GMT" }, 0],
  [{ "retry-after-ms": "250" }, 250],
  [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
  [{ "retry-after-ms": "", "retry-after": "9" }, 9_000],
  [{ "retry-after-ms": "x" }, undefined],
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "20ms" }, 20],
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s" }, 360_000],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1h2m3.5s" }, 3_723_500],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "2m59.56s" }, 179_560],
  [{ "x-ratelimit-remaining-requests": "12", "x-ratelimit-reset-requests": "20ms" }, undefined],
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "later" }, undefined],
  [{ "x-ratelimit-remaining-requests": "0" }, undefined],
  [{ "retry-after": "1", "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1h" }, 1_000],
];

for (const [headers, wait] of asked) {
  Deno.test(`the wait of ${JSON.stringify(headers)}`, () => {
    assert.equal(waitMs(1, new Headers(headers), NOW, 0), wait ?? 500);
  });
}

Deno.test("without headers the wait doubles from half a second to a second, up to a minute", () => {
  const waits = (random: number) =>
    [1, 2, 3, 4, 5, 9, 40].map((attempt) => waitMs(attempt, undefined, NOW, random));
  assert.deepEqual(waits(0), [500, 1_000, 2_000, 4_000, 8_000, 30_000, 30_000]);
  assert.deepEqual(waits(0.999999), [1_000, 2_000, 4_000, 8_000, 16_000, 60_000, 60_000]);
});

Deno.test("whatever the headers say, the wait is a number of milliseconds from 0", () => {
  const value = fc.oneof(
    fc.string(),
    fc.double().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  );
  const text = value.map((text) => text.replace(/[^\x20-\x7e]/g, ""));
  const names = ["retry-after", "retry-after-ms", "x-ratelimit-reset-tokens"] as const;
  fc.assert(fc.property(fc.constantFrom(...names), text, (name, value) => {
    const headers = new Headers({ "x-ratelimit-remaining-tokens": "0", [name]: value });
    const wait = waitMs(1, headers, NOW, 0);
    assert.ok(Number.isFinite(wait) && wait >= 0, `${value}: ${wait}`);
  }));
});
