/**
 * Finds the text that an edit names, and replaces it. Four tiers, each stricter than a guess: exact → line
 * endings → trailing white space → one shift of indentation. Never fuzzier: an edit in the wrong place is worse
 * than one refused. Pure.
 */
import { ToolError } from "../../core/errors.ts";
import { type LineEnding, lineEnding, splitLines, withEnding } from "./text.ts";

export interface Edit {
  readonly old_str: string;
  readonly new_str: string;
  readonly replace_all?: boolean | undefined;
}

/** A place in the text and what stands there afterwards. Offsets in UTF-16 units. */
interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** All edits in order, or an error and none. @throws {ToolError} */
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
      `${label}old_str is empty. Copy the lines to replace from ${path}, or use write_file.`,
    );
  }
  if (edit.old_str === edit.new_str) throw new ToolError(`${label}old_str and new_str are the same.`);
  const found = find(text, edit);
  if (found.length === 0) throw new ToolError(label + notFound(text, edit.old_str, path));
  if (found.length > 1 && edit.replace_all !== true) {
    const lines = found.map(({ start }) => lineNumber(text, start)).slice(0, 10).join(", ");
    throw new ToolError(
      `${label}old_str occurs ${found.length} times in ${path} (lines ${lines}). Add lines around it or set replace_all.`,
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

/** Matches of the first tier that has any. */
function find(text: string, edit: Edit): readonly Replacement[] {
  const ending = lineEnding(text) ?? "\n";
  const exact = findExact(text, edit.old_str, edit.new_str);
  if (exact.length > 0) return exact;
  const adapted = findExact(text, withEnding(edit.old_str, ending), withEnding(edit.new_str, ending));
  if (adapted.length > 0) return adapted;
  const trimmed = findLines(text, edit, ending, trailingTier);
  return trimmed.length > 0 ? trimmed : findLines(text, edit, ending, indentTier);
}

function findExact(text: string, old: string, replacement: string): readonly Replacement[] {
  const found: Replacement[] = [];
  for (let start = text.indexOf(old); start !== -1; start = text.indexOf(old, start + old.length)) {
    found.push({ start, end: start + old.length, text: replacement });
  }
  return found;
}

/** Compares whole lines; gives how to write the new ones, or undefined if they do not match. */
type Tier = (have: readonly string[], want: readonly string[]) => ((line: string) => string) | undefined;

const trailingTier: Tier = (have, want) =>
  have.every((line, index) => line.trimEnd() === want[index]?.trimEnd()) ? (line) => line : undefined;

/** Every line is indented deeper, or less deep, by the same white space. */
const indentTier: Tier = (have, want) => {
  const pairs = have.map((line, index) => [line.trimEnd(), (want[index] ?? "").trimEnd()] as const);
  if (!pairs.every(([a, b]) => a.trimStart() === b.trimStart())) return undefined;
  const [first] = pairs.filter(([a]) => a !== "");
  if (first === undefined) return undefined;
  const [haveIndent, wantIndent] = first.map((line) => line.slice(0, line.length - line.trimStart().length));
  if (haveIndent === undefined || wantIndent === undefined) return undefined;
  if (haveIndent.endsWith(wantIndent)) {
    const more = haveIndent.slice(0, haveIndent.length - wantIndent.length);
    const shifted = pairs.every(([a, b]) => a === "" || a === more + b);
    return shifted ? (line) => line.trim() === "" ? line : more + line : undefined;
  }
  if (wantIndent.endsWith(haveIndent)) {
    const less = wantIndent.slice(0, wantIndent.length - haveIndent.length);
    const shifted = pairs.every(([a, b]) => a === "" || less + a === b);
    return shifted ? (line) => line.startsWith(less) ? line.slice(less.length) : line : undefined;
  }
  return undefined;
};

function findLines(text: string, edit: Edit, ending: LineEnding, tier: Tier): readonly Replacement[] {
  const have = linesWithOffsets(text);
  const want = splitLines(edit.old_str);
  if (want.every((line) => line.trim() === "")) return [];
  const found: Replacement[] = [];
  for (let at = 0; at + want.length <= have.length; at++) {
    const window = have.slice(at, at + want.length);
    const rewrite = tier(window.map((line) => line.text), want);
    const first = window[0];
    const last = window.at(-1);
    if (rewrite === undefined || first === undefined || last === undefined) continue;
    const endsLine = /[\r\n]$/.test(edit.old_str);
    const written = edit.new_str.split(/\r\n|\n|\r/).map(rewrite).join(ending);
    found.push({ start: first.start, end: endsLine ? last.next : last.end, text: written });
    at += want.length - 1;
  }
  return found;
}

interface Line {
  readonly text: string;
  readonly start: number;
  /** Offset after the line's text, and after its line ending. */
  readonly end: number;
  readonly next: number;
}

function linesWithOffsets(text: string): readonly Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const { 0: ending, index } of text.matchAll(/\r\n|\n|\r/g)) {
    lines.push({ text: text.slice(start, index), start, end: index, next: index + ending.length });
    start = index + ending.length;
  }
  if (start < text.length) {
    lines.push({ text: text.slice(start), start, end: text.length, next: text.length });
  }
  return lines;
}

function lineNumber(text: string, offset: number): number {
  return splitLines(text.slice(0, offset) + "x").length;
}

/** Says where the file comes nearest to the first line that was looked for. */
function notFound(text: string, old: string, path: string): string {
  const wanted = splitLines(old).map((line) => line.trim()).filter((line) => line !== "");
  const lines = splitLines(text);
  let best = { score: 0, at: 0 };
  for (let at = 0; at < lines.length; at++) {
    const score = wanted.reduce(
      (sum, line, index) => sum + similarity(line, lines[at + index]?.trim() ?? ""),
      0,
    );
    if (score > best.score) best = { score, at };
  }
  const advice = "Read the file again and copy the text exactly.";
  if (best.score < wanted.length * 0.5) {
    return `old_str was not found in ${path}, nor anything like it. ${advice}`;
  }
  const near = lines.slice(best.at, best.at + Math.min(wanted.length, 8))
    .map((line, index) => `${best.at + index + 1}: ${line}`);
  return `old_str was not found in ${path}. The nearest lines are:\n${near.join("\n")}\n${advice}`;
}

/** Share of words in common, 0 to 1. */
function similarity(a: string, b: string): number {
  if (a === b) return 1;
  const words = (line: string) => new Set(line.match(/\w+/g) ?? []);
  const [left, right] = [words(a), words(b)];
  const common = [...left].filter((word) => right.has(word)).length;
  return left.size + right.size === 0 ? 0 : (2 * common) / (left.size + right.size);
}
