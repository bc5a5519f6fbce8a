import assert from "node:assert/strict";
import { outcomesOf } from "./hunk_outcomes.ts";

type Write = Parameters<typeof outcomesOf>[0][number];

const BASE = "a\nb\nc\nd\ne\nf\n";

/** Before and after, or after alone, which goes on from the write before. */
function writes(...texts: readonly string[]): readonly Write[] {
  return texts.slice(1).map((after, at) => ({ before: texts[at] ?? "", after }));
}

function said(all: readonly Write[], now: string): string {
  return (outcomesOf(all, now) ?? []).map(({ kept, changed, undone }) => `${kept} ${changed} ${undone}`).join(
    ", ",
  );
}

const ONE = writes(BASE, "a\nB\nc\nd\nE\nE2\nf\n");

const cases: readonly (readonly [what: string, writes: readonly Write[], now: string, outcomes: string])[] = [
  ["both hunks stay", ONE, "a\nB\nc\nd\nE\nE2\nf\n", "2 0 0"],
  ["one is taken back", ONE, "a\nb\nc\nd\nE\nE2\nf\n", "1 0 1"],
  ["all is taken back", ONE, BASE, "0 0 2"],
  ["the user changes a line of one", ONE, "a\nB\nc\nd\nE\nE3\nf\n", "1 1 0"],
  ["the user takes a line out of one", ONE, "a\nB\nc\nd\nE\nf\n", "1 1 0"],
  ["the user writes into one", ONE, "a\nB\nc\nd\nE\nmine\nE2\nf\n", "1 1 0"],
  ["the user writes beside them", ONE, "mine\na\nB\nmine\nc\nd\nmine\nE\nE2\nmine\nf\n", "2 0 0"],
  ["removed lines stay removed", writes(BASE, "a\nd\ne\nf\n"), "a\nd\ne\nF\n", "1 0 0"],
  ["removed lines come back", writes(BASE, "a\nd\ne\nf\n"), BASE, "0 0 1"],
  ["half of them comes back", writes(BASE, "a\nd\ne\nf\n"), "a\nb\nd\ne\nf\n", "0 1 0"],
  ["a new file stays", writes("", "x\ny\n"), "x\ny\n", "1 0 0"],
  ["a new file is changed", writes("", "x\ny\n"), "x\nz\n", "0 1 0"],
  ["a new file is taken back", writes("", "x\ny\n"), "", "0 0 1"],
  [
    "two writes of two places",
    writes(BASE, "A\nb\nc\nd\ne\nf\n", "A\nb\nc\nd\ne\nF\n"),
    "A\nb\nc\nd\ne\nf\n",
    "1 0 0, 0 0 1",
  ],
  [
    "the second write changes what the first wrote",
    writes(BASE, "A\nb\nc\nd\ne\nf\n", "AA\nb\nc\nd\ne\nf\n"),
    "AA\nb\nc\nd\ne\nf\n",
    "0 0 0, 1 0 0",
  ],
  [
    "the user changes the first one's line between the two",
    [{ before: BASE, after: "A\nb\nc\nd\ne\nf\n" }, {
      before: "mine\nb\nc\nd\ne\nf\n",
      after: "mine\nb\nc\nd\ne\nF\n",
    }],
    "mine\nb\nc\nd\ne\nF\n",
    "0 1 0, 1 0 0",
  ],
  ["CRLF is no change", [{ before: "a\r\nb\r\n", after: "a\r\nB\r\n" }], "a\nB\n", "1 0 0"],
  ["nothing was changed", writes(BASE, BASE), BASE, "0 0 0"],
];

for (const [what, all, now, outcomes] of cases) {
  Deno.test(`outcome of hunks: ${what}`, () => assert.equal(said(all, now), outcomes));
}
