import assert from "node:assert/strict";
import { filledIn, promptCall, readPromptFile } from "./prompt_file.ts";

Deno.test("a prompt file: its settings, or its first line, and what is wrong with it", () => {
  const file =
    '---\ndescription: "Port: it"\nargument-hint: [from] [to]\nallowed-tools: Bash(*)\nmodel: opus\n---\n\nPort $1 to $2.\n';
  assert.deepEqual(readPromptFile(file, "port"), {
    name: "port",
    description: "Port: it",
    hint: "[from] [to]",
    text: "Port $1 to $2.",
  });
  assert.equal(readPromptFile("\ufeff# Look around\n\nWell.", "look").description, "Look around");
  assert.throws(() => readPromptFile("---\nmodel: x\n---\n", "x"), /it is empty/);
  assert.throws(() => readPromptFile("text", "two words"), /its name must be/);
  assert.throws(() => readPromptFile("x".repeat(20_000), "long"), /more than 16000/);
});

Deno.test("a message calls a prompt by its name, and nothing else does", () => {
  assert.deepEqual(promptCall("/fix the imports\nand more"), { name: "fix", args: "the imports\nand more" });
  assert.deepEqual(promptCall(" /fix "), { name: "fix", args: "" });
  for (const message of ["fix", "/etc/passwd is odd", "/ fix", "see /fix", "//x", "/a.b"]) {
    assert.equal(promptCall(message), undefined, message);
  }
});

Deno.test("arguments go where they belong, as they are", () => {
  assert.equal(filledIn({ text: "Port $1 to $2." }, `"a b" c d`), "Port a b to c.");
  assert.equal(filledIn({ text: "All: $ARGUMENTS." }, "$1 $& x"), "All: $1 $& x.");
  assert.equal(filledIn({ text: "Costs $100, $VAR" }, ""), "Costs $100, $VAR");
  assert.equal(filledIn({ text: "Look." }, "at it"), "Look.\n\nat it");
  assert.equal(filledIn({ text: "Look $3" }, "at it"), "Look");
});
