/**
 * Finds the text of an edit and replaces it, in four tiers: exact, line endings, trailing white space, one shift of
 * indentation. It is never fuzzier, because a misplaced edit is worse than a refused one. Pure.
 */
import { ToolError } from "../../../shared/errors.ts";
import { type LineEnding, lineEnding, splitLines, withEnding } from "../../../shared/text/text.ts";

interface Edit {
  readonly old_str: string;
  readonly new_str: string;
  readonly replace_all?: boolean | undefined;
}

/** A place in the text and its new content. Offsets in UTF-16 units. */
interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Matches to count if only one is allowed. */
const MOST_FOUND = 1_000;

/** Applies all edits in order, or none. @throws {ToolError} */
export function applyEdits(text: string, edits: readonly Edit[], path: string): string {
  return edits.reduce((current, edit, index) => {
    const label = edits.length === 1 ? "" : `edit ${index + 1} of ${edits.length}: `;
    return applyEdit(current, edit, path, label);
  }, text);
}

function applyEdit(text: string, edit: Edit, path: string, label: string): string {
  if (edit.old_str === "") {
    if (text === "") return edit.new_str;
    throw new ToolError(
      `${label}old_str is empty. Copy the lines to replace from ${path}, or use write.`,
    );
  }
  if (edit.old_str === edit.new_str) throw new ToolError(`${label}old_str and new_str are the same.`);
  const found = find(text, edit);
  if (found.length === 0) {
    throw new ToolError(`${label}old_str was not found ${nearest(text, edit.old_str, path)}`);
  }
  if (found.length > 1 && edit.replace_all !== true) {
    const lines = found.slice(0, 10).map(({ start }) => lineNumber(text, start)).join(", ");
    const more = found.length === MOST_FOUND ? "at least " : "";
    throw new ToolError(
      `${label}old_str occurs ${more}${found.length} times in ${path} (lines ${lines}). Add lines around it or set replace_all.`,
    );
  }
  let result = "";
  let at = 0;
  for (const { start, end, text: replacement } of found) {
    result += text.slice(at, start) + replacement;
    at = end;
  }
  return result + text.slice(at);
}

/** Matches of the first tier that has any; with `replace_all`, those that do not overlap. */
function find(text: string, edit: Edit): readonly Replacement[] {
  const ending = lineEnding(text) ?? "\n";
  const exact = findExact(text, edit);
  if (exact.length > 0) return exact.map((found) => ({ ...found, text: asThere(text, found, edit, ending) }));
  const { old_str, new_str, replace_all } = edit;
  const adapted = { old_str: withEnding(old_str, ending), new_str: withEnding(new_str, ending), replace_all };
  const otherEnding = findExact(text, adapted);
  if (otherEnding.length > 0) return otherEnding;
  const trimmed = findLines(text, edit, ending, trailingTier);
  return trimmed.length > 0 ? trimmed : findLines(text, edit, ending, indentTier);
}

/** Overlapping matches count too, because they are ambiguous. */
function findExact(text: string, edit: Edit): readonly Replacement[] {
  const { old_str: old, new_str: replacement } = edit;
  const step = edit.replace_all === true ? old.length : 1;
  const found: Replacement[] = [];
  for (let start = text.indexOf(old); start !== -1; start = text.indexOf(old, start + step)) {
    found.push({ start, end: start + old.length, text: replacement });
    if (found.length === MOST_FOUND && edit.replace_all !== true) break;
  }
  return found;
}

/**
 * Models write "
 * "; new lines within a line get that line's ending.
 */
function asThere(text: string, { end }: Replacement, edit: Edit, ending: LineEnding): string {
  if (/[\r\n]/.test(edit.old_str)) return edit.new_str;
  const [there = ending] = text.slice(end).match(/\r\n|\n|\r/) ?? [];
  return there === "\n" ? edit.new_str : edit.new_str.replace(/\r?\n/g, there);
}

/** Compares whole lines from `at` on. @returns how to rewrite the new lines; undefined if they do not match */
export type Tier = (have: readonly Line[], at: number, want: readonly Line[]) => Rewrite | undefined;
type Rewrite = (line: string) => string;

export const trailingTier: Tier = (have, at, want) =>
  want.every((line, index) => have[at + index]?.trimmed === line.trimmed) ? (line) => line : undefined;

/** Every line is indented by the same additional, or the same missing, white space. */
export const indentTier: Tier = (have, at, want) => {
  if (!want.every((line, index) => have[at + index]?.bare === line.bare)) return undefined;
  const first = want.findIndex((line) => line.bare !== "");
  const [haveIndent, wantIndent] = [indentOf(have[at + first]), indentOf(want[first])];
  if (haveIndent.endsWith(wantIndent)) {
    const more = haveIndent.slice(0, haveIndent.length - wantIndent.length);
    const shifted = want.every(({ trimmed }, index) =>
      trimmed === "" || have[at + index]?.trimmed === more + trimmed
    );
    return shifted ? (line) => line.trim() === "" ? line : more + line : undefined;
  }
  if (wantIndent.endsWith(haveIndent)) {
    const less = wantIndent.slice(0, wantIndent.length - haveIndent.length);
    const shifted = want.every(({ trimmed }, index) =>
      trimmed === "" || less + have[at + index]?.trimmed === trimmed
    );
    return shifted ? (line) => line.startsWith(less) ? line.slice(less.length) : line : undefined;
  }
  return undefined;
};

function indentOf(line: Line | undefined): string {
  return line === undefined ? "" : line.trimmed.slice(0, line.trimmed.length - line.bare.length);
}

function findLines(text: string, edit: Edit, ending: LineEnding, tier: Tier): readonly Replacement[] {
  const have = linesWithOffsets(text);
  const want = linesWithOffsets(edit.old_str);
  if (want.every(({ bare }) => bare === "")) return [];
  const step = edit.replace_all === true ? want.length : 1;
  const found: Replacement[] = [];
  for (let at = 0; at + want.length <= have.length;) {
    const rewrite = tier(have, at, want);
    const first = have[at];
    const last = have[at + want.length - 1];
    if (rewrite === undefined || first === undefined || last === undefined) {
      at += 1;
      continue;
    }
    const written = edit.new_str.split(/\r\n|\n|\r/).map(rewrite);
    const endsLine = /[\r\n]$/.test(edit.old_str);
    // The file's last line has no ending for the new text.
    if (endsLine && last.next === last.end && written.at(-1) === "") written.pop();
    found.push({ start: first.start, end: endsLine ? last.next : last.end, text: written.join(ending) });
    at += step;
  }
  return found;
}

export interface Line {
  /** Without trailing white space, and without any around it. */
  readonly trimmed: string;
  readonly bare: string;
  readonly start: number;
  /** Offset after the line's text, and after its line ending. */
  readonly end: number;
  readonly next: number;
}

export function linesWithOffsets(text: string): readonly Line[] {
  const lines: Line[] = [];
  const add = (start: number, end: number, next: number) => {
    const trimmed = text.slice(start, end).trimEnd();
    lines.push({ trimmed, bare: trimmed.trimStart(), start, end, next });
  };
  let start = 0;
  for (const { 0: ending, index } of text.matchAll(/\r\n|\n|\r/g)) {
    add(start, index, index + ending.length);
    start = index + ending.length;
  }
  if (start < text.length) add(start, text.length, text.length);
  return lines;
}

function lineNumber(text: string, offset: number): number {
  return splitLines(text.slice(0, offset) + "x").length;
}

/** Lines of the file and of the text that are compared to find the nearest place. */
const MOST_LINES = 20_000;
const MOST_WANTED = 8;
const LONGEST_LINE = 200;

/** The end of a sentence about a missing text: the most similar place in the file. */
export function nearest(text: string, old: string, path: string): string {
  const advice = "Read the file again and copy the text exactly.";
  const lines = splitLines(text);
  if (lines.length > MOST_LINES) return `in ${path}. ${advice}`;
  const wanted = splitLines(old.replace(/^\s*[\r\n]/, "")).slice(0, MOST_WANTED).map(wordsOf);
  const have = lines.map(wordsOf);
  let best = { score: 0, at: 0 };
  for (let at = 0; at < have.length; at++) {
    const score = wanted.reduce((sum, line, index) => sum + similarity(line, have[at + index]), 0);
    if (score > best.score) best = { score, at };
  }
  if (best.score < wanted.filter(({ line }) => line !== "").length * 0.5) {
    return `in ${path}, nor anything like it. ${advice}`;
  }
  const near = lines.slice(best.at, best.at + wanted.length)
    .map((line, index) => `${best.at + index + 1}: ${line.slice(0, LONGEST_LINE)}`);
  return `in ${path}. The nearest lines are:\n${near.join("\n")}\n${advice}`;
}

interface Words {
  readonly line: string;
  readonly words: ReadonlySet<string>;
}

function wordsOf(line: string): Words {
  return { line: line.trim(), words: new Set(line.match(/\w+/g) ?? []) };
}

/** Share of words in common, 0 to 1. */
function similarity(a: Words, b: Words | undefined): number {
  if (a.line === "" || b === undefined) return 0;
  if (a.line === b.line) return 1;
  let common = 0;
  for (const word of a.words) if (b.words.has(word)) common += 1;
  const all = a.words.size + b.words.size;
  return all === 0 ? 0 : (2 * common) / all;
}
