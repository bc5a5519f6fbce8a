/**
 * Parses OpenAI's patch format: sections that add, delete, update and move files. Pure.
 * Source: github.com/openai/codex, codex-rs/apply-patch (apply_patch_tool_instructions.md, src/parser.rs). Lines are
 * matched by the tiers of edit_match.ts, which are stricter than the source's: ambiguous hunks are refused, and context
 * lines stay as in the file.
 */
import { ToolError } from "../../../shared/errors.ts";
import { type LineEnding, lineEnding } from "../../../shared/text/text.ts";
import { indentTier, type Line, linesWithOffsets, nearest, type Tier, trailingTier } from "./edit_match.ts";

interface HunkLine {
  readonly mark: " " | "-" | "+";
  readonly text: string;
}

interface Hunk {
  /** Its first line in the patch, from 1. */
  readonly line: number;
  /** Lines of the file before it, in order. */
  readonly under: readonly string[];
  readonly lines: readonly HunkLine[];
  /** It ends at the end of the file. */
  readonly atEnd: boolean;
}

export type PatchSection =
  | { readonly type: "add"; readonly path: string; readonly text: string }
  | { readonly type: "delete"; readonly path: string }
  | { readonly type: "update"; readonly path: string; readonly to?: string; readonly hunks: readonly Hunk[] };

const HEADER = /^\*\*\* (Add|Delete|Update) File: (.+)$/;

/** The same as a Lark grammar, for models with constrained output. */
export const PATCH_GRAMMAR = `start: "*** Begin Patch" LF section+ "*** End Patch" LF?
section: added | deleted | updated
added: "*** Add File: " path LF ("+" rest LF)+
deleted: "*** Delete File: " path LF
updated: "*** Update File: " path LF moved? changes?
moved: "*** Move to: " path LF
changes: (place | line)+ ("*** End of File" LF)?
place: ("@@" | "@@ " path) LF
line: (" " | "-" | "+") rest LF
path: /(.+)/
rest: /(.*)/
%import common.LF
`;

/** The paths of its sections, also of an incomplete text. */
export function pathsOfPatch(patch: string): readonly string[] {
  return patch.split("\n").flatMap((line) => HEADER.exec(line.trim())?.[2] ?? []);
}

/** @throws {ToolError} that names the invalid line */
export function parsePatch(patch: string): readonly PatchSection[] {
  const lines = envelope(patch.split(/\r?\n/));
  const sections: PatchSection[] = [];
  for (let at = 1; at < lines.length;) {
    const line = lines[at] ?? "";
    const [, kind, path = ""] = HEADER.exec(line.trim()) ?? [];
    const end = endOfSection(lines, at + 1);
    if (kind !== undefined) sections.push(section(kind, path.trim(), lines, at + 1, end));
    else if (line.trim() !== "") {
      throw wrong(at, line, "a section begins with *** Add File:, *** Update File: or *** Delete File:");
    }
    at = kind === undefined ? at + 1 : end;
  }
  if (sections.length === 0) throw new ToolError("The patch has no section.");
  return sections;
}

/** Removes fences and here-documents around the patch. @returns lines, without the end mark */
function envelope(lines: readonly string[]): readonly string[] {
  const begin = lines.findIndex((line) => line.trim() === "*** Begin Patch");
  const end = lines.findLastIndex((line) => line.trim() === "*** End Patch");
  const around = (part: readonly string[]) =>
    part.every((line) => /^(?:|```\w*|(?:apply_patch\s*)?<<\s*["']?\w+["']?|[A-Z]+)$/.test(line.trim()));
  if (begin === -1 || !around(lines.slice(0, begin))) {
    throw new ToolError('A patch begins with the line "*** Begin Patch".');
  }
  if (end < begin || !around(lines.slice(end + 1))) {
    throw new ToolError(
      'A patch ends with the line "*** End Patch": this one was cut off, nothing was written.',
    );
  }
  return [...lines.slice(begin, end)];
}

function endOfSection(lines: readonly string[], from: number): number {
  const end = lines.findIndex((line, index) => index >= from && HEADER.test(line.trimEnd()));
  return end === -1 ? lines.length : end;
}

function section(
  kind: string,
  path: string,
  all: readonly string[],
  from: number,
  end: number,
): PatchSection {
  const lines = all.slice(from, end);
  switch (kind) {
    case "Add": {
      while (lines.at(-1)?.trim() === "") lines.pop();
      const bad = lines.findIndex((line) => !line.startsWith("+"));
      if (bad !== -1) throw wrong(from + bad, lines[bad] ?? "", "each line of a new file begins with +");
      return { type: "add", path, text: lines.map((line) => `${line.slice(1)}\n`).join("") };
    }
    case "Delete": {
      const bad = lines.findIndex((line) => line.trim() !== "");
      if (bad !== -1) throw wrong(from + bad, lines[bad] ?? "", "nothing follows *** Delete File:");
      return { type: "delete", path };
    }
    default: {
      const [, to] = /^\*\*\* Move to: (.+)$/.exec((lines[0] ?? "").trim()) ?? [];
      const skip = to === undefined ? 0 : 1;
      const hunks = hunksOf(lines.slice(skip), from + skip);
      if (hunks.length === 0 && to === undefined) {
        throw new ToolError(`The patch changes nothing of ${path}.`);
      }
      return { type: "update", path, ...(to === undefined ? {} : { to: to.trim() }), hunks };
    }
  }
}

/** Places of a hunk that an error lists. */
const MOST_PLACES = 10;

/** Models drop the space of an empty line. */
const BLANK: HunkLine = { mark: " ", text: "" };

/** @param first index of the first of these lines in the patch */
function hunksOf(lines: readonly string[], first: number): readonly Hunk[] {
  const hunks: Hunk[] = [];
  let hunk: { line: number; under: string[]; lines: HunkLine[]; atEnd: boolean } | undefined;
  const close = () => {
    // Blank lines before the next mark separate hunks.
    while (hunk?.lines.at(-1) === BLANK) hunk.lines.pop();
    if (hunk !== undefined && hunk.lines.some(({ mark }) => mark !== " ")) hunks.push(hunk);
    hunk = undefined;
  };
  const open = (at: number) => hunk ??= { line: first + at + 1, under: [], lines: [], atEnd: false };
  for (const [at, line] of lines.entries()) {
    const mark = line.charAt(0);
    if (/^@@(?:\s|$)/.test(line)) {
      if (hunk !== undefined && hunk.lines.length > 0) close();
      // Line numbers of other patch formats are ignored, because models make them up.
      const header = line.slice(2).replace(/^\s*-\d+(?:,\d+)? \+\d+(?:,\d+)? @@.*$/, "").trim();
      const { under } = open(at);
      if (header !== "") under.push(header);
    } else if (line.trimEnd() === "*** End of File") {
      open(at).atEnd = true;
      close();
    } else if (mark === " " || mark === "-" || mark === "+") {
      open(at).lines.push({ mark, text: line.slice(1) });
    } else if (line === "") {
      hunk?.lines.push(BLANK);
    } else {
      throw wrong(first + at, line, "a line of a hunk begins with a space, - or +");
    }
  }
  close();
  return hunks;
}

function wrong(at: number, line: string, rule: string): ToolError {
  return new ToolError(`Line ${at + 1} of the patch is "${line.slice(0, 100)}": ${rule}.`);
}

/** Lines as they are, with endings. */
interface Place {
  readonly at: number;
  readonly rewrite: (line: string) => string;
}

/** Applies all hunks. @throws {ToolError} that names the first hunk that does not fit */
export function applyHunks(text: string, hunks: readonly Hunk[], path: string): string {
  const have = linesWithOffsets(text);
  const places = placesOf(have);
  const ending = lineEnding(text) ?? "\n";
  const out: string[] = [];
  let from = 0;
  const copy = (end: number) => {
    for (; from < end; from++) out.push(whole(text, have[from], ending));
  };
  for (const [index, hunk] of hunks.entries()) {
    const label = `${path}, hunk ${index + 1} (line ${hunk.line} of the patch)`;
    const { at, rewrite } = find(hunk, { text, have, places, from, label, path });
    copy(at);
    // New lines get the line endings around them.
    const there = endingOf(text, have[at]) ?? endingOf(text, have[at - 1]) ?? ending;
    for (const line of hunk.lines) {
      if (line.mark === "+") out.push(rewrite(line.text) + there);
      else if (line.mark === "-") from += 1;
      else copy(from + 1);
    }
  }
  copy(have.length);
  const result = out.join("");
  // A missing final newline stays missing.
  const isOpen = text !== "" && have.at(-1)?.next === have.at(-1)?.end;
  return isOpen ? result.replace(/(?:\r\n|\n|\r)$/, "") : result;
}

interface Search {
  readonly text: string;
  readonly have: readonly Line[];
  /** The positions of each line without its indentation, in order. */
  readonly places: ReadonlyMap<string, readonly number[]>;
  /** The first line after earlier hunks. */
  readonly from: number;
  readonly label: string;
  readonly path: string;
}

function find(hunk: Hunk, search: Search): Place {
  const { text, have, places, label, path } = search;
  let { from } = search;
  for (const header of hunk.under) {
    const at = behind(places.get(header), from).next().value ?? beginsWith(have, header, from);
    if (at === undefined) {
      throw new ToolError(`${label}: the line "${header}" after @@ was not found below the hunk before.`);
    }
    from = at + 1;
  }
  const old = hunk.lines.filter(({ mark }) => mark !== "+").map((line) => line.text);
  if (old.length === 0) {
    if (hunk.under.length === 0) return { at: have.length, rewrite: (line) => line };
    throw new ToolError(
      `${label} only adds lines: give a line of the file beside them, with a space before it.`,
    );
  }
  const want = linesWithOffsets(old.map((line) => `${line}\n`).join(""));
  const exact: Tier = (lines, at) =>
    old.every((line, index) => rawOf(text, lines[at + index]) === line) ? (line) => line : undefined;
  for (const tier of [exact, trailingTier, indentTier]) {
    const found: Place[] = [];
    const last = have.length - want.length;
    for (const at of behind(places.get(want[0]?.bare ?? ""), hunk.atEnd ? Math.max(from, last) : from)) {
      if (at > last || found.length === MOST_PLACES) break;
      const rewrite = tier(have, at, want);
      if (rewrite !== undefined) found.push({ at, rewrite });
      // Below a named line, the nearest match counts.
      if (found.length > 0 && hunk.under.length > 0) break;
    }
    const [first] = found;
    if (first !== undefined && found.length === 1) return first;
    if (first !== undefined) {
      const lines = found.map(({ at }) => at + 1).join(", ");
      const more = found.length === MOST_PLACES ? "at least " : "";
      throw new ToolError(
        `${label} fits in ${more}${found.length} places (lines ${lines}). Add lines around it, or a line "@@ " with the function above it.`,
      );
    }
  }
  throw new ToolError(`${label}: its lines were not found ${nearest(text, old.join("\n"), path)}`);
}

function placesOf(have: readonly Line[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [at, { bare }] of have.entries()) {
    const known = places.get(bare);
    if (known === undefined) places.set(bare, [at]);
    else known.push(at);
  }
  return places;
}

/** Positions from `from` on. @param places in order */
function* behind(places: readonly number[] = [], from: number): Generator<number> {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  for (let at = low; at < places.length; at++) yield places[at] ?? 0;
}

function beginsWith(have: readonly Line[], header: string, from: number): number | undefined {
  for (let at = from; at < have.length; at++) if (have[at]?.bare.startsWith(header)) return at;
  return undefined;
}

function rawOf(text: string, line: Line | undefined): string | undefined {
  return line === undefined ? undefined : text.slice(line.start, line.end);
}

function endingOf(text: string, line: Line | undefined): string | undefined {
  return line === undefined || line.next === line.end ? undefined : text.slice(line.end, line.next);
}

function whole(text: string, line: Line | undefined, ending: LineEnding): string {
  return line === undefined ? "" : text.slice(line.start, line.end) + (endingOf(text, line) ?? ending);
}
