/** Whole answers as a session reads them: thoughts, words, calls. At once, and in pieces of any length. */
import assert from "node:assert/strict";
import { CALL_FORMATS } from "../../../../../tests/support/text_calls/formats.ts";
import { SHOWN_CALLS } from "../../../../../tests/support/text_calls/examples.ts";
import {
  AFTER_WORDS,
  LONG_WRITES,
  ODD_ANSWERS,
  SPOKEN_CALLS,
  type SpokenCalls,
} from "../../../../../tests/support/text_calls/situations.ts";
import { hear, type Heard, pieces } from "../../../../../tests/support/text_calls/hear.ts";
import { MORE_SHOWN, MORE_SPOKEN } from "../../../../../tests/support/text_calls/more_answers.ts";
import { IS_FULL, sample } from "../../../../../tests/support/sample.ts";

function isRight({ calls, words }: SpokenCalls, heard: Heard): boolean {
  return heard.words === words.trim() && JSON.stringify(heard.calls) === JSON.stringify(calls);
}

Deno.test("a call that an answer shows, quotes, documents or announces does not run", async () => {
  assert.ok(SHOWN_CALLS.length >= 150 && MORE_SHOWN.length >= 1_000);
  const wrong: string[] = [];
  for (const [index, { what, model, text }] of [...SHOWN_CALLS, ...sample(MORE_SHOWN, 150)].entries()) {
    const ways = IS_FULL ? [[text], pieces(text, index)] : [index % 3 > 0 ? [text] : pieces(text, index)];
    for (const way of ways) {
      const { calls } = await hear(model, way);
      if (calls.length > 0) wrong.push(what);
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("of a hundred calls behind words at least ninety-eight are made, and the words are shown", async () => {
  assert.ok(MORE_SPOKEN.length >= 600);
  const some = sample(MORE_SPOKEN, 150);
  const wrong: string[] = [];
  for (const [index, answer] of some.entries()) {
    const { text, model, what } = answer;
    const ways = IS_FULL ? [[text], pieces(text, index)] : [index % 3 > 0 ? [text] : pieces(text, index)];
    const heard = await Promise.all(ways.map((way) => hear(model, way)));
    if (!heard.every((one) => isRight(answer, one))) wrong.push(what);
  }
  assert.ok(wrong.length <= some.length / 50, wrong.join("\n"));
});

Deno.test("of a known family its own syntax counts, and the one that any model writes", async () => {
  const foreign = CALL_FORMATS.filter(({ who }) =>
    /^(?:Mistral|Kimi|gpt-oss|DeepSeek|Gemma 4|LFM2|Command)/.test(who)
  );
  assert.ok(foreign.length >= 10);
  for (const { who, write } of foreign) {
    const text = `I delete it:\n\n${write([{ name: "delete_file", arguments: { path: "a" } }])}`;
    assert.equal((await hear("qwen3-coder", [text])).calls.length, 0, who);
    assert.equal((await hear("my-own-model", [text])).calls.length, 1, who);
  }
});

Deno.test("an answer's calls are made in every format, byte for byte, and its words are shown", async () => {
  const all = [...ODD_ANSWERS, ...AFTER_WORDS, ...SPOKEN_CALLS];
  assert.ok(all.length >= 450);
  const inPieces = sample(all, 60);
  const wrong: unknown[] = [];
  for (const [index, answer] of all.entries()) {
    const ways = [[answer.text], ...inPieces.includes(answer) ? [pieces(answer.text, index)] : []];
    for (const way of ways) {
      const heard = await hear(answer.model, way);
      if (!isRight(answer, heard)) {
        wrong.push({ what: answer.what, pieces: way.length, text: answer.text, heard });
      }
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("a write that is cut off anywhere runs whole or not at all", async () => {
  const step = IS_FULL ? 1 : 61;
  const wrong: string[] = [];
  for (const [index, { what, model, text, calls }] of LONG_WRITES.entries()) {
    for (let end = 1 + index % step; end < text.length; end += step) {
      const heard = await hear(model, [text.slice(0, end)]);
      if (heard.calls.some((call) => JSON.stringify(call) !== JSON.stringify(calls[0]))) {
        wrong.push(`${what}, cut at ${end}: ${JSON.stringify(heard.calls)}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});
