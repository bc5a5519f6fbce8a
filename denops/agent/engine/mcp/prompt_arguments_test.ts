import assert from "node:assert/strict";
import { argumentsOf } from "./prompt_arguments.ts";

const known = (...names: readonly string[]) => ({
  name: "p",
  description: "",
  arguments: names.map((name) => ({ name: name.replace("!", ""), required: name.endsWith("!") })),
});

Deno.test("a prompt's arguments are named, quoted, or the only one without a name", () => {
  assert.deepEqual(argumentsOf(known("a!", "b"), 'a=1 b="two words"'), { a: "1", b: "two words" });
  assert.deepEqual(argumentsOf(known("a!", "b"), "some words"), { a: "some words" });
  assert.deepEqual(argumentsOf(known("a!", "b"), "b=2 url?x=1"), { b: "2", a: "url?x=1" });
  assert.deepEqual(argumentsOf(known(), "ignored"), {});
  assert.throws(() => argumentsOf(known("a!", "b!"), "a=1"), /the prompt p needs b=…/);
});
