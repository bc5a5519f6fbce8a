/** Thoughts in the text of answers, as servers leave them there. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { cuts } from "../../../../tests/support/pieces.ts";
import { runs } from "../../../../tests/support/runs.ts";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { IS_FULL } from "../../../../tests/support/sample.ts";
import type { FinishReason } from "../log/model_request.ts";
import { Assembly } from "./assemble.ts";
import type { ModelEvent } from "./client.ts";
import { type ThoughtHabit, THOUGHTS, withThoughts } from "./thoughts.ts";
import type { Delta } from "./wire/wire.ts";

async function* told(deltas: readonly Delta[]): AsyncGenerator<ModelEvent, void> {
  await Promise.resolve();
  for (const delta of deltas) yield { type: "deltas", deltas: [delta] };
  yield { type: "done" };
}

/** What an answer comes to that is told in these pieces. */
async function heard(
  pieces: readonly string[],
  { habit = { swallowed: undefined }, finish = "stop" }: { habit?: ThoughtHabit; finish?: FinishReason } = {},
) {
  const assembly = new Assembly("turn");
  const texts = pieces.map((text): Delta => ({ type: "text", text }));
  const events = await Array.fromAsync(
    withThoughts(told([...texts, { type: "finish", reason: finish }]), habit),
  );
  const deltas = events.flatMap((event) => event.type === "deltas" ? event.deltas : []);
  for (const delta of deltas) assembly.add(delta);
  const [thought] = assembly.message({ withCalls: true }).reasoning;
  return { text: assembly.text, thought: thought?.type === "plain" ? thought.text : "", deltas };
}

function split(text: string, places: readonly number[]): readonly string[] {
  const inner = places.map((share) => Math.floor(share * (text.length + 1)));
  const at = [...new Set([0, ...inner, text.length])].sort((a, b) => a - b);
  return at.slice(1).map((end, index) => text.slice(at[index], end));
}

const cases: readonly (readonly [what: string, answer: string, thought: string, text: string])[] = [
  ["DeepSeek, Qwen", "<think>\nI look.\n</think>\n\nDone.", "I look.", "Done."],
  ["no line ends", "<think>I look.</think>Done.", "I look.", "Done."],
  ["empty lines before it", "\n\n<think>\nHm.\n</think>\n\nDone.", "Hm.", "Done."],
  ["an empty one", "<think>\n\n</think>\n\nDone.", "", "Done."],
  ["Seed-OSS", "<seed:think>Hm.</seed:think>Done.", "Hm.", "Done."],
  ["Kimi", "◁think▷Hm.◁/think▷Done.", "Hm.", "Done."],
  ["Magistral", "[THINK]Hm.[/THINK]Done.", "Hm.", "Done."],
  ["Command A", "<|START_THINKING|>Hm.<|END_THINKING|>Done.", "Hm.", "Done."],
  ["Gemma 4", "<|channel>thought\nHm.<channel|>Done.", "Hm.", "Done."],
  ["Granite", "Here is my thought process:\nHm.\nHere is my response:\nDone.", "Hm.", "Done."],
  ["two thoughts", "<think>One.</think>\n<think>Two.</think>\nDone.", "One.Two.", "Done."],
  [
    "another mark within",
    "<thinking>Is it <think> or not?</thinking>Done.",
    "Is it <think> or not?",
    "Done.",
  ],
  [
    "thoughts about the mark",
    "<think>I write `</think>` at the end.</think>Done.",
    "I write `</think>` at the end.",
    "Done.",
  ],
  ["the opening mark was swallowed", "I look.\n</think>\n\nDone.", "I look.", "Done."],
  ["the same without a line end before it", "I look.</think>\n\nDone.", "I look.", "Done."],
  ["the same with nothing behind it", "I look.\n</think>", "I look.", ""],
  [
    "it was swallowed, and code was thought of",
    "See:\n```\na < b\n```\nSo.\n</think>\nDone.",
    "See:\n```\na < b\n```\nSo.",
    "Done.",
  ],
  [
    "gpt-oss",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Done.<|return|>",
    "Hm.",
    "Done.",
  ],
  [
    "gpt-oss, words to the user before the end",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>final<|message|> Done.",
    "Hm.",
    "I look. Done.",
  ],
  ["gpt-oss without its marks", "analysisThe user asks.assistantfinalDone.", "The user asks.", "Done."],
  ["never closed: the answer", "<think>Done, I think.", "", "Done, I think."],

  ["no thoughts", "Done.", "", "Done."],
  ["white space and words", "\n  Done.", "", "\n  Done."],
  [
    "who answers about the mark",
    "<think> is the mark that opens a thought.",
    "",
    "<think> is the mark that opens a thought.",
  ],
  ["and about both", "<think> opens and </think> closes it.", "", "<think> opens and </think> closes it."],
  [
    "in words",
    "The model writes <think> and then </think> again.",
    "",
    "The model writes <think> and then </think> again.",
  ],
  ["in backticks", "`<think>` opens\n`</think>`\ncloses", "", "`<think>` opens\n`</think>`\ncloses"],
  [
    "in a fence",
    "```\n<think>\nHm.\n</think>\n```\nSo it is.",
    "",
    "```\n<think>\nHm.\n</think>\n```\nSo it is.",
  ],
  ["a fence at the beginning", "```html\n</think>\n```\n", "", "```html\n</think>\n```\n"],
  ["after words", "Look:\n<think>\nHm.", "", "Look:\n<think>\nHm."],
  ["half a mark", "<thin", "", "<thin"],
  ["a comparison", "a < b and c <think", "", "a < b and c <think"],
  ["a word", "analysis is a word", "", "analysis is a word"],
  ["a thesis", "Here is my thought process: I looked.", "", "Here is my thought process: I looked."],
  ["half of harmony", "<|channel|>analysis", "", "<|channel|>analysis"],
  ["harmony in words", "The mark <|channel|> opens a header.", "", "The mark <|channel|> opens a header."],
  [
    "a call of gpt-oss stays as it is",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.list <|constrain|>json<|message|>{}<|call|>",
    "Hm.",
    "<|start|>assistant<|channel|>commentary to=functions.list <|constrain|>json<|message|>{}<|call|>",
  ],
];

for (const [what, answer, thought, text] of cases) {
  Deno.test(`thoughts in the text: ${what}`, async () => {
    const whole = await heard([answer]);
    assert.deepEqual([whole.thought, whole.text], [thought, text]);
    for (
      const pieces of [
        [...answer],
        ...[2, 3, 7].map((size) => answer.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []),
      ]
    ) {
      const cut = await heard(pieces);
      assert.deepEqual([cut.thought, cut.text], [thought, text], JSON.stringify(pieces));
    }
  });
}

const marks = [...THOUGHTS].flat();
const atoms = fc.oneof(
  fc.constantFrom(
    ...marks,
    ...marks,
    "\n",
    "\n\n",
    "`",
    "```\n",
    "Hm.",
    " is",
    "<|channel|>analysis<|message|>",
  ),
  fc.constantFrom(
    "<|end|>",
    "<|start|>assistant<|channel|>final<|message|>",
    "analysisThe",
    "assistantfinal",
    "<",
    "</th",
  ),
  fc.string({ maxLength: 8 }),
);

Deno.test("any split of an answer tells the same, and nothing of it is lost", async () => {
  const finish = fc.constantFrom<FinishReason>("stop", "length", "tool_calls");
  const swallowed = fc.constantFrom(undefined, "</think>");
  await fc.assert(
    fc.asyncProperty(
      fc.array(atoms, { maxLength: 12 }),
      cuts,
      finish,
      swallowed,
      async (parts, places, finish, swallowed) => {
        const answer = parts.join("");
        const whole = await heard([answer], { finish, habit: { swallowed } });
        const cut = await heard(split(answer, places), { finish, habit: { swallowed } });
        assert.deepEqual([cut.thought, cut.text], [whole.thought, whole.text]);
        // But for marks and white space.
        const left =
          marks.concat("<|end|>", "<|start|>", "<|message|>", "<|return|>", "<|call|>", "<|channel|>")
            .concat("analysis", "assistantfinal", "assistant", "final")
            .reduce((text, mark) => text.replaceAll(mark, " "), answer).match(/[a-zA-Z.]{3,}/g) ?? [];
        for (const word of left) assert.ok(`${whole.thought}${whole.text}`.includes(word), word);
      },
    ),
    runs(2_000),
  );
});

Deno.test("a thought is told as it comes, and so is the answer", async () => {
  const pieces = ["<thi", "nk>\nOne", " two </thi", "nk>\n", "\nDone", ". a </think>\n"];
  const { deltas } = await heard(pieces);
  assert.deepEqual(deltas.slice(0, -1), [
    { type: "thought", text: "One" },
    { type: "thought", text: " two " },
    { type: "text", text: "Done" },
    { type: "text", text: ". a </think>\n" },
  ]);
});

Deno.test("what is learnt of a server counts for its next answers, until one is another way", async () => {
  const habit: ThoughtHabit = { swallowed: undefined };
  const types = (
    { deltas }: { readonly deltas: readonly Delta[] },
  ) => [...new Set(deltas.map(({ type }) => type))];
  const first = await heard(["I ", "look.\n</think>\n", "Done."], { habit });
  assert.deepEqual(types(first), ["text", "text_was_thought", "finish"]);
  const second = await heard(["I ", "look.\n</think>\n", "Done."], { habit });
  assert.deepEqual(types(second), ["thought", "text", "finish"]);
  assert.deepEqual([second.thought, second.text], ["I look.", "Done."]);
  const third = await heard(["Done."], { habit });
  assert.deepEqual([third.thought, third.text], ["", "Done."]);
  assert.deepEqual(types(await heard(["Done."], { habit })), ["text", "finish"]);
});

Deno.test("a thought that is cut off at the limit stays one", async () => {
  const cut = await heard(["<think>I loo"], { finish: "length" });
  assert.deepEqual([cut.thought, cut.text], ["I loo", ""]);
});

Deno.test("linear: small pieces of a long answer, whatever it is made of", async () => {
  const parts = [
    "<think>",
    "</think>",
    "</think> x",
    "`</think>`",
    "<",
    "\n```\n</think>",
    "a b c d ",
    "   ",
    "<|end|>",
  ];
  const starts = ["", "<think>", "<think> is", "<|channel|>analysis<|message|>", "analysisX"];
  await assertEachLinear(parts, (part, size) => async () => {
    for (const start of starts) {
      const pieces = (start + part.repeat(size / part.length)).match(/[^]{1,5}/g) ?? [];
      await heard(pieces);
      await heard([pieces.join("")]);
    }
  }, IS_FULL ? 5_000 : 1_000);
});
