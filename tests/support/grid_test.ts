import assert from "node:assert/strict";
import fc from "fast-check";
import { Grid } from "./grid.ts";

const FLUSH = ["flush", []];

function grid(columns: number, lines: number): Grid {
  const made = new Grid();
  made.redraw([["grid_resize", [1, columns, lines]], ["grid_clear", [1]], FLUSH]);
  return made;
}

/** Draws each string at the start of its row, one cell for each UTF-16 unit. */
function draw(on: Grid, rows: readonly string[]): void {
  const lines = rows.map((text, row) => [1, row, 0, [...text].map((unit) => [unit, 0]), false]);
  on.redraw([["grid_line", ...lines], FLUSH]);
}

Deno.test("a line carries its highlight on and repeats cells", () => {
  const screen = grid(8, 2);
  screen.redraw([
    ["default_colors_set", [0xffffff, 0x000000, 0xff0000, 0, 0]],
    ["hl_attr_define", [7, { foreground: 0x00ff00, bold: true }, {}, []], [
      8,
      { background: 0x0000ff, reverse: true },
      {},
      [],
    ]],
    ["grid_line", [1, 0, 1, [["a", 7], ["b"], ["-", 8, 3], ["c"]], false]],
    FLUSH,
  ]);
  assert.deepEqual(screen.rows(), [" ab---c ", "        "]);
  assert.equal(screen.styleAt(0, 0).fg, "#ffffff");
  assert.deepEqual([screen.styleAt(0, 2).fg, screen.styleAt(0, 2).bold], ["#00ff00", true]);
  const reversed = screen.styleAt(0, 6);
  assert.deepEqual([reversed.fg, reversed.bg, reversed.reverse], ["#0000ff", "#ffffff", true]);
  assert.throws(() => screen.styleAt(2, 0), RangeError);
});

Deno.test("a double-width character is one character in two columns", () => {
  const screen = grid(6, 1);
  const cells = [["漢", 0], [""], ["👩‍💻"], [""], ["x"]];
  screen.redraw([["grid_line", [1, 0, 0, cells, false]], FLUSH]);
  assert.deepEqual(screen.rows(), ["漢👩‍💻x "]);
  assert.deepEqual(screen.locate("漢"), { row: 0, column: 0 });
  assert.deepEqual(screen.locate("👩‍💻x"), { row: 0, column: 2 });
  assert.deepEqual(screen.locate("x"), { row: 0, column: 4 });
  assert.equal(screen.locate("y"), undefined);
});

Deno.test("a picture has each cell's text and colours, and the cursor's shape in this mode", () => {
  const screen = grid(3, 1);
  const modes = [{ name: "normal", cursor_shape: "block" }, { name: "insert", cursor_shape: "vertical" }];
  screen.redraw([
    ["default_colors_set", [0xeeeeee, 0x111111, 0xff0000, 0, 0]],
    ["hl_attr_define", [4, { foreground: 0x00ff00, undercurl: true }, {}, []]],
    ["grid_line", [1, 0, 0, [["漢", 4], [""], ["x", 0]], false]],
    ["mode_info_set", [true, modes]],
    ["grid_cursor_goto", [1, 0, 2]],
    FLUSH,
  ]);
  const { rows, cursor, fg, bg } = screen.picture();
  assert.deepEqual([fg, bg], ["#eeeeee", "#111111"]);
  assert.deepEqual(cursor, { row: 0, column: 2, shape: "block" });
  assert.deepEqual(rows[0]?.map(({ text, style }) => [text, style.fg, style.undercurl]), [
    ["漢", "#00ff00", true],
    ["", "#00ff00", true],
    ["x", "#eeeeee", false],
  ]);
  screen.redraw([["mode_change", ["insert", 1]]]);
  assert.equal(screen.picture().cursor.shape, "block");
  screen.redraw([FLUSH]);
  assert.equal(screen.picture().cursor.shape, "vertical");
});

Deno.test("nothing is shown before the flush, and a flush tells how many rows look different", () => {
  const screen = grid(3, 3);
  assert.deepEqual(screen.redraw([["grid_line", [1, 1, 0, [["a", 0]], false]]]), []);
  assert.deepEqual(screen.rows(), ["   ", "   ", "   "]);
  assert.deepEqual(screen.redraw([["grid_cursor_goto", [1, 2, 1]], FLUSH]), [1]);
  assert.deepEqual(screen.rows(), ["   ", "a  ", "   "]);
  assert.deepEqual(screen.cursor, { row: 2, column: 1 });
  assert.deepEqual(screen.redraw([["grid_line", [1, 1, 0, [["a", 0]], false]], FLUSH]), [0]);
  assert.deepEqual(screen.redraw([["grid_line", [1, 1, 0, [["a", 5]], false]], FLUSH, FLUSH]), [1, 0]);
  assert.deepEqual(screen.redraw([["default_colors_set", [1, 2, 3, 0, 0]], FLUSH]), [3]);
  assert.deepEqual(screen.redraw([["default_colors_set", [1, 2, 3, 0, 0]], FLUSH]), [0]);
});

Deno.test("a scroll moves only its rectangle", () => {
  const screen = grid(5, 4);
  draw(screen, ["00000", "11111", "22222", "33333"]);
  screen.redraw([["grid_scroll", [1, 0, 3, 1, 4, 1, 0]], FLUSH]);
  assert.deepEqual(screen.rows(), ["01110", "12221", "22222", "33333"]);
  screen.redraw([["grid_scroll", [1, 0, 4, 0, 2, -2, 0]], FLUSH]);
  assert.deepEqual(screen.rows(), ["01110", "12221", "01222", "12333"]);
});

Deno.test("a new size keeps what both sizes share", () => {
  const screen = grid(4, 2);
  draw(screen, ["abcd", "efgh"]);
  screen.redraw([["grid_resize", [1, 3, 3]], FLUSH]);
  assert.deepEqual(screen.rows(), ["abc", "efg", "   "]);
  assert.deepEqual(screen.size, { columns: 3, lines: 3 });
  assert.deepEqual(screen.redraw([["grid_clear", [1]], FLUSH]), [2]);
});

Deno.test("unknown events are ignored, broken ones are not", () => {
  const screen = grid(3, 1);
  const option = ["option_set", ["guifont", ""], ["linespace", 0]];
  assert.deepEqual(screen.redraw([option, ["grid_of_tomorrow", [1, "x"]], FLUSH]), [0]);
  assert.deepEqual(screen.redraw([["grid_line", [2, 9, 9, [["x", 0]], false]], FLUSH]), [0]);
  assert.throws(() => screen.redraw([["grid_line", [1, 0, 2, [["x", 0, 2]], false]]]), /no column 3/);
  assert.throws(() => screen.redraw([["grid_line", [1, 1, 0, [["x", 0]], false]]]), /no row 1/);
  assert.throws(() => screen.redraw([["grid_resize", [1, "3", 1]]]), /expected an integer, got "3"/);
  assert.throws(() => screen.redraw(["flush"]), /expected a list/);
});

const letter = fc.constantFrom("a", "b", " ", "é");
const cell = fc.record({ text: letter, highlight: fc.integer({ min: 0, max: 2 }) });
const row = fc.array(cell, { minLength: 1, maxLength: 20 });

/** As Neovim does it: equal cells in one, the highlight only where it changes or a count follows. */
function encodeRow(cells: readonly { text: string; highlight: number }[]): unknown[] {
  const runs: { text: string; highlight: number; count: number }[] = [];
  for (const next of cells) {
    const run = runs.at(-1);
    if (run?.text === next.text && run.highlight === next.highlight) run.count += 1;
    else runs.push({ ...next, count: 1 });
  }
  return runs.map(({ text, highlight, count }, index) => {
    if (count > 1) return [text, highlight, count];
    return runs[index - 1]?.highlight === highlight ? [text] : [text, highlight];
  });
}

Deno.test("any line reads as it was written", () => {
  fc.assert(fc.property(row, (cells) => {
    const screen = grid(cells.length, 1);
    const colors = [0, 1, 2].map((id) => [id, { foreground: id }, {}, []]);
    screen.redraw([["hl_attr_define", ...colors], ["grid_line", [1, 0, 0, encodeRow(cells), false]], FLUSH]);
    assert.deepEqual(screen.rows(), [cells.map(({ text }) => text).join("")]);
    for (const [column, { highlight }] of cells.entries()) {
      assert.equal(screen.styleAt(0, column).fg, `#00000${highlight}`);
    }
  }));
});

Deno.test("any scroll moves each cell that stays inside, and no other", () => {
  const region = fc.record({
    vertical: fc.tuple(fc.nat(6), fc.nat(6)),
    horizontal: fc.tuple(fc.nat(6), fc.nat(6)),
    rows: fc.integer({ min: -6, max: 6 }),
  });
  fc.assert(fc.property(region, ({ vertical, horizontal, rows }) => {
    const [top = 0, bottom = 0] = vertical.toSorted((a, b) => a - b);
    const [left = 0, right = 0] = horizontal.toSorted((a, b) => a - b);
    const before = Array.from({ length: 6 }, (_, line) =>
      "abcdef".replace(/./g, (unit, column) => {
        return String.fromCharCode(unit.charCodeAt(0) + 6 * line + Number(column) % 1);
      }));
    const screen = grid(6, 6);
    draw(screen, before);
    screen.redraw([["grid_scroll", [1, top, bottom, left, right, rows, 0]], FLUSH]);
    for (const [line, text] of screen.rows().entries()) {
      const from = line + rows;
      const moved = line >= top && line < bottom && from >= top && from < bottom;
      const inside = moved ? before[from]?.slice(left, right) : before[line]?.slice(left, right);
      const old = before[line] ?? "";
      assert.equal(text, old.slice(0, left) + inside + old.slice(right));
    }
  }));
});
