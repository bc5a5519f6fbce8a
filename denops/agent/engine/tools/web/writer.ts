/** Writes Markdown from the elements of a page, in time that grows with their number only. */

/** Of lists and quotes: a page must not make each of its lines long. */
const DEEPEST_INDENT = 12;
const DEEPEST_QUOTE = 4;
/** Cells of a row. */
const WIDEST = 40;

/** A place in the current line where emphasis or a link begins. */
export interface Mark {
  readonly line: number;
  readonly at: number;
  readonly visible: number;
}

interface Table {
  rows: string[][];
  /** A cell is open. */
  isInCell: boolean;
  /** Of the open cell, in columns. */
  span: number;
}

export class MarkdownWriter {
  readonly lines: string[] = [];
  #line: string[] = [];
  /** Number of earlier lines and cells. */
  #count = 0;
  /** Characters of text in all. */
  #visible = 0;
  #endsInSpace = true;
  #isHeading = false;
  readonly #lists: { readonly isOrdered: boolean; next: number }[] = [];
  #bullet: string | undefined;
  #quotes = 0;
  readonly #tables: Table[] = [];

  text(text: string): void {
    const spaced = text.replace(/[\s\u200b\ufeff]+/g, " ");
    this.#add(this.#endsInSpace && spaced.startsWith(" ") ? spaced.slice(1) : spaced);
  }

  mark(): Mark {
    this.#line.push("");
    return { line: this.#count, at: this.#line.length - 1, visible: this.#visible };
  }

  /** Encloses the text since a mark, if that is in the same line. */
  enclose({ line, at, visible }: Mark, before: string, after: string): void {
    if (line !== this.#count || visible === this.#visible) return;
    const space = this.#line.at(-1)?.endsWith(" ") === true ? this.#line.pop()?.trimEnd() : undefined;
    if (space !== undefined) this.#line.push(space);
    this.#line[at] = before;
    this.#line.push(after, space === undefined ? "" : " ");
  }

  inlineCode(text: string): void {
    const code = text.replace(/\s+/g, " ").trim();
    if (code === "") return;
    const fence = "`".repeat(longestRun(code) + 1);
    this.#add(fence.length === 1 ? `\`${code}\`` : `${fence} ${code} ${fence}`);
  }

  /** Ends the line, and leaves one free outside of lists. */
  block(): void {
    if (this.#table?.isInCell === true || this.#isHeading) return this.text(" ");
    this.endLine();
    if (this.#lists.length === 0) this.#blank();
  }

  endLine(): void {
    if (this.#table?.isInCell === true || this.#isHeading) return this.text(" ");
    const text = this.#takeLine();
    if (text === "") return;
    const indent = this.#indent(this.#bullet === undefined ? 0 : 1);
    this.lines.push(`${indent}${this.#bullet ?? ""}${text}`);
    this.#bullet = undefined;
  }

  rule(): void {
    this.block();
    if (this.#table?.isInCell !== true) this.lines.push("---", "");
  }

  heading(level: number): () => void {
    this.#leaveTable();
    this.block();
    this.#isHeading = true;
    return () => {
      this.#isHeading = false;
      const text = this.#takeLine();
      if (text === "") return;
      this.#blank();
      this.lines.push(`${"#".repeat(level)} ${text}`, "");
    };
  }

  list(isOrdered: boolean, start: number): () => void {
    if (this.#lists.length === 0) this.block();
    else this.endLine();
    this.#lists.push({ isOrdered, next: start });
    return () => {
      this.endLine();
      this.#bullet = undefined;
      this.#lists.pop();
      if (this.#lists.length === 0) this.block();
    };
  }

  item(): void {
    this.endLine();
    const list = this.#lists.at(-1);
    const bullet = list?.isOrdered === true ? `${list.next++}. ` : "- ";
    if (this.#table?.isInCell === true) this.#add(this.#line.length === 0 ? "" : "; ");
    else this.#bullet = bullet;
  }

  quote(): () => void {
    this.block();
    this.#quotes++;
    return () => {
      this.block();
      this.#quotes--;
    };
  }

  code(text: string, language: string): void {
    const code = text.replace(/\u00a0/g, " ").replace(/\r\n?/g, "\n").replace(/^\n/, "").trimEnd();
    if (code.trim() === "") return;
    if (this.#table?.isInCell === true && !code.includes("\n")) return this.inlineCode(code);
    this.#leaveTable();
    this.#isHeading = false;
    this.block();
    const fence = "`".repeat(Math.max(3, longestRun(code) + 1));
    const indent = this.#indent(0);
    if (this.#bullet !== undefined) this.lines.push(`${this.#indent(1)}${this.#bullet.trimEnd()}`);
    this.#bullet = undefined;
    for (const line of [fence + language, ...code.split("\n"), fence]) this.lines.push(indent + line);
    if (this.#lists.length === 0) this.lines.push("");
    this.#visible += code.length;
  }

  table(): () => void {
    this.#leaveTable();
    this.block();
    this.#tables.push({ rows: [], isInCell: false, span: 1 });
    return () => {
      this.#leaveTable();
      this.#tables.pop();
      this.block();
    };
  }

  row(): void {
    this.#endCell();
    this.#table?.rows.push([]);
  }

  cell(span: number): () => void {
    const table = this.#table;
    if (table === undefined) return () => this.block();
    this.#endCell();
    if (table.rows.length === 0) table.rows.push([]);
    // Text between cells belongs to none.
    this.#takeLine();
    Object.assign(table, { isInCell: true, span });
    return () => this.#endCell();
  }

  get #table(): Table | undefined {
    return this.#tables.at(-1);
  }

  #add(text: string): void {
    if (text === "") return;
    this.#line.push(text);
    this.#endsInSpace = text.endsWith(" ");
    if (text !== " ") this.#visible += text.length;
  }

  #takeLine(): string {
    const text = this.#line.join("").trim();
    this.#line = [];
    this.#count++;
    this.#endsInSpace = true;
    return text;
  }

  #blank(): void {
    if (this.lines.length > 0 && this.lines.at(-1) !== "") this.lines.push("");
  }

  /** @param less levels of lists */
  #indent(less: number): string {
    const lists = Math.min(DEEPEST_INDENT, Math.max(0, this.#lists.length - less));
    return "> ".repeat(Math.min(DEEPEST_QUOTE, this.#quotes)) + "  ".repeat(lists);
  }

  #endCell(): void {
    const table = this.#table;
    if (table?.isInCell !== true) return;
    table.isInCell = false;
    const row = table.rows.at(-1);
    if (row === undefined) return;
    const text = this.#takeLine();
    // A page must not make each row as wide as its widest one.
    if (row.length < WIDEST) {
      row.push(
        text,
        ...Array.from({ length: Math.min(table.span, WIDEST) - 1 }, () => ""),
      );
    } else row[WIDEST - 1] += text === "" ? "" : ` ${text}`;
  }

  /** Writes the rows so far: what follows cannot be in a cell. */
  #leaveTable(): void {
    const table = this.#table;
    if (table === undefined) return;
    this.#endCell();
    const rows = table.rows.map((row) => row.slice(0, WIDEST)).filter((row) =>
      row.some((cell) => cell !== "")
    );
    table.rows = [];
    if (rows.length === 0) return;
    const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
    this.block();
    const indent = this.#indent(0);
    const write = (line: string) => this.lines.push(indent + line);
    if (width === 1 || rows.length === 1) {
      for (const row of rows) {
        write(row.filter((cell) => cell !== "").join(" "));
        this.#blank();
      }
      return;
    }
    const cells = (row: readonly string[]) => {
      const escaped = Array.from({ length: width }, (_, index) => (row[index] ?? "").replaceAll("|", "\\|"));
      return `| ${escaped.join(" | ")} |`;
    };
    const [head = [], ...rest] = rows;
    write(cells(head));
    write(`|${" --- |".repeat(width)}`);
    for (const row of rest) write(cells(row));
    this.#blank();
  }
}

/** Backticks in a row. */
function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
