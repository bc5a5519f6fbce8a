/**
 * A screen of Neovim as SVG: the same picture in every viewer, whatever fonts it has. Pure: equal screens give equal
 * bytes.
 *
 * Each run of text has the width of its columns (`textLength`); box-drawing characters, blocks and decorations are
 * shapes. Source: SVG 2.
 */
import type { CellStyle, Picture, PictureCell } from "../../tests/support/grid.ts";
import { type Area, shapeOf } from "./lines.ts";

/** Of one column and row, in pixels; a monospace font's advance is 0.6 of its size. */
const CELL = { width: 9, height: 18 };
const FONT = { size: 15, baseline: 13.5 };
const FAMILIES = "ui-monospace,'JetBrains Mono','DejaVu Sans Mono',Menlo,Consolas,'Noto Sans Mono',monospace";
const MARGIN = 9;
const RADIUS = 8;

/** Characters that every monospace font has in the width of one column. */
const PLAIN = /^[\x20-\x7e\u00a1-\u017f]$/;

/** Cells side by side that look the same. */
interface Piece {
  readonly text: string;
  readonly style: CellStyle;
  readonly row: number;
  readonly column: number;
  readonly columns: number;
}

/** @param title what the picture shows, for readers who cannot see it */
export function svgOf(picture: Picture, title: string): string {
  const columns = picture.rows[0]?.length ?? 0;
  const [width, height] = [columns * CELL.width, picture.rows.length * CELL.height];
  const { rows, cursor } = withCursor(picture);
  const pieces = rows.flatMap(piecesOf);
  const [outer, inner] = [width + 2 * MARGIN, height + 2 * MARGIN];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${outer}" height="${inner}" viewBox="0 0 ${outer} ${inner}" ` +
    `role="img" font-family="${FAMILIES}" font-size="${FONT.size}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${outer}" height="${inner}" rx="${RADIUS}" fill="${picture.bg}"/>`,
    `<g transform="translate(${MARGIN} ${MARGIN})">`,
    ...backgrounds(rows, picture.bg),
    ...shapes(pieces),
    ...pieces.flatMap(texts),
    ...cursor,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

/** A block takes the colours of its cell in reverse; another cursor is a bar in front of it. */
function withCursor({ rows, cursor: { row, column, shape } }: Picture) {
  const cell = rows[row]?.[column];
  if (cell === undefined) return { rows, cursor: [] };
  const { fg, bg } = cell.style;
  if (shape !== "block") {
    const { x, y, width, height } = areaOf({ row, column, columns: 1 });
    const bar = shape === "vertical"
      ? { x, y, width: 2, height }
      : { x, y: y + height - 2, width, height: 2 };
    return { rows, cursor: [rect(bar, fg)] };
  }
  const reversed = { ...cell.style, fg: bg, bg: fg };
  const isCursor = (at: number) => at === column || at === column + 1 && rows[row]?.[at]?.text === "";
  const line = (rows[row] ?? []).map((cell, at) => isCursor(at) ? { ...cell, style: reversed } : cell);
  return { rows: rows.with(row, line), cursor: [] };
}

/** One rectangle for equal runs below one another, which would else show a seam. */
function backgrounds(rows: Picture["rows"], common: string): readonly string[] {
  const done: (Area & { readonly fill: string })[] = [];
  let open = new Map<string, Area & { readonly fill: string }>();
  for (const [row, cells] of rows.entries()) {
    const next: typeof open = new Map();
    for (const { column, columns, style: { bg } } of runs(cells, row, ({ style }) => style.bg)) {
      if (bg === common) continue;
      const area = areaOf({ row, column, columns });
      const key = `${area.x} ${area.width} ${bg}`;
      const above = open.get(key);
      if (above !== undefined) open.delete(key);
      next.set(
        key,
        above === undefined ? { ...area, fill: bg } : { ...above, height: above.height + CELL.height },
      );
    }
    done.push(...open.values());
    open = next;
  }
  return [...done, ...open.values()].map(({ fill, ...area }) => rect(area, fill));
}

/** Runs of equal cells; the second half of a wide character belongs to the first. */
function runs(
  cells: readonly PictureCell[],
  row: number,
  key: (cell: PictureCell) => unknown,
): readonly Piece[] {
  const found: Piece[] = [];
  let before: unknown;
  for (const [column, cell] of cells.entries()) {
    const last = found.at(-1);
    const now = key(cell);
    if (last !== undefined && (cell.text === "" || now === before)) {
      found[found.length - 1] = { ...last, text: last.text + cell.text, columns: last.columns + 1 };
      continue;
    }
    found.push({ text: cell.text, style: cell.style, row, column, columns: 1 });
    before = now;
  }
  return found;
}

/** Plain text of one look is one piece; any other character is a piece, for its font may be another one. */
function piecesOf(cells: readonly PictureCell[], row: number): readonly Piece[] {
  return runs(cells, row, ({ text, style }) => PLAIN.test(text) ? lookOf(style) : {});
}

function lookOf({ fg, bold, italic, dim, underline, undercurl, strikethrough, special }: CellStyle): string {
  return [fg, bold, italic, dim, underline, undercurl, strikethrough, special].join();
}

/** Lines of one colour are one path. */
function shapes(pieces: readonly Piece[]): readonly string[] {
  const lines = new Map<string, string[]>();
  const stroke = (colour: string, width: number, path: string) => {
    const key = `stroke="${colour}"${width === 1 ? "" : ` stroke-width="${width}"`}`;
    lines.set(key, [...lines.get(key) ?? [], path]);
  };
  const blocks: string[] = [];
  for (const piece of pieces) {
    const { style } = piece;
    const area = areaOf(piece);
    const shape = shapeOf(piece.text, area);
    if (shape?.kind === "line") stroke(style.fg, shape.width, shape.path);
    if (shape?.kind === "block") blocks.push(rect(shape.area, style.fg, shape.opacity));
    const { x, y, width, height } = area;
    if (style.underline) stroke(style.fg, 1, `M${x} ${y + height - 2}h${width}`);
    if (style.strikethrough) stroke(style.fg, 1, `M${x} ${y + height / 2}h${width}`);
    if (style.undercurl) {
      stroke(style.special, 1, `M${x} ${y + height - 2}${"q2.25 -3 4.5 0t4.5 0".repeat(piece.columns)}`);
    }
  }
  return [...blocks, ...[...lines].map(([key, paths]) => `<path fill="none" ${key} d="${paths.join("")}"/>`)];
}

/** Blanks at the ends need no text. */
function texts(piece: Piece): readonly string[] {
  // XML has no control characters.
  // deno-lint-ignore no-control-regex
  const text = piece.text.replaceAll(/[\x00-\x1f\x7f]/g, " ").trim();
  if (text === "" || shapeOf(piece.text, areaOf(piece)) !== undefined) return [];
  const { style, row } = piece;
  const isPlain = PLAIN.test(piece.text.charAt(0));
  const column = piece.column + (isPlain ? piece.text.length - piece.text.trimStart().length : 0);
  const { x, y, width } = areaOf({ row, column, columns: isPlain ? text.length : piece.columns });
  const place = isPlain ? `x="${x}" textLength="${width}"` : `x="${x + width / 2}" text-anchor="middle"`;
  const look = [
    style.bold ? ' font-weight="bold"' : "",
    style.italic ? ' font-style="italic"' : "",
    style.dim ? ' opacity="0.6"' : "",
    / {2}/.test(text) ? ' xml:space="preserve"' : "",
  ].join("");
  return [`<text ${place} y="${y + FONT.baseline}" fill="${style.fg}"${look}>${escaped(text)}</text>`];
}

function areaOf({ row, column, columns }: Pick<Piece, "row" | "column" | "columns">): Area {
  return { x: column * CELL.width, y: row * CELL.height, width: columns * CELL.width, height: CELL.height };
}

function rect({ x, y, width, height }: Area, fill: string, opacity = 1): string {
  const shade = opacity === 1 ? "" : ` fill-opacity="${opacity}"`;
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}"${shade}/>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
