import assert from "node:assert/strict";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { fitArguments } from "./calls/fit_arguments.ts";
import { titleText } from "./define.ts";
import { subagent } from "./subagent.ts";
import { write } from "./write.ts";

Deno.test("an argument in a title is one line, and says if it was cut, never in the middle of a character", () => {
  assert.equal(titleText("a\n  b"), "a b");
  assert.equal(titleText("x".repeat(120)), "x".repeat(120));
  assert.equal(titleText("x".repeat(121)), `${"x".repeat(119)}…`);
  assert.equal(titleText(`${"x".repeat(118)}😀yy`), `${"x".repeat(118)}…`);
  assert.equal(titleText(""), "…");
  assert.equal(titleText(7, "."), ".");
});

Deno.test("the line of a sub-agent's call has its title, by the names of other agents too, or else its task", () => {
  const task = "Where is\ngreet used?";
  assert.equal(subagent.title({ title: "Find greet", task, mode: "review" }), "review: Find greet");
  assert.equal(subagent.title({ description: "Find greet", prompt: task }), "explore: Find greet");
  assert.equal(subagent.title({ prompt: task }), "explore: Where is greet used?");
});

Deno.test("the names of thousands of unknown arguments are not repeated to the model", async () => {
  const keys = Array.from({ length: 5_000 }, (_, at) => [`${at}${"x".repeat(200)}`, at]);
  const args = { path: "a", content: "b", ...Object.fromEntries(keys) };
  const context: unknown = {};
  await assert.rejects(
    // No part of the context is reached.
    async () => await write.prepare(args, Object(context), new AbortController().signal),
    ({ message }: Error) => {
      assert.ok(message.includes("4990 more; it takes path, content."), message);
      return message.length < 2_000;
    },
  );
});

Deno.test("one argument in many spellings costs time in proportion", async () => {
  await assertEachLinear(["content"], (_, size) => {
    // Different names of the same length: the bytes of all grow with their number.
    const spellings = Array.from(
      { length: size },
      (_, at) => [`c${"-".repeat(at)}onten${"-".repeat(600 - at)}t`, at],
    );
    const args = { content: "x".repeat(size * 100), ...Object.fromEntries(spellings) };
    return () => fitArguments(args, { name: write.name, parameters: write.schema });
  }, 150);
});
