/**
 * Writes parts of a help file anew, from what the code says: heads of entries, tables, code blocks. What else stands
 * there is written by hand, and stays. Pure. Format: `:help help-writing`.
 */

/** What stands under a tag of its own. */
export interface Entry {
  readonly tag: string;
  readonly heading: string;
  /** Its first paragraph; what follows is written by hand, all of it if this is absent. */
  readonly doc?: string;
}

/** Entries of one kind; one with such a tag that is none of them goes. */
export interface HelpEntries {
  /** A regular expression of their tags. */
  readonly like: string;
  readonly of: readonly Entry[];
}

/** The table that follows a tag. */
export interface Table {
  readonly tag: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** A line below each row. */
  readonly more?: readonly string[];
  /** Before each row stands its first cell as a tag, with this before it. */
  readonly tags?: string;
}

/** The first code block after a tag. */
export interface Block {
  readonly tag: string;
  readonly lines: readonly string[];
}

const WIDTH = 78;
const INDENT = " ".repeat(8);
const TAG = /^(?:.*\s)?\*(\S+)\*$/;
const HEAD = /^\S.* ~$/;
const RULE = /^={20,}$/;

export function withEntries(text: string, { like, of }: HelpEntries): string {
  const lines = text.split("\n");
  const kind = new RegExp(like);
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const tag = tagOf(lines[at]);
    if (tag === undefined || !kind.test(tag) || of.some((entry) => entry.tag === tag)) continue;
    lines.splice(at, entryEnd(lines, at) - at);
  }
  let next = 0;
  for (const entry of of) {
    const known = lines.findIndex((line) => line.trim() === `*${entry.tag}*`);
    const at = known < 0 ? next : known;
    if (known < 0) lines.splice(at, 0, ...headOf(entry), "");
    else lines.splice(at, headLength(lines, at, entry), ...headOf(entry));
    next = entryEnd(lines, at);
  }
  return lines.join("\n");
}

function headOf({ tag, heading, doc }: Entry): readonly string[] {
  return [`*${tag}*`.padStart(WIDTH), heading, ...(doc === undefined ? [] : wrapped(doc, INDENT, INDENT))];
}

/** Lines from the tag to the end of the first paragraph, or of the heading. */
function headLength(lines: readonly string[], at: number, { doc }: Entry): number {
  let length = 2;
  while (doc !== undefined && lines[at + length]?.startsWith(INDENT)) length += 1;
  return length;
}

/** The line after an entry: of the next tag, heading or section. */
function entryEnd(lines: readonly string[], at: number): number {
  const found = lines.findIndex((line, index) =>
    index > at && (tagOf(line) !== undefined || HEAD.test(line) || RULE.test(line))
  );
  return found < 0 ? lines.length : found;
}

function tagOf(line = ""): string | undefined {
  return TAG.exec(line)?.[1];
}

export function withTable(text: string, { tag, head, rows, more = [], tags }: Table): string {
  const lines = text.split("\n");
  const from = after(lines, tag, (line) => HEAD.test(line));
  const widths = head.map((cell, at) =>
    Math.max(...[cell, ...rows.map((row) => row[at] ?? "")].map(size)) + 2
  );
  const before = (row: readonly string[]) =>
    row.slice(0, -1).map((cell, at) => padded(cell, widths[at] ?? 0)).join("");
  const table = rows.flatMap((row, at) => [
    ...(tags === undefined ? [] : [`*${tags}${row[0]}*`.padStart(WIDTH)]),
    ...wrapped(row.at(-1) ?? "", before(row), " ".repeat(size(before(row)))),
    ...(more[at] === undefined ? [] : [INDENT + more[at]]),
  ]);
  const length = lines.slice(from).indexOf("");
  lines.splice(from, length, `${before(head)}${head.at(-1)} ~`, ...table);
  return lines.join("\n");
}

export function withBlock(text: string, { tag, lines: wanted }: Block): string {
  const lines = text.split("\n");
  const from = after(lines, tag, (line) => /(^|\s)>$/.test(line)) + 1;
  const length = lines.slice(from).findIndex((line) => /^\S/.test(line));
  lines.splice(from, length, ...wanted.map((line) => `    ${line}`.trimEnd()));
  return lines.join("\n");
}

/** What is shown of a screen: what stands beside a window is left out. */
export interface HelpPart {
  /** In the first row. */
  readonly from: string;
  /** Rows, or windows with borders from there on. */
  readonly rows?: number;
  readonly windows?: number;
}

/** @throws {Error} if it is not on the screen */
export function cropped(screen: string, { from, rows, windows = 0 }: HelpPart): readonly string[] {
  const lines = screen.trimEnd().split("\n");
  const first = lines.findIndex((line) => line.includes(from));
  if (first < 0) throw new Error(`the screen has no "${from}"`);
  if (rows !== undefined) return lines.slice(first, first + rows);
  const ends = lines.flatMap((line, at) => at >= first && line.includes("╯") ? [at] : []);
  const part = lines.slice(first, (ends[windows - 1] ?? first) + 1);
  const edges = (edge: string) => part.map((line) => [...line].indexOf(edge)).filter((at) => at >= 0);
  const [left, right] = [Math.min(...edges("╭")), Math.max(...edges("╮"))];
  return part.map((line) => [...line].slice(left, right + 1).join(""));
}

/** The first such line after a tag. */
function after(lines: readonly string[], tag: string, is: (line: string) => boolean): number {
  const from = lines.findIndex((line) => tagOf(line) === tag);
  const found = lines.findIndex((line, at) => at > from && is(line));
  if (from < 0 || found < 0) throw new Error(`doc/agent.txt: nothing to write after *${tag}*`);
  return found;
}

/** Words in lines that fit: `first` before the first one, `indent` before the others. */
export function wrapped(text: string, first: string, indent: string): readonly string[] {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(" ")) {
    if (!isEmpty && size(line) + 1 + size(word) > WIDTH) {
      lines.push(line);
      line = indent;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}

function size(text: string): number {
  return [...text].length;
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - size(text)));
}
