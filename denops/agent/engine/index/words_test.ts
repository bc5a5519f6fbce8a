import assert from "node:assert/strict";
import { chunksOf } from "./chunks.ts";
import { matchOf, questionWords, splitNames } from "./words.ts";

Deno.test("names are split as people read them", () => {
  assert.equal(splitNames("parseHTTPServerName v2Beta"), "parse HTTP Server Name v2 Beta");
});

Deno.test("a question has its telling words and other words for them", () => {
  const { words, synonyms } = questionWords("Where are folders deleted, and why?");
  assert.deepEqual(words, ["folders", "deleted"]);
  assert.ok(["directory", "remove"].every((word) => synonyms.includes(word)), synonyms.join(" "));
  assert.deepEqual(questionWords("what is it").words, ["what", "is", "it"]);
  assert.equal(matchOf(questionWords('"x1" OR y*').words), '"x1"');
});

Deno.test("chunks begin at definitions, with the comment above them", () => {
  const body = Array.from({ length: 28 }, (_, at) => `  step${at}();`);
  const text = ["function one() {", ...body, "}", "", "// The second one.", "function two() {", ...body, "}"];
  const chunks = chunksOf(text.join("\n"));
  assert.deepEqual(chunks.map(({ first, last }) => [first, last]), [[1, 31], [32, 62]]);
  assert.equal(chunks[1]?.names.split(" ")[0], "two");
  assert.equal(chunks[1]?.comments, "The second one.");
});
