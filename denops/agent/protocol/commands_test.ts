import assert from "node:assert/strict";
import { isChangedSince } from "./commands.ts";

/** Milliseconds; the change time is known in whole seconds. */
const CASES: readonly [name: string, mtime: number, ctime: number, changed: boolean][] = [
  ["written long before", 1_000, 1_000, false],
  ["written in the same second, before", 10_100, 10_000, false],
  ["written by a rename at the turn of the second", 9_999, 10_000, false],
  ["written after", 10_300, 10_000, true],
  ["renamed or made read-only after, content from long before", 1_000, 10_000, true],
  ["made read-only in a later second", 10_100, 11_000, true],
];

for (const [name, mtime, ctime, changed] of CASES) {
  Deno.test(`a file that was ${name}: ${changed ? "changed" : "unchanged"} since a command began`, () => {
    const times = { mtime: new Date(mtime), ctime: new Date(ctime) };
    assert.equal(isChangedSince(times, 10_200), changed);
  });
}
