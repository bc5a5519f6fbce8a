/** Splits a text file into chunks at good borders, with the fields that the index weighs. Pure. */
import { splitNames } from "./words.ts";

export interface Chunk {
  /** Lines are counted from 1; both are included. */
  readonly first: number;
  readonly last: number;
  /** Names that are defined here. */
  readonly names: string;
  readonly comments: string;
  readonly text: string;
}

/** Lines of a chunk: at most, and at least before a border ends it. */
const MOST_LINES = 60;
const LEAST_LINES = 25;

/** Characters of a line that are indexed: a longer line is data. */
const LONGEST_LINE = 400;

/** Chunks of a file that are indexed: a longer file is data. */
const MOST_CHUNKS = 400;

const MODIFIER = "export|pub|public|private|protected|static|async|abstract|final|default|local|inline";
const DEFINITION =
  "function|fn|func|def|class|struct|interface|type|enum|trait|impl|module|namespace|object|record|describe|test";
/** The start of a definition or of a section. */
const BORDER = new RegExp(
  `^(?:(?:${MODIFIER}) )*(?:${DEFINITION}|const [A-Z])\\b|^#+ |^/\\*\\*|^Deno\\.test\\b`,
);

const NAMED =
  /(?:^|[\s(])(?:function|fn|func|def|class|struct|interface|type|enum|trait|impl|module|namespace|macro_rules!|typedef|const|let|var|val|static)\s+(?:\([^)]*\)\s*)?[*&]?([A-Za-z_$][\w$.:]*)/;
/** A function of C, or a method. */
const CALLABLE = /^(?:[A-Za-z_][\w*&<>:, ]*[\s*&])?([A-Za-z_]\w*)\s*\([^;]*$/;
const HEADING = /^#{1,6}\s+(.*)/;
/** A tag of Vim's help. */
const TAG = /^\s*\*([\w.:-]+)\*/;

const COMMENT = /^\s*(?:\/\/+[/!]?|\/\*+|\*+(?!\/)|#+(?![!#\w[])|--+|;+|"""|'''|<!--)\s?(.*)/;
const TRAILING_COMMENT = /\s(?:\/\/|--|#)\s+(\S.*)$/;

export function chunksOf(text: string): readonly Chunk[] {
  const lines = text.split("\n").map((line) =>
    line.length > LONGEST_LINE ? line.slice(0, LONGEST_LINE) : line
  );
  const chunks: Chunk[] = [];
  let at = 0;
  while (at < lines.length && chunks.length < MOST_CHUNKS) {
    const end = endOf(lines, at);
    const part = lines.slice(at, end);
    if (part.some((line) => line.trim() !== "")) chunks.push(chunkOf(part, at + 1));
    at = end;
  }
  return chunks;
}

function endOf(lines: readonly string[], at: number): number {
  const most = Math.min(at + MOST_LINES, lines.length);
  const least = at + LEAST_LINES;
  if (most === lines.length) return most;
  for (let end = most; end > least; end--) {
    if (BORDER.test(lines[end] ?? "")) return beforeComments(lines, end, least);
  }
  for (let end = most; end > least; end--) if (lines[end]?.trim() === "") return end;
  return most;
}

/** A comment belongs to the definition below it. */
function beforeComments(lines: readonly string[], end: number, least: number): number {
  let start = end;
  while (start > least && COMMENT.test(lines[start - 1] ?? "")) start -= 1;
  return start > least ? start : end;
}

function chunkOf(lines: readonly string[], first: number): Chunk {
  const comments = lines.flatMap((line) => COMMENT.exec(line)?.[1] ?? TRAILING_COMMENT.exec(line)?.[1] ?? []);
  return {
    first,
    last: first + lines.length - 1,
    names: splitNames(lines.flatMap((line) => nameIn(line) ?? []).join(" ")),
    comments: splitNames(comments.join("\n")),
    text: splitNames(lines.join("\n")),
  };
}

/** The name that a line defines. */
export function nameIn(line: string): string | undefined {
  return [HEADING, TAG, NAMED, CALLABLE].map((pattern) => pattern.exec(line)?.[1])
    .find((name) => name !== undefined);
}
