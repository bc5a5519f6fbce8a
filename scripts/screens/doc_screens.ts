/** The pictures of the documentation, `doc/screens`: the README shows the first. */
import type { Picture, PictureCell } from "../../tests/support/grid.ts";
import { type Situation, SITUATIONS } from "./situations.ts";
import { svgOf } from "./svg.ts";
import { playSituation, settledPicture, type View } from "./take.ts";

export interface DocScreen {
  readonly situation: Situation;
  readonly view: View;
  /** In the project. */
  readonly path: string;
}

const SIZES: readonly (readonly [name: string, columns: number, lines: number])[] = [
  ["chat", 120, 33],
  ["changes", 100, 30],
  ["review", 100, 30],
  ["sessions", 100, 24],
];

export const DOC_SCREENS: readonly DocScreen[] = SITUATIONS.flatMap((situation) =>
  SIZES.filter(([name]) => name === situation.name).map(([name, columns, lines]) => ({
    situation,
    view: { columns, lines, background: "dark" },
    path: `doc/screens/${name}.svg`,
  }))
);

/** Text that differs from run to run, with its substitute of the same length. */
const MASKS: readonly (readonly [pattern: RegExp, substitute: string])[] = [
  [/\b\d\d:\d\d\b/g, "14:02"],
  [/\b\d{4}-\d\d-\d\d\b/g, "2026-11-20"],
  [/\bchat-\d\b/g, "chat-1"],
  // On a busy machine.
  [/\bThought for \d\.\d s {3}/g, "Thought for a moment"],
];

export function docSvg({ situation }: DocScreen, picture: Picture): string {
  return svgOf({ ...picture, rows: picture.rows.map(masked) }, situation.title);
}

/** The texts of all, by their paths. */
export async function docPictures(): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const screen of DOC_SCREENS) {
    await using agent = await playSituation(screen.situation, screen.view);
    texts.set(screen.path, docSvg(screen, await settledPicture(agent.nvim)));
  }
  return texts;
}

/** A substitute looks like the first of its cells. */
function masked(cells: readonly PictureCell[]): readonly PictureCell[] {
  const line = cells.map(({ text }) => text.length === 1 ? text : " ").join("");
  const characters = [...cells];
  for (const [pattern, substitute] of MASKS) {
    for (const { 0: found, index } of line.matchAll(pattern)) {
      for (let at = 0; at < found.length; at++) {
        const first = cells[index];
        if (first !== undefined) characters[index + at] = { ...first, text: substitute.charAt(at) };
      }
    }
  }
  return characters;
}
