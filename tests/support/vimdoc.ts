/**
 * A help file taken apart, so that it can be compared with the code: tags, links, code blocks, entries under
 * a tag, tables under a head line. Pure. Format: `:help help-writing`.
 */

interface Line {
  readonly text: string;
  /** Inside of a code block: no tag and no link is one there. */
  readonly code: boolean;
}

/** What stands under a tag, up to the next one. */
export interface Entry {
  readonly tag: string;
  /** The first line. */
  readonly heading: string;
  /** The indented text below, white space made single; code blocks are left out. */
  readonly paragraphs: readonly string[];
  /** The code blocks below, without the indentation that all of their lines share. */
  readonly code: readonly string[];
}

/** A row of a table; lines below it that begin with a blank are `more`. */
export interface Row {
  readonly cells: readonly string[];
  readonly more: readonly string[];
}

const RULE = /^={20,}$/;
const TAG = /(?<=^|\s)\*([^*\s|]+)\*(?=\s|$)/g;
const CODE_START = /(?:^|\s)>[a-z]*$/;
const HEAD = /\S +~$/;

export class Vimdoc {
  readonly #lines: readonly Line[];

  constructor(text: string) {
    let code = false;
    this.#lines = text.split(/\r?\n/).map((line) => {
      if (code && /^\S/.test(line)) code = false;
      const here = { text: line, code };
      if (!code) code = CODE_START.test(line);
      return here;
    });
  }

  get tags(): readonly string[] {
    return this.#lines.flatMap(tagsOf);
  }

  /** Names between bars, as `|this|`; not those in backticks. */
  get links(): readonly string[] {
    const texts = this.#lines.filter(({ code }) => !code).map(({ text }) => text.replace(/`[^`]*`/g, ""));
    return texts.flatMap((text) => [...text.matchAll(/\|([^|\s]+)\|/g)].map(([, name = ""]) => name));
  }

  /** Options of Neovim, as `'this'`. */
  get options(): readonly string[] {
    const texts = this.#lines.filter(({ code }) => !code).map(({ text }) => text);
    return texts.flatMap((text) => text.match(/(?<=^|\s)'[a-z]{2,}'(?=$|[\s.,;:)])/g) ?? []);
  }

  /** Every code block of this language. */
  code(language: string): readonly string[] {
    const ends = new RegExp(`(?:^|\\s)>${language}$`);
    return this.#lines.flatMap(({ text, code }, at) => !code && ends.test(text) ? [this.#block(at + 1)] : []);
  }

  /** The code blocks between a tag and the rule that ends its section. */
  codeIn(tag: string): readonly string[] {
    const from = this.#indexOf(tag);
    const end = this.#sectionEnd(from);
    return this.#lines.slice(from, end).flatMap(({ text, code }, at) =>
      !code && CODE_START.test(text) ? [this.#block(from + at + 1)] : []
    );
  }

  /** The entry of every tag that begins so. */
  entries(prefix: string): readonly Entry[] {
    return this.tags.filter((tag) => tag.startsWith(prefix)).map((tag) => this.entry(tag));
  }

  entry(tag: string): Entry {
    const from = this.#indexOf(tag) + 1;
    const found = this.#lines.findIndex((line, at) =>
      at > from && !line.code && (tagsOf(line).length > 0 || RULE.test(line.text) || HEAD.test(line.text))
    );
    const lines = this.#lines.slice(from + 1, found < 0 ? undefined : found);
    const text = lines.map((line) => line.code ? "" : line.text.replace(CODE_START, "").replace(/^<$/, ""));
    const code = lines.flatMap((line, at) =>
      !line.code && CODE_START.test(line.text) ? [this.#block(from + at + 2)] : []
    );
    return {
      tag,
      heading: this.#lines[from]?.text.trim() ?? "",
      paragraphs: text.join("\n").split(/\n\s*\n/).map(oneLine).filter((paragraph) => paragraph !== ""),
      code,
    };
  }

  /** The table after a tag: a head line that ends in `~` gives the columns, a blank line ends it. */
  table(tag: string): readonly Row[] {
    const from = this.#indexOf(tag);
    const head = this.#lines.findIndex((line, at) => at > from && !line.code && HEAD.test(line.text));
    if (head < 0 || head > this.#sectionEnd(from)) throw new Error(`no table after *${tag}*`);
    const starts = [...(this.#lines[head]?.text ?? "").replace(/ ~$/, "").matchAll(/\S+(?: \S+)*/g)]
      .map(({ index }) => index);
    const rows: { cells: string[]; more: string[] }[] = [];
    for (const line of this.#lines.slice(head + 1)) {
      if (line.text.trim() === "") break;
      if (tagsOf(line).length > 0) continue;
      if (/^\s/.test(line.text)) rows.at(-1)?.more.push(line.text.trim());
      else rows.push({ cells: starts.map((start, at) => cell(line.text, start, starts[at + 1])), more: [] });
    }
    return rows;
  }

  #indexOf(tag: string): number {
    const at = this.#lines.findIndex((line) => tagsOf(line).includes(tag));
    if (at < 0) throw new Error(`the help has no *${tag}*`);
    return at;
  }

  #sectionEnd(from: number): number {
    const at = this.#lines.findIndex((line, index) => index > from && RULE.test(line.text));
    return at < 0 ? this.#lines.length : at;
  }

  #block(from: number): string {
    const rest = this.#lines.slice(from);
    const end = rest.findIndex(({ code }) => !code);
    const lines = rest.slice(0, end < 0 ? undefined : end).map(({ text }) => text);
    const indents = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
    return lines.map((line) => line.slice(Math.min(...indents))).join("\n");
  }
}

function tagsOf({ text, code }: Line): readonly string[] {
  return code ? [] : [...text.matchAll(TAG)].map(([, tag = ""]) => tag);
}

function cell(line: string, start: number, end: number | undefined): string {
  return line.slice(start, end).trim();
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
