/** What servers answer becomes bounded, clean text. */
import assert from "node:assert/strict";
import { answerOf, CallResult, promptOf, PromptResult, resourceOf, ResourceResult } from "./results.ts";

function answer(result: unknown) {
  return answerOf("t", CallResult.parse(result));
}

function text(...content: readonly unknown[]): string {
  return answer({ content }).text;
}

Deno.test("each kind of content has its text, and images are shown as such", () => {
  assert.equal(answer({ content: [{ type: "text", text: "hi" }] }).text, "hi");
  assert.equal(text({ type: "text", text: "a" }, { type: "text", text: "b" }), "a\nb");
  const link = { type: "resource_link", uri: "file:///a", name: "a", description: "one\nfile" };
  assert.equal(text(link), "- a (file:///a): one file");
  assert.equal(text({ type: "resource", resource: { uri: "x:1", text: "T" } }), "[Resource x:1]\nT");
  const blob = { uri: "x:1", blob: "AAAA", mimeType: "application/zip" };
  assert.equal(
    text({ type: "resource", resource: blob }),
    "[Resource x:1 (application/zip, 3 bytes) cannot be shown]",
  );
  const audio = { type: "audio", data: "AAAA", mimeType: "audio/wav" };
  assert.equal(text(audio), "[Audio (audio/wav, 3 bytes) cannot be shown]");
  const shown = answer({ content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] });
  assert.deepEqual([shown.text, shown.images], ["", [{ name: "the image", data: "AAAA" }]]);
  assert.equal(text({ type: "hologram" }), "[A part of the type hologram cannot be shown]");
});

Deno.test("structured content is read where there is no text, and an error is a failure", () => {
  assert.equal(answer({ content: [], structuredContent: { a: 1 } }).text, '{\n "a": 1\n}');
  const both = answer({ content: [{ type: "text", text: "t" }], structuredContent: { a: 1 } });
  assert.equal(both.text, "t");
  assert.equal(answer({ content: [], isError: true }).failed, true);
  assert.equal(answer({}).text, "(t returned nothing)");
  assert.equal(answer({ content: "no list", isError: "yes" }).failed, false);
});

Deno.test("long texts are cut in the middle, many parts are counted, and control characters are gone", () => {
  const long = answer({ content: [{ type: "text", text: "x".repeat(3_000_000) }] }).text;
  assert.ok(long.length <= 100_200);
  assert.match(long, /characters left out/);
  const many = answer({ content: Array(10_000).fill({ type: "text", text: "x" }) }).text;
  assert.match(many, /9500 more parts are left out/);
  const images = answer({ content: Array(30).fill({ type: "image", data: "AAAA" }) });
  assert.equal(images.images.length, 10);
  assert.equal(
    text({ type: "text", text: "a\u001b]0;title\u0007b\u0000c\u202ed\u{e0041}e\r\nf" }),
    "abcde\nf",
  );
  assert.equal(text({ type: "text", text: "می‌خواهم" }), "می‌خواهم");
});

Deno.test("resources and prompts are read as texts", () => {
  const contents = [{ uri: "x:1", text: "T" }];
  assert.equal(resourceOf(ResourceResult.parse({ contents })).text, "[Resource x:1]\nT");
  const messages = [
    { role: "user", content: { type: "text", text: "Say it." } },
    { role: "assistant", content: { type: "text", text: "It." } },
  ];
  assert.equal(promptOf(PromptResult.parse({ messages })).text, "Say it.\n\n[assistant]\nIt.");
  assert.equal(promptOf(PromptResult.parse({ messages: [7, {}] })).images.length, 0);
});
