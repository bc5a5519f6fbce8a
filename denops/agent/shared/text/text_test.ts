import assert from "node:assert/strict";
import fc from "fast-check";
import { ANY_CHARACTER } from "../../../../tests/support/any_character.ts";
import { decodeText, encodeText, lineEnding, splitLines, withEnding } from "./text.ts";
import { utf8 } from "../../../../tests/support/pieces.ts";
import { runs } from "../../../../tests/support/runs.ts";

type Bytes = readonly number[];

function utf16(text: string, little: boolean): Bytes {
  return Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
    .flatMap((code) => little ? [code & 255, code >> 8] : [code >> 8, code & 255]);
}

const decoded: readonly (readonly [
  what: string,
  bytes: Bytes,
  text: string,
  encoding: NonNullable<ReturnType<typeof decodeText>>["encoding"],
  bom: boolean,
])[] = [
  ["an empty file", [], "", "utf-8", false],
  ["ASCII", [...utf8("a\r\nb")], "a\r\nb", "utf-8", false],
  ["UTF-8", [...utf8("ü😀")], "ü😀", "utf-8", false],
  ["UTF-8 with a mark", [0xef, 0xbb, 0xbf, 97], "a", "utf-8", true],
  ["UTF-8 with two marks", [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, 97], "\ufeffa", "utf-8", true],
  ["only a mark", [0xef, 0xbb, 0xbf], "", "utf-8", true],
  ["Latin-1", [0x63, 0x61, 0x66, 0xe9], "café", "latin1", false],
  ["Latin-1 where Windows has other characters", [0x80, 0x93, 0xff], "\u0080\u0093ÿ", "latin1", false],
  ["UTF-8 that was cut", [97, 0xc3], "aÃ", "latin1", false],
  ["a surrogate in UTF-8", [0xed, 0xa0, 0x80], "í\u00a0\u0080", "latin1", false],
  ["UTF-16, little end first", [0xff, 0xfe, ...utf16("aü😀\r\n", true)], "aü😀\r\n", "utf-16le", true],
  ["UTF-16, big end first", [0xfe, 0xff, ...utf16("aü😀\r\n", false)], "aü😀\r\n", "utf-16be", true],
  ["UTF-16, empty", [0xff, 0xfe], "", "utf-16le", true],
  ["UTF-16 with two marks", [0xff, 0xfe, 0xff, 0xfe, 97, 0], "\ufeffa", "utf-16le", true],
  ["UTF-16 with half a pair", [0xfe, 0xff, 0xd8, 0x3d, 0, 97], "\ud83da", "utf-16be", true],
];

for (const [what, bytes, text, encoding, bom] of decoded) {
  Deno.test(`text and back: ${what}`, () => {
    const file = decodeText(Uint8Array.from(bytes));
    assert.deepEqual(file, { text, encoding, bom });
    assert.deepEqual([...encodeText(text, { encoding, bom })], bytes);
  });
}

const binary: readonly (readonly [what: string, bytes: Bytes])[] = [
  ["a NUL", [97, 0, 98]],
  ["UTF-16 without a mark", utf16("abc", true)],
  ["UTF-16 of an odd number of bytes", [0xff, 0xfe, 97, 0, 98]],
  ["UTF-16, big end first, of an odd number of bytes", [0xfe, 0xff, 0]],
  ["UTF-32", [0xff, 0xfe, 0, 0, 97, 0, 0, 0]],
  ["UTF-16 with NUL characters", [0xfe, 0xff, 0, 97, 0, 0]],
];

for (const [what, bytes] of binary) {
  Deno.test(`not text: ${what}`, () => assert.equal(decodeText(Uint8Array.from(bytes)), undefined));
}

const marks = fc.constantFrom<Bytes>([], [0xef, 0xbb, 0xbf], [0xff, 0xfe], [0xfe, 0xff]);
const content = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.uint8Array({ min: 1, maxLength: 40 }),
  fc.string({ unit: ANY_CHARACTER }).map(utf8),
  fc.string({ unit: ANY_CHARACTER }).map((text) => Uint8Array.from(utf16(text, true))),
);

Deno.test("any bytes that are text come back as they were", () => {
  fc.assert(
    fc.property(marks, content, (mark, rest) => {
      const bytes = Uint8Array.from([...mark, ...rest]);
      const file = decodeText(bytes);
      if (file !== undefined) assert.deepEqual(encodeText(file.text, file), bytes);
    }),
    runs(2_000),
  );
});

Deno.test("a large Latin-1 file comes back as it was", () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => 1 + at % 255);
  const file = decodeText(bytes);
  assert.equal(file?.encoding, "latin1");
  assert.deepEqual(encodeText(file.text, file), bytes);
});

Deno.test("what a file's encoding cannot hold is refused", () => {
  assert.throws(
    () => encodeText("naïve 😀", { encoding: "latin1", bom: false }),
    /^RangeError: the file is Latin-1 and cannot hold "😀"$/,
  );
});

const endings: readonly (readonly [text: string, ending: string | undefined])[] = [
  ["", undefined],
  ["a", undefined],
  ["a\n", "\n"],
  ["a\r\nb", "\r\n"],
  ["a\rb", "\r"],
  ["a\r\nb\n", "\r\n"],
  ["a\r\nb\nc\n", "\n"],
  ["a\rb\rc\n", "\r"],
  ["a\rb\n", "\n"],
  ["a\u2028b", undefined],
];

for (const [text, ending] of endings) {
  Deno.test(`most lines of ${JSON.stringify(text)} end in ${JSON.stringify(ending)}`, () => {
    assert.equal(lineEnding(text), ending);
  });
}

const anyText = fc.array(fc.constantFrom("a", "", "\n", "\r", "\r\n", "$&", "ü"), { maxLength: 12 }).map((
  all,
) => all.join(""));
const anyEnding = fc.constantFrom("\n", "\r\n", "\r");

Deno.test("other endings change no line", () => {
  fc.assert(fc.property(anyText, anyEnding, (text, ending) => {
    const changed = withEnding(text, ending);
    assert.deepEqual(splitLines(changed), splitLines(text));
    assert.ok(lineEnding(changed) === ending || lineEnding(changed) === undefined);
    assert.equal(withEnding(changed, ending), changed);
  }));
});

const split: readonly (readonly [text: string, lines: readonly string[]])[] = [
  ["", []],
  ["\n", [""]],
  ["a", ["a"]],
  ["a\n", ["a"]],
  ["a\n\n", ["a", ""]],
  ["\r\n\r\n", ["", ""]],
  ["a\rb\r\nc\nd", ["a", "b", "c", "d"]],
  ["\n\r", ["", ""]],
];

for (const [text, lines] of split) {
  Deno.test(`the lines of ${JSON.stringify(text)}`, () => assert.deepEqual(splitLines(text), lines));
}
