import assert from "node:assert/strict";
import { DECEPTIVE, isDeceptive } from "./deceptive.ts";

const HIDING = [
  0x00ad,
  0x034f,
  0x061c,
  0x115f,
  0x1160,
  0x180e,
  0x200b,
  0x200d,
  0x200f,
  0x2028,
  0x202e,
  0x2060,
  0x2069,
  0x206a,
  0x206f,
  0x2800,
  0x3164,
  0xfeff,
  0xffa0,
  0xfffa,
  0xe0000,
  0xe0041,
  0xe007f,
];

Deno.test("letters that nobody sees, and what turns text around, are found wherever they stand", () => {
  for (const code of HIDING) {
    const text = `ls ${String.fromCodePoint(code)}x`;
    assert.ok(isDeceptive(text), code.toString(16));
    assert.equal(text.replaceAll(DECEPTIVE, "?"), "ls ?x");
  }
  for (const text of ["\x1b[2K", "a\rb", "a\x7f", "a\x85b"]) assert.ok(isDeceptive(text));
});

Deno.test("ordinary text of any script is not deceptive", () => {
  for (const text of ["ls -la\n\tx", "größe", "日本語", "한국어", "सत्य", "👩‍💻 ❤️ 👍🏽", "naïve — “x”"]) {
    assert.ok(!isDeceptive(text), text);
  }
});
