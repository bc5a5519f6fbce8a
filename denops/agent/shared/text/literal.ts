/**
 * Parses values as models write them: JSON with common slips (single quotes, raw line breaks, trailing
 * commas, comments), Python literals, strings between `<|"|>` (Gemma 4) or `&quot;` (escaped by a server).
 */
import { Cursor } from "./cursor.ts";

export interface Literal {
  readonly value: unknown;
  /** Objects and lists without an end, because the text ends. */
  readonly open: ReadonlySet<unknown>;
}

/** No tool needs a tenth of this depth. */
const DEEPEST = 100;

/** Delimiters of strings; `raw`: without escapes. */
const QUOTES: readonly { readonly open: string; readonly close: string; readonly raw?: true }[] = [
  { open: '"""', close: '"""' },
  { open: "'''", close: "'''" },
  { open: '"', close: '"' },
  { open: "'", close: "'" },
  { open: "`", close: "`" },
  { open: "“", close: "”" },
  { open: '<|"|>', close: '<|"|>', raw: true },
  { open: "<escape>", close: "<escape>", raw: true },
  { open: "&quot;", close: "&quot;", raw: true },
];

const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["null", null],
  ["None", null],
]);

const WORD = /[A-Za-z_$][\w$-]*/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y;
const CUT_NUMBER = /-?(?:\d+(?:\.\d*)?(?:[eE][+-]?)?)?$/y;
const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const KNOWN_ESCAPES = "\"'`\\/";

/**
 * Reads one value; undefined if it is missing or incomplete. At the text's end only brackets may be missing.
 */
export function readLiteral(cursor: Cursor): Literal | undefined {
  const begin = cursor.at;
  const reader = new Reader(cursor);
  const read = reader.value(0);
  cursor.worked(begin);
  return read === undefined ? undefined : { value: read.value, open: reader.open };
}

/** The value that makes up the whole text; undefined if the text has more, or the value is incomplete. */
export function wholeLiteral(text: string): Literal | undefined {
  const cursor = new Cursor(text);
  const read = readLiteral(cursor);
  cursor.space();
  return read === undefined || read.open.size > 0 || cursor.at < text.length ? undefined : read;
}

/** Skips white space and comments. */
export function skip(cursor: Cursor): void {
  for (;;) {
    cursor.space();
    if (cursor.take("/*")) {
      const end = cursor.find("*/");
      cursor.at = end === -1 ? cursor.text.length : end + 2;
    } else if (cursor.take("//") || cursor.take("#")) {
      const end = cursor.find("\n");
      cursor.at = end === -1 ? cursor.text.length : end;
    } else {
      return;
    }
  }
}

interface Read {
  readonly value: unknown;
}

class Reader {
  readonly open = new Set<unknown>();
  readonly #cursor: Cursor;

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  value(depth: number): Read | undefined {
    const cursor = this.#cursor;
    skip(cursor);
    if (cursor.next === undefined || depth > DEEPEST) return undefined;
    if (cursor.take("{")) return this.#object(depth);
    if (cursor.take("[")) return this.#list(depth, "]");
    if (cursor.take("(")) return this.#list(depth, ")");
    const text = this.string();
    if (text !== undefined) return { value: text };
    const number = cursor.match(NUMBER, CUT_NUMBER);
    if (number !== undefined) return { value: Number(number[0]) };
    const [word] = cursor.match(WORD, 1) ?? [];
    return word !== undefined && WORDS.has(word) ? { value: WORDS.get(word) } : undefined;
  }

  #object(depth: number): Read | undefined {
    const cursor = this.#cursor;
    const entries: [string, unknown][] = [];
    const ended = (isOpen: boolean) => {
      // Unlike an assignment, this treats "__proto__" as a normal key.
      const value = Object.fromEntries(entries);
      if (isOpen) this.open.add(value);
      return { value };
    };
    for (;;) {
      skip(cursor);
      if (cursor.next === undefined) return ended(true);
      if (cursor.take("}")) return ended(false);
      const key = this.string() ?? cursor.match(WORD, 1)?.[0];
      skip(cursor);
      if (key === undefined || !cursor.take(":")) return undefined;
      const read = this.value(depth + 1);
      if (read === undefined) return undefined;
      entries.push([key, read.value]);
      if (!this.#goesOn("}")) return undefined;
    }
  }

  #list(depth: number, close: string): Read | undefined {
    const cursor = this.#cursor;
    const value: unknown[] = [];
    for (;;) {
      skip(cursor);
      if (cursor.next === undefined) {
        this.open.add(value);
        return { value };
      }
      if (cursor.take(close)) return { value };
      const read = this.value(depth + 1);
      if (read === undefined) return undefined;
      value.push(read.value);
      if (!this.#goesOn(close)) return undefined;
    }
  }

  /** After a member comes a comma, the closing bracket, or the end of the text. */
  #goesOn(close: string): boolean {
    const cursor = this.#cursor;
    skip(cursor);
    return cursor.next === undefined || cursor.take(",") || cursor.sees(close);
  }

  /** Undefined if the string is missing or incomplete. */
  string(): string | undefined {
    const cursor = this.#cursor;
    const quote = QUOTES.find(({ open }) => cursor.sees(open));
    if (quote === undefined) return undefined;
    const { open, close, raw } = quote;
    let from = cursor.at + open.length;
    let text = "";
    for (;;) {
      const end = cursor.find(close, from);
      if (end === -1) return undefined;
      const part = cursor.text.slice(from, end);
      const slash = raw ? -1 : part.indexOf("\\");
      if (slash === -1) {
        cursor.at = end + close.length;
        text += part;
        return close === "&quot;" ? withoutEntities(text) : text;
      }
      const escape = escapeAt(cursor.text, from + slash);
      text += part.slice(0, slash) + escape.text;
      from += slash + escape.length;
    }
  }
}

/** Keeps escapes that JSON does not know: models forget to double the backslash of `\d`. */
function escapeAt(text: string, at: number): { readonly text: string; readonly length: number } {
  const letter = text.charAt(at + 1);
  if (letter === "u" && /^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6))) {
    return { text: String.fromCharCode(Number.parseInt(text.slice(at + 2, at + 6), 16)), length: 6 };
  }
  const known = KNOWN_ESCAPES.includes(letter) ? letter : ESCAPES[letter];
  return { text: known ?? `\\${letter}`, length: 2 };
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#34;": '"',
  "&#39;": "'",
  "&apos;": "'",
  "&amp;": "&",
};

/** Decodes HTML entities that a server has inserted. */
export function withoutEntities(text: string): string {
  return text.replace(/&(?:lt|gt|quot|apos|amp|#34|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
