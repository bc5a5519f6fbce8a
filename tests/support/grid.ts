/**
 * The screen that Neovim draws, decoded from `redraw` notifications (`ext_linegrid`, one grid).
 *
 * Pure: events go in, rows come out. What is shown changes only at a `flush`, as on a terminal.
 * Format: `:help ui-linegrid`.
 */

/** Where something stands on the screen, both from 0; a double-width character takes two columns. */
export interface Position {
  readonly row: number;
  readonly column: number;
}

/** How a cell looks, with defaults and `reverse` already applied. Colours are `#rrggbb`. */
export interface CellStyle {
  readonly fg: string;
  readonly bg: string;
  readonly special: string;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly dim: boolean;
  readonly underline: boolean;
  readonly undercurl: boolean;
  readonly strikethrough: boolean;
  readonly reverse: boolean;
  readonly url: string | undefined;
  /** Numbers of colours without 'termguicolors'; undefined is the terminal's own. */
  readonly terminal: { readonly fg: number | undefined; readonly bg: number | undefined };
}

export type CursorShape = "block" | "horizontal" | "vertical";

export interface PictureCell {
  /** Empty in the right half of a double-width character. */
  readonly text: string;
  readonly style: CellStyle;
}

/** The whole screen as a value. */
export interface Picture {
  readonly rows: readonly (readonly PictureCell[])[];
  readonly cursor: Position & { readonly shape: CursorShape };
  /** The default colours. */
  readonly fg: string;
  readonly bg: string;
}

/** `text` is empty in the right half of a double-width character. */
interface Cell {
  readonly text: string;
  readonly highlight: number;
}

interface Shown {
  readonly rows: readonly (readonly Cell[])[];
  readonly cursor: Position;
  readonly shape: CursorShape;
}

type Attributes = ReadonlyMap<string, unknown>;

const BLANK: Cell = { text: " ", highlight: 0 };
const DEFAULT_COLORS = { fg: 0xffffff, bg: 0, special: 0xff0000 };
const GLOBAL_GRID = 1;

export class Grid {
  #rows: Cell[][] = [];
  #cursor: Position = { row: 0, column: 0 };
  #columns = 0;
  #colors = DEFAULT_COLORS;
  #shape: CursorShape = "block";
  /** By the number of the mode. */
  #shapes: readonly CursorShape[] = [];
  #shown: Shown = { rows: [], cursor: this.#cursor, shape: this.#shape };
  readonly #attributes = new Map<number, Attributes>();
  readonly #terminalColors = new Map<number, CellStyle["terminal"]>();
  readonly #touched = new Set<number>();

  /**
   * Takes the parameters of one `redraw` notification. Returns one number for each `flush` in them:
   * how many rows look different from before. Throws at an event that is not as documented; an
   * unknown event is ignored, as the protocol demands.
   */
  redraw(events: readonly unknown[]): number[] {
    const flushes: number[] = [];
    for (const event of events) {
      const [name, ...calls] = list(event, "redraw");
      for (const call of calls) {
        const values = list(call, String(name));
        if (name === "flush") flushes.push(this.#flush());
        else this.#apply(String(name), values);
      }
    }
    return flushes;
  }

  /** The rows as shown, each as wide as the screen. */
  rows(): readonly string[] {
    return this.#shown.rows.map(rowText);
  }

  get size(): { readonly columns: number; readonly lines: number } {
    return { columns: this.#shown.rows[0]?.length ?? 0, lines: this.#shown.rows.length };
  }

  get cursor(): Position {
    return this.#shown.cursor;
  }

  /** The place of the first cell of `text`, which stands on one row. */
  locate(text: string): Position | undefined {
    for (const [row, cells] of this.#shown.rows.entries()) {
      const found = rowText(cells).indexOf(text);
      if (found < 0) continue;
      let passed = 0;
      const column = cells.findIndex((cell) => (passed += cell.text.length) > found);
      return { row, column };
    }
    return undefined;
  }

  /** Throws a RangeError outside of the screen. */
  styleAt(row: number, column: number): CellStyle {
    const cell = this.#shown.rows[row]?.[column];
    if (cell === undefined) throw new RangeError(`no cell at row ${row}, column ${column}`);
    return this.#style(cell.highlight);
  }

  picture(): Picture {
    const { rows, cursor, shape } = this.#shown;
    const styles = new Map<number, CellStyle>();
    const style = (highlight: number) => {
      const known = styles.get(highlight) ?? this.#style(highlight);
      styles.set(highlight, known);
      return known;
    };
    const { fg, bg } = style(BLANK.highlight);
    return {
      rows: rows.map((cells) => cells.map(({ text, highlight }) => ({ text, style: style(highlight) }))),
      cursor: { ...cursor, shape },
      fg,
      bg,
    };
  }

  #style(highlight: number): CellStyle {
    const attributes = this.#attributes.get(highlight) ?? new Map<string, unknown>();
    const color = (name: string, fallback: number) => hex(attributes.get(name), fallback);
    const is = (name: string) => attributes.get(name) === true;
    const fg = color("foreground", this.#colors.fg);
    const bg = color("background", this.#colors.bg);
    const url = attributes.get("url");
    return {
      fg: is("reverse") ? bg : fg,
      bg: is("reverse") ? fg : bg,
      special: color("special", this.#colors.special),
      bold: is("bold"),
      italic: is("italic"),
      dim: is("dim"),
      underline: is("underline"),
      undercurl: is("undercurl"),
      strikethrough: is("strikethrough"),
      reverse: is("reverse"),
      url: typeof url === "string" ? url : undefined,
      terminal: this.#terminalColors.get(highlight) ?? { fg: undefined, bg: undefined },
    };
  }

  #apply(name: string, values: readonly unknown[]): void {
    if (name === "hl_attr_define") return this.#define(values);
    if (name === "default_colors_set") return this.#recolor(values);
    if (name === "mode_info_set") this.#shapes = list(values[1], name).map(shapeOf);
    if (name === "mode_change") this.#shape = this.#shapes[integer(values[1], name)] ?? "block";
    if (!name.startsWith("grid_") || values[0] !== GLOBAL_GRID) return;
    const numbers = () => values.map((value) => integer(value, name));
    if (name === "grid_line") return this.#line(values);
    if (name === "grid_resize") return this.#resize(numbers());
    if (name === "grid_scroll") return this.#scroll(numbers());
    if (name === "grid_clear") return this.#clear();
    if (name === "grid_cursor_goto") {
      const [, row = 0, column = 0] = numbers();
      this.#cursor = { row, column };
    }
  }

  #define([id, rgb, terminal]: readonly unknown[]): void {
    const number = integer(id, "hl_attr_define");
    this.#attributes.set(number, attributes(rgb));
    const colors = attributes(terminal);
    const color = (name: string) =>
      typeof colors.get(name) === "number" ? Number(colors.get(name)) : undefined;
    this.#terminalColors.set(number, { fg: color("foreground"), bg: color("background") });
  }

  #recolor(values: readonly unknown[]): void {
    const [fg = 0, bg = 0, special = 0] = values.map((value) => integer(value, "default_colors_set"));
    const same = fg === this.#colors.fg && bg === this.#colors.bg && special === this.#colors.special;
    if (same) return;
    this.#colors = { fg, bg, special };
    // The cells stay, but every one that uses a default is painted anew.
    this.#shown = { ...this.#shown, rows: [] };
    this.#touchAll();
  }

  /** What both sizes share stays: Neovim may draw only the rest. */
  #resize([, columns = 0, lines = 0]: readonly number[]): void {
    this.#columns = columns;
    this.#rows = Array.from({ length: lines }, (_, row) => {
      const old = this.#rows[row] ?? [];
      return Array.from({ length: columns }, (_, column) => old[column] ?? BLANK);
    });
    this.#touchAll();
  }

  #clear(): void {
    for (const row of this.#rows) row.fill(BLANK);
    this.#touchAll();
  }

  #line([, rowValue, startValue, cells]: readonly unknown[]): void {
    const rowIndex = integer(rowValue, "grid_line");
    const row = this.#rows[rowIndex];
    if (row === undefined) throw new RangeError(`grid_line: no row ${rowIndex}`);
    let column = integer(startValue, "grid_line");
    let highlight = 0;
    for (const cell of list(cells, "grid_line")) {
      const [text, id, repeat] = list(cell, "grid_line");
      if (id !== undefined) highlight = integer(id, "grid_line");
      const count = repeat === undefined ? 1 : integer(repeat, "grid_line");
      const end = column + count;
      if (end > this.#columns) throw new RangeError(`grid_line: no column ${end - 1}`);
      row.fill({ text: String(text), highlight }, column, end);
      column = end;
    }
    this.#touched.add(rowIndex);
  }

  /** Moves the cells of a rectangle up (`rows` above 0) or down; what is uncovered stays to be drawn. */
  #scroll([, top = 0, bottom = 0, left = 0, right = 0, rows = 0]: readonly number[]): void {
    const source = this.#rows.map((row) => row.slice(left, right));
    for (let to = top; to < bottom; to++) {
      const from = to + rows;
      if (from < top || from >= bottom) continue;
      this.#rows[to]?.splice(left, right - left, ...(source[from] ?? []));
      this.#touched.add(to);
    }
  }

  #flush(): number {
    const before = this.#shown.rows;
    let changed = 0;
    const rows = this.#rows.map((cells, row) => {
      const old = before[row];
      if (old !== undefined && (!this.#touched.has(row) || sameCells(old, cells))) return old;
      changed += 1;
      return cells.slice();
    });
    this.#touched.clear();
    this.#shown = { rows, cursor: this.#cursor, shape: this.#shape };
    return changed;
  }

  #touchAll(): void {
    for (const row of this.#rows.keys()) this.#touched.add(row);
  }
}

function attributes(value: unknown): Attributes {
  return new Map<string, unknown>(typeof value === "object" && value !== null ? Object.entries(value) : []);
}

/** @param mode an entry of `mode_info_set` */
function shapeOf(mode: unknown): CursorShape {
  const shape = attributes(mode).get("cursor_shape");
  return shape === "horizontal" || shape === "vertical" ? shape : "block";
}

function rowText(cells: readonly Cell[]): string {
  return cells.map((cell) => cell.text).join("");
}

function sameCells(a: readonly Cell[], b: readonly Cell[]): boolean {
  return a.length === b.length &&
    a.every((cell, column) => cell.text === b[column]?.text && cell.highlight === b[column]?.highlight);
}

function hex(value: unknown, fallback: number): string {
  const color = typeof value === "number" ? value : fallback;
  return `#${color.toString(16).padStart(6, "0")}`;
}

function list(value: unknown, event: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`${event}: expected a list, got ${JSON.stringify(value)}`);
  return value;
}

function integer(value: unknown, event: string): number {
  if (typeof value === "number" && Number.isInteger(value)) return value;
  throw new TypeError(`${event}: expected an integer, got ${JSON.stringify(value)}`);
}
