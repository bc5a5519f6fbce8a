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
import { user } from "../../../../../tests/support/histories.ts";
import { IS_FULL, sample } from "../../../../../tests/support/sample.ts";
import { Prompt } from "../../log/messages.ts";
import { TOOLS } from "../../tools/registry.ts";
import { Assembly } from "../assemble.ts";
import type { ModelEvent } from "../client.ts";
import { withoutEndMark } from "../end_mark.ts";
import { withThoughts } from "../thoughts.ts";
import { withTextCalls } from "./reading.ts";
import { isUnread } from "./tools.ts";

const prompt = new Prompt("Be brief.", [user("Hi")], TOOLS.map(({ spec }) => spec));

interface Heard {
  readonly words: string;
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
}

/** What comes of an answer. Calls that cannot be read are none that run. */
async function hear(model: string, pieces: readonly string[]): Promise<Heard> {
  async function* events(): AsyncGenerator<ModelEvent, void> {
    for (const text of pieces) {
      yield await Promise.resolve({ type: "deltas", deltas: [{ type: "text", text }] });
    }
    yield { type: "done" };
  }
  const assembly = new Assembly();
  const thoughts = withThoughts(events(), { swallowed: undefined });
  for await (
    const event of withoutEndMark(withTextCalls(thoughts, prompt, { model, callsInText: true }, () => {}))
  ) {
    if (event.type === "deltas") event.deltas.forEach((delta) => assembly.add(delta));
  }
  const calls = assembly.calls.filter(({ arguments: args }) => !isUnread(args));
  return {
    words: assembly.text.trim(),
    calls: calls.map(({ name, arguments: args }) => ({ name, arguments: JSON.parse(args) })),
  };
}

/** Pieces of 1 to 12 characters, the same for the same number. */
function pieces(text: string, number: number): readonly string[] {
  const list: string[] = [];
  let random = number * 2_654_435_761 + 1;
  for (let at = 0; at < text.length;) {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
    const length = 1 + Math.floor(random / 1_000) % 12;
    list.push(text.slice(at, at + length));
    at += length;
  }
  return list;
}

function isRight({ calls, words }: SpokenCalls, heard: Heard): boolean {
  return heard.words === words.trim() && JSON.stringify(heard.calls) === JSON.stringify(calls);
}

Deno.test("a call that an answer shows, quotes, documents or announces does not run", async () => {
  assert.ok(SHOWN_CALLS.length >= 150);
  const wrong: string[] = [];
  for (const [index, { what, model, text }] of SHOWN_CALLS.entries()) {
    const at = index % 2 === 0 ? [text] : pieces(text, index);
    const { calls } = await hear(model, at);
    if (calls.length > 0) wrong.push(what);
  }
  assert.deepEqual(wrong, []);
});

Deno.test("of a known family its own syntax counts, and the one that any model writes", async () => {
  const foreign = CALL_FORMATS.filter(({ who }) =>
    /^(?:Mistral|Kimi|gpt-oss|DeepSeek|Gemma 4|LFM2|Command)/.test(who)
  );
  assert.ok(foreign.length >= 10);
  for (const { who, write } of foreign) {
    const text = `Such models end with\n\n${write([{ name: "delete_file", arguments: { path: "a" } }])}`;
    assert.equal((await hear("qwen3-coder", [text])).calls.length, 0, who);
    assert.equal((await hear("my-own-model", [text])).calls.length, 1, who);
  }
});

Deno.test("an answer's calls are made in every format, byte for byte, and its words are shown", async () => {
  const all = [...ODD_ANSWERS, ...AFTER_WORDS, ...SPOKEN_CALLS];
  assert.ok(all.length >= 450);
  const inPieces = sample(all, 150);
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
