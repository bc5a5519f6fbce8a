/** Thoughts that an answer's text repeats. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { runs } from "../../../../tests/support/runs.ts";
import { Assembly } from "./assemble.ts";
import type { ModelEvent } from "./client.ts";
import { withoutEcho } from "./echo.ts";
import type { Delta } from "./wire/wire.ts";

const THOUGHT = "I look at the file.\nThen I fix it.";

function thought(text: string): Delta {
  return { type: "thought", text };
}

function text(text: string): Delta {
  return { type: "text", text };
}

async function* events(deltas: readonly Delta[]): AsyncGenerator<ModelEvent, void> {
  await Promise.resolve();
  for (const delta of deltas) yield { type: "deltas", deltas: [delta] };
  yield { type: "done" };
}

/** What an answer of these deltas comes to. */
async function read(deltas: readonly Delta[]) {
  const assembly = new Assembly("turn");
  for await (const event of withoutEcho(events(deltas))) {
    if (event.type === "deltas") { for (const delta of event.deltas) assembly.add(delta); }
  }
  const { reasoning: [first], calls } = assembly.message({ withCalls: true });
  return { text: assembly.text, thought: first?.type === "plain" ? first.text : "", calls: calls.length };
}

function pieces(text: string, size: number): readonly string[] {
  return text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
}

const cases: readonly (readonly [what: string, answer: string, text: string])[] = [
  ["its lines, then the answer", `${THOUGHT}\n\nDone.`, "Done."],
  ["with other white space", "\n I look at the file. Then I fix it.\n\n\nDone.", "Done."],
  ["on one line", "I look at the file. Then I fix it. Done.", "Done."],
  ["without white space behind it", `${THOUGHT}Done.`, "Done."],
  ["another answer", "I look at it.", "I look at it."],
  ["the beginning of it", "I look at the file.", "I look at the file."],
  ["a word that goes on", `${THOUGHT.slice(0, -1)}s in time.`, `${THOUGHT.slice(0, -1)}s in time.`],
  ["only white space", " \n", " \n"],
];

for (const [what, answer, expected] of cases) {
  Deno.test(`an answer that begins with its thought: ${what}`, async () => {
    for (const size of [1, 3, 1_000]) {
      const deltas = [...pieces(THOUGHT, size).map(thought), ...pieces(answer, size).map(text)];
      assert.deepEqual(
        await read(deltas),
        { text: expected, thought: THOUGHT, calls: 0 },
        `pieces of ${size}`,
      );
    }
  });
}

Deno.test("a short thought is repeated only on lines of its own", async () => {
  assert.equal((await read([thought("Yes."), text("Yes.\nIt does.")])).text, "It does.");
  assert.equal((await read([thought("Yes."), text("Yes. It does.")])).text, "Yes. It does.");
  assert.equal(
    (await read([thought("Let me look at the file"), text("Let me look at the file first.")])).text,
    "Let me look at the file first.",
  );
});

Deno.test("an answer of nothing else is the answer, unless calls follow it", async () => {
  assert.deepEqual(await read([thought(THOUGHT), text(THOUGHT)]), { text: THOUGHT, thought: "", calls: 0 });
  const call: Delta = { type: "call_start", index: 0, id: "1", name: "read" };
  assert.deepEqual(await read([thought(THOUGHT), text(`${THOUGHT}\n`), call]), {
    text: "",
    thought: THOUGHT,
    calls: 1,
  });
  const cut: Delta = { type: "finish", reason: "length" };
  assert.equal((await read([thought(THOUGHT), text(THOUGHT), cut])).thought, THOUGHT);
});

Deno.test("both may stream at the same time, and text may turn out to be a thought", async () => {
  const both = pieces(THOUGHT, 4).flatMap((piece) => [thought(piece), text(piece)]);
  assert.equal((await read([...both, text("\n\nDone.")])).text, "Done.");
  const late: readonly Delta[] = [text(THOUGHT), { type: "text_was_thought" }, text(`\n${THOUGHT}\n\nDone.`)];
  assert.deepEqual(await read(late), { text: "Done.", thought: THOUGHT, calls: 0 });
  const between = [thought("Hm."), text("Hm, so."), thought("Hm, so.")];
  assert.equal((await read([...between, text("\nHm.\n")])).text, "Hm, so.\nHm.\n");
});

Deno.test("no text is lost but the echo", async () => {
  const word = fc.constantFrom("I ", "look.", "\n", " ", "fix", "");
  const words = fc.array(word, { maxLength: 8 });
  const property = fc.asyncProperty(words, words, async (thoughts, texts) => {
    const all = texts.join("");
    const { text: left, thought: kept } = await read([...thoughts.map(thought), ...texts.map(text)]);
    assert.ok(all.endsWith(left), "it is the end of the text");
    const plain = (part: string) => part.replaceAll(/\s/g, "");
    const echo = plain(all.slice(0, all.length - left.length));
    assert.ok(echo === "" || echo === plain(kept));
  });
  await fc.assert(property, runs(200));
});

Deno.test("its cost is linear", async () => {
  await assertEachLinear(["echo", "both", "other", "lines"], (row, size) => async () => {
    const words = (row === "lines" ? "\n" : "look. ").repeat(size);
    const deltas = pieces(`a${words}`, 5).flatMap((piece) =>
      row === "both" ? [thought(piece), text(piece)] : [thought(piece)]
    );
    const answer = row === "both" ? [] : pieces(`${row === "other" ? "b" : "a"}${words}\nDone.`, 5).map(text);
    await read([...deltas, ...answer]);
  }, 2_000);
});
