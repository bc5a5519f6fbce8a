import assert from "node:assert/strict";
import { StreamedText } from "./streamed_text.ts";

Deno.test("the last lines of a text are known while it streams, whatever the pieces", () => {
  const content = 'first\n"quoted" \\n no break\n\ttab ü \u{1F600}\nfour\nfive\nsix';
  const json = JSON.stringify({ path: 'a "content": "x', content, more: "never shown" });
  for (let size = 1; size < 20; size++) {
    const text = new StreamedText("content");
    for (let at = 0; at < json.length; at += size) {
      text.add(json.slice(at, at + size));
      assert.ok(!text.text.includes("never"));
    }
    assert.equal(text.text, content.split("\n").slice(-5).join("\n"), `pieces of ${size}`);
  }
});

Deno.test("the end of a text is decoded as far as it has come, and of a long one only its end is kept", () => {
  const text = new StreamedText("content");
  text.add('{"content": "one\\ntwo \\u00');
  assert.match(text.text, /^one\ntwo $/);
  text.add("fc\\");
  assert.match(text.text, /^one\ntwo ü$/);
  text.add("n" + "long \\\\ ".repeat(2_000) + "\\nlast");
  assert.match(text.text, /…\nlast$/);
  assert.ok(text.text.length < 1_100);
  assert.equal(new StreamedText("content").text, "");
});
