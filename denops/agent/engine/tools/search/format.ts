/** Search results as text for the model. Pure. */
import type { FoundLine } from "../../../protocol/search.ts";
import type { GrepResult } from "../../ports/search.ts";
import type { LeftOut } from "../../ports/commands.ts";

/** One section per file, matches with an arrow. */
export function grepText({ lines, total, more }: GrepResult, most: number): string {
  if (total === 0) return "Nothing was found.";
  const files = new Map<string, FoundLine[]>();
  for (const line of lines) files.set(line.path, [...files.get(line.path) ?? [], line]);
  const sections = [...files].sort(([a], [b]) => a < b ? -1 : 1)
    .map(([path, found]) => `── ${path} ──\n${rowsOf(found)}`);
  const left = total - Math.min(total, most);
  const note = left > 0 ? [`[${more ? "at least " : ""}${left} more matches; narrow the search]`] : [];
  return [...sections, ...note].join("\n\n");
}

/** Lines with their numbers, matches with an arrow. */
export function rowsOf(found: readonly Omit<FoundLine, "path">[]): string {
  const width = String(found.at(-1)?.line ?? 0).length;
  return found.map(({ line, text, isMatch }, index) => {
    const previous = found[index - 1];
    const gap = previous !== undefined && line > previous.line + 1 ? "  ⋮\n" : "";
    return `${gap}${isMatch ? "→" : " "} ${String(line).padStart(width)}: ${text}`;
  }).join("\n");
}

/** A line about omitted files and the reason; empty if nothing was omitted. */
export function leftOutNote(leftOut: LeftOut | undefined): readonly string[] {
  if (leftOut === undefined || leftOut.count === 0) return [];
  const files = leftOut.count === 1 ? "1 file was" : `${leftOut.count} files were`;
  return [
    `[${files} left out: the user is asked before such a file is read (${
      leftOut.rules.join(", ")
    }); use read]`,
  ];
}

/** Paths that contain every word, best first: in the name before in the folders, short before long. */
export function fuzzyPaths(paths: readonly string[], words: string): readonly string[] {
  const wanted = words.toLowerCase().split(/[\s/]+/).filter((word) => word !== "");
  const scored = paths.flatMap((path) => {
    const score = fuzzyScore(path.toLowerCase(), wanted);
    return score === undefined ? [] : [{ path, score }];
  });
  return scored.sort((a, b) =>
    b.score - a.score || a.path.length - b.path.length || (a.path < b.path ? -1 : 1)
  )
    .map(({ path }) => path);
}

function fuzzyScore(path: string, words: readonly string[]): number | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  let score = 0;
  for (const word of words) {
    if (name === word || name.startsWith(`${word}.`)) score += 100;
    else if (name.startsWith(word)) score += 60;
    else if (name.includes(word)) score += 40;
    else if (path.includes(word)) score += 20;
    else if (isSubsequence(word, name)) score += 10;
    else if (isSubsequence(word, path)) score += 1;
    else return undefined;
  }
  return score;
}

function isSubsequence(word: string, text: string): boolean {
  let at = 0;
  for (const character of word) {
    at = text.indexOf(character, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
