import assert from "node:assert/strict";
import { LONGEST_SESSION_TITLE } from "../../protocol/sessions_file.ts";
import { isPlainLine, LONGEST_NAME, middleCut, oneLine, prose, visible, withTitles } from "./visible.ts";

Deno.test("controls and what nobody sees are shown", () => {
  assert.equal(visible("a\x1b[2Jb\x7f\x9b\r\nc\td"), "a␛[2Jb␡␦\nc\td");
  assert.equal(
    visible("\u3164\uffa0\u115f\u1160\u2800\u034f\u206a\u202e\u{e0041}"),
    "<U+3164><U+FFA0><U+115F><U+1160><U+2800><U+034F><U+206A><U+202E><U+E0041>",
  );
  assert.equal(visible("👩‍💻 ❤️ 漢字"), "👩‍💻 ❤️ 漢字");
});

Deno.test("prose keeps what scripts are written with, and hides nothing else", () => {
  assert.equal(prose("می\u200cخواهم क्\u200dष \u200fשלום"), "می\u200cخواهم क्\u200dष \u200fשלום");
  assert.equal(prose("a\u3164b\u202ec\u{e0041}\u200b\x07"), "a<U+3164>b<U+202E>c<U+E0041><U+200B>␇");
});

Deno.test("one line is one line, and no longer than it may be", () => {
  assert.equal(oneLine(" a\n\n  b\u2028c\td "), "a b<U+2028>c d");
  assert.equal([...oneLine("x".repeat(1e6))].length, 300);
  assert.equal(oneLine("abcdef", 4), "abc…");
  assert.equal(oneLine(`${" ".repeat(1e4)}rm -rf`), "…");
  assert.equal([...oneLine("😀".repeat(400))].length, 300);
});

Deno.test("titles in an engine's answer are short lines, all else is as it was", () => {
  const title = `two\nlines\u202e${"x".repeat(1e5)}`;
  const { agents: [row], text } = withTitles({ agents: [{ title, mode: "a\nb" }], text: title });
  assert.match(row?.title ?? "", /^two lines<U\+202E>x+…$/);
  assert.equal([...row?.title ?? ""].length, LONGEST_SESSION_TITLE);
  assert.deepEqual([row?.mode, text], ["a\nb", title]);
});

Deno.test("of a long path both ends are shown", () => {
  assert.equal(middleCut("src/a\nb.ts"), "src/a␊b.ts");
  const cut = middleCut(`sub/${"x".repeat(1e6)}/last.ts`);
  assert.equal([...cut].length, LONGEST_NAME);
  assert.match(cut, /^sub\/x+…x+\/last\.ts$/);
  assert.equal(middleCut("abcdefgh", 5), "ab…gh");
});

Deno.test("a plain line is what is shown as it is", () => {
  assert.ok(isPlainLine("run(npm test *)"));
  for (const text of ["a\nb", "a\tb", "a\u3164b", "a\x1bb"]) assert.equal(isPlainLine(text), false);
});
