/** The lines of a chunk that answer a question best. Pure. */
import { nameIn } from "./chunks.ts";
import { stem, wordsIn } from "./words.ts";

/** Lines of a chunk that a result has. */
const MOST_LINES = 5;

/** Characters of a line. */
const LONGEST_LINE = 300;

export interface ResultLine {
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
  readonly isMatch: boolean;
}

/** @param stems of the question's words @param lines of the whole file */
export function bestLines(
  lines: readonly string[],
  { first, last }: { readonly first: number; readonly last: number },
  stems: ReadonlySet<string>,
): readonly ResultLine[] {
  const rows = lines.slice(first - 1, last).map((text, index) => ({ line: first + index, text, score: 0 }));
  const scored = rows.map((row) => ({ ...row, score: scoreOf(row.text, stems) }));
  const best = scored.filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.line - b.line).slice(0, MOST_LINES);
  const matching = new Set(best.map(({ line }) => line));
  const title = scored.find(({ text }) => !IMPORT.test(text) && nameIn(text) !== undefined) ??
    scored.find(({ text }) => text.trim() !== "");
  return scored.filter((row) => matching.has(row.line) || row === title).map(({ line, text }) => ({
    line,
    text: text.slice(0, LONGEST_LINE).trimEnd(),
    isMatch: matching.has(line),
  }));
}

/** Lines that only name what other files have. */
const IMPORT =
  /^\s*(?:import|from|use|#include|require|local [\w, {}]+ = require|const [\w, {}]+ = require)\b/;

/** A definition is worth more than a use. */
function scoreOf(text: string, stems: ReadonlySet<string>): number {
  if (IMPORT.test(text)) return 0;
  const matched = new Set(wordsIn(text.slice(0, LONGEST_LINE)).map(stem).filter((word) => stems.has(word)));
  return matched.size === 0 ? 0 : matched.size + (nameIn(text) === undefined ? 0 : 0.5);
}
