/**
 * Box-drawing characters and blocks as shapes: fonts leave gaps between them, and many lack some. Pure.
 * Source: Unicode, "Box Drawing" and "Block Elements".
 */

/** A rectangle on the screen, in pixels. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Which edges of its cell a character reaches from the middle: up, right, down, left. */
const ARMS = new Map(Object.entries({
  "─": "rl",
  "━": "rl",
  "│": "ud",
  "┃": "ud",
  "╌": "rl",
  "┄": "rl",
  "┆": "ud",
  "┊": "ud",
  "┌": "rd",
  "┐": "dl",
  "└": "ur",
  "┘": "ul",
  "├": "urd",
  "┤": "udl",
  "┬": "rdl",
  "┴": "url",
  "┼": "urdl",
  "╴": "l",
  "╵": "u",
  "╶": "r",
  "╷": "d",
  "═": "rl",
  "║": "ud",
}));
const HEAVY = "━┃";
const ARCS = new Map(Object.entries({ "╭": "rd", "╮": "dl", "╰": "ur", "╯": "ul" }));
/** Of the cell: left, top, right, bottom in eighths. */
const HALVES = new Map(Object.entries({
  "█": [0, 0, 8, 8],
  "▀": [0, 0, 8, 4],
  "▐": [4, 0, 8, 8],
  "▔": [0, 0, 8, 1],
  "▕": [7, 0, 8, 8],
}));
const SHADES = "░▒▓";

/** A character as a shape: a line to be stroked, or an area to be filled. */
export type Shape =
  | { readonly kind: "line"; readonly path: string; readonly width: number }
  | { readonly kind: "block"; readonly area: Area; readonly opacity: number };

/** Undefined for a character that is drawn with a font. */
export function shapeOf(character: string, cell: Area): Shape | undefined {
  const arms = ARMS.get(character);
  if (arms !== undefined) {
    return { kind: "line", path: straight(arms, cell), width: HEAVY.includes(character) ? 2 : 1 };
  }
  const arc = ARCS.get(character);
  if (arc !== undefined) return { kind: "line", path: curve(arc, cell), width: 1 };
  const shade = SHADES.indexOf(character) + 1;
  if (shade > 0 && character !== "") return { kind: "block", area: cell, opacity: shade / 4 };
  const part = HALVES.get(character) ?? eighths(character);
  return part === undefined ? undefined : { kind: "block", area: partOf(cell, part), opacity: 1 };
}

/** Lower blocks grow from the bottom, left blocks shrink from the full width. */
function eighths(character: string): readonly number[] | undefined {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x2581 && code <= 0x2587) return [0, 8 - (code - 0x2580), 8, 8];
  if (code >= 0x2589 && code <= 0x258f) return [0, 0, 0x2590 - code, 8];
  return undefined;
}

function partOf({ x, y, width, height }: Area, part: readonly number[]): Area {
  const [left = 0, top = 0, right = 8, bottom = 8] = part.map((eighth) => eighth / 8);
  return {
    x: x + width * left,
    y: y + height * top,
    width: width * (right - left),
    height: height * (bottom - top),
  };
}

function middle({ x, y, width, height }: Area): readonly [x: number, y: number] {
  // Half a pixel lower, so that a line covers one row of pixels.
  return [x + width / 2, y + height / 2 + 0.5];
}

/** Arms that lie opposite are one line. */
function straight(arms: string, cell: Area): string {
  const [x, y] = middle(cell);
  const has = (arm: string) => arms.includes(arm);
  const across = [has("l") ? cell.x : x, has("r") ? cell.x + cell.width : x] as const;
  const down = [has("u") ? cell.y : y, has("d") ? cell.y + cell.height : y] as const;
  const horizontal = across[0] === across[1] ? "" : `M${across[0]} ${y}H${across[1]}`;
  return horizontal + (down[0] === down[1] ? "" : `M${x} ${down[0]}V${down[1]}`);
}

function curve(arms: string, cell: Area): string {
  const [x, y] = middle(cell);
  const [sideways, vertical] = [arms.includes("r") ? 1 : -1, arms.includes("d") ? 1 : -1];
  const radius = cell.width / 2;
  const ends = [cell.y + (vertical > 0 ? cell.height : 0), x + sideways * radius];
  return `M${x} ${ends[0]}V${y + vertical * radius}Q${x} ${y} ${ends[1]} ${y}`;
}
