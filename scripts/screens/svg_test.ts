import assert from "node:assert/strict";
import type { CellStyle, Picture, PictureCell } from "../../tests/support/grid.ts";
import { svgOf } from "./svg.ts";

const STYLE: CellStyle = {
  fg: "#eeeeee",
  bg: "#111111",
  special: "#ff0000",
  bold: false,
  italic: false,
  dim: false,
  underline: false,
  undercurl: false,
  strikethrough: false,
  reverse: false,
  url: undefined,
  terminal: { fg: undefined, bg: undefined },
};

type Part = readonly [text: string, style?: Partial<CellStyle>];

/** A row of these parts; a character of {@link WIDE} has two columns. */
function cells(parts: readonly Part[]): readonly PictureCell[] {
  return parts.flatMap(([text, style = {}]) =>
    [...text].flatMap((character) => {
      const look = { ...STYLE, ...style };
      const cell = { text: character, style: look };
      return WIDE.includes(character) ? [cell, { text: "", style: look }] : [cell];
    })
  );
}

const WIDE = "漢字🚀";

/** The cursor is not on the screen unless a test places it. */
function picture(rows: readonly (readonly Part[])[], cursor: Partial<Picture["cursor"]> = {}): Picture {
  return {
    rows: rows.map(cells),
    cursor: { row: -1, column: 0, shape: "block", ...cursor },
    fg: STYLE.fg,
    bg: STYLE.bg,
  };
}

/** The drawing without its frame. */
function drawn(shown: Picture): readonly string[] {
  return svgOf(shown, "A screen").split("\n").slice(4, -3);
}

Deno.test("a picture has a title, the colours of the screen, and a text for each run of a look", () => {
  const svg = svgOf(
    picture([[["const ", { fg: "#00ff00", bold: true }], ["a  = <1>"]], [["  &"]]]),
    "Let & <see>",
  );
  assert.match(
    svg,
    /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="144" height="54" viewBox="0 0 144 54" role="img" /,
  );
  assert.deepEqual(svg.split("\n").slice(1), [
    "<title>Let &amp; &lt;see&gt;</title>",
    '<rect width="144" height="54" rx="8" fill="#111111"/>',
    '<g transform="translate(9 9)">',
    '<text x="0" textLength="45" y="13.5" fill="#00ff00" font-weight="bold">const</text>',
    '<text x="54" textLength="72" y="13.5" fill="#eeeeee" xml:space="preserve">a  = &lt;1&gt;</text>',
    '<text x="18" textLength="9" y="31.5" fill="#eeeeee">&amp;</text>',
    "</g>",
    "</svg>",
    "",
  ]);
});

Deno.test("wide characters take two columns, and other symbols the middle of one", () => {
  assert.deepEqual(drawn(picture([[["漢字 ✓ 🚀x"]]])), [
    '<text x="9" text-anchor="middle" y="13.5" fill="#eeeeee">漢</text>',
    '<text x="27" text-anchor="middle" y="13.5" fill="#eeeeee">字</text>',
    '<text x="49.5" text-anchor="middle" y="13.5" fill="#eeeeee">✓</text>',
    '<text x="72" text-anchor="middle" y="13.5" fill="#eeeeee">🚀</text>',
    '<text x="81" textLength="9" y="13.5" fill="#eeeeee">x</text>',
  ]);
});

Deno.test("equal backgrounds below one another are one rectangle", () => {
  const blue = { bg: "#0000ff" };
  assert.deepEqual(drawn(picture([[["  ", blue], [" "]], [["  ", blue], [" "]], [[" ", blue], ["  "]]])), [
    '<rect x="0" y="0" width="18" height="36" fill="#0000ff"/>',
    '<rect x="0" y="36" width="9" height="18" fill="#0000ff"/>',
  ]);
});

Deno.test("borders and blocks are shapes that meet at the edges of their cells", () => {
  const box = [[["╭─╮"]], [["│█│"]], [["╰─╯"]]] as const;
  assert.deepEqual(drawn(picture(box)), [
    '<rect x="9" y="18" width="9" height="18" fill="#eeeeee"/>',
    '<path fill="none" stroke="#eeeeee" d="' + [
      "M4.5 18V14Q4.5 9.5 9 9.5",
      "M9 9.5H18",
      "M22.5 18V14Q22.5 9.5 18 9.5",
      "M4.5 18V36",
      "M22.5 18V36",
      "M4.5 36V41Q4.5 45.5 9 45.5",
      "M9 45.5H18",
      "M22.5 36V41Q22.5 45.5 18 45.5",
    ].join("") + '"/>',
  ]);
  assert.deepEqual(drawn(picture([[["▂▌░"]]])), [
    '<rect x="0" y="13.5" width="9" height="4.5" fill="#eeeeee"/>',
    '<rect x="9" y="0" width="4.5" height="18" fill="#eeeeee"/>',
    '<rect x="18" y="0" width="9" height="18" fill="#eeeeee" fill-opacity="0.25"/>',
  ]);
});

Deno.test("decorations have the length of their text, with its blanks", () => {
  assert.deepEqual(
    drawn(
      picture([[["a ", { underline: true }], ["b", { strikethrough: true, italic: true }], ["c", {
        undercurl: true,
      }]]]),
    ),
    [
      '<path fill="none" stroke="#eeeeee" d="M0 16h18M18 9h9"/>',
      '<path fill="none" stroke="#ff0000" d="M27 16q2.25 -3 4.5 0t4.5 0"/>',
      '<text x="0" textLength="9" y="13.5" fill="#eeeeee">a</text>',
      '<text x="18" textLength="9" y="13.5" fill="#eeeeee" font-style="italic">b</text>',
      '<text x="27" textLength="9" y="13.5" fill="#eeeeee">c</text>',
    ],
  );
});

Deno.test("a block cursor reverses its cell, both halves of it, and one of Insert mode is a bar", () => {
  assert.deepEqual(drawn(picture([[["漢"]]], { row: 0 })), [
    '<rect x="0" y="0" width="18" height="18" fill="#eeeeee"/>',
    '<text x="9" text-anchor="middle" y="13.5" fill="#111111">漢</text>',
  ]);
  assert.deepEqual(drawn(picture([[["ab"]]], { row: 0, column: 1, shape: "vertical" })), [
    '<text x="0" textLength="18" y="13.5" fill="#eeeeee">ab</text>',
    '<rect x="9" y="0" width="2" height="18" fill="#eeeeee"/>',
  ]);
});

Deno.test("control characters, which XML lacks, are blank", () => {
  assert.deepEqual(drawn(picture([[["a\x07b"]]])).map((line) => line.replace(/<text .*?>/, "<text>")), [
    "<text>a</text>",
    "<text>b</text>",
  ]);
});
