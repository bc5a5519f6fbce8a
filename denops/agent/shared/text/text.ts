/**
 * Decodes and encodes a file's text without unintended changes: encoding, byte order mark, line endings and
 * the final newline of an existing file stay. Pure.
 */

type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "latin1";

export interface TextFormat {
  readonly encoding: Encoding;
  readonly bom: boolean;
}

export interface DecodedText extends TextFormat {
  readonly text: string;
}

export const PLAIN: TextFormat = { encoding: "utf-8", bom: false };

const BOM = "\ufeff";

/** Undefined for a binary file: one with NUL characters, or with an incomplete character of UTF-16. */
export function decodeText(bytes: Uint8Array): DecodedText | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return fromUtf16(bytes.subarray(2), "utf-16le");
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return fromUtf16(bytes.subarray(2), "utf-16be");
  if (bytes.includes(0)) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith(BOM)
      ? { text: text.slice(1), encoding: "utf-8", bom: true }
      : { text, encoding: "utf-8", bom: false };
  } catch {
    // Latin-1 maps each byte to a character, so that unchanged bytes survive.
    return { text: fromUnits(bytes), encoding: "latin1", bom: false };
  }
}

/** @throws {RangeError} if the file's encoding lacks characters of the text */
export function encodeText(text: string, format: TextFormat): Uint8Array {
  const whole = format.bom ? BOM + text : text;
  switch (format.encoding) {
    case "utf-8":
      return new TextEncoder().encode(whole);
    case "latin1":
      return toLatin1(whole);
    case "utf-16le":
    case "utf-16be":
      return toUtf16(whole, format.encoding === "utf-16le");
  }
}

/** Unit by unit: TextDecoder would replace lone surrogates, and drop a second byte order mark. */
function fromUtf16(bytes: Uint8Array, encoding: "utf-16le" | "utf-16be"): DecodedText | undefined {
  if (bytes.length % 2 !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const units = new Uint16Array(bytes.length / 2);
  for (let at = 0; at < units.length; at++) units[at] = view.getUint16(at * 2, encoding === "utf-16le");
  return units.includes(0) ? undefined : { text: fromUnits(units), encoding, bom: true };
}

/** In parts, because a function accepts a limited number of arguments. */
function fromUnits(units: Uint8Array | Uint16Array): string {
  const parts: string[] = [];
  for (let at = 0; at < units.length; at += 8_192) {
    parts.push(String.fromCharCode(...units.subarray(at, at + 8_192)));
  }
  return parts.join("");
}

function toLatin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 255) {
      const [character] = text.slice(at);
      throw new RangeError(`the file is Latin-1 and cannot hold ${JSON.stringify(character)}`);
    }
    bytes[at] = code;
  }
  return bytes;
}

function toUtf16(text: string, little: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let at = 0; at < text.length; at++) view.setUint16(at * 2, text.charCodeAt(at), little);
  return new Uint8Array(view.buffer);
}

export type LineEnding = "\n" | "\r\n" | "\r";

/** The ending of most lines; undefined for a single line. */
export function lineEnding(text: string): LineEnding | undefined {
  const crlf = text.match(/\r\n/g)?.length ?? 0;
  const lf = (text.match(/\n/g)?.length ?? 0) - crlf;
  const cr = (text.match(/\r/g)?.length ?? 0) - crlf;
  if (crlf + lf + cr === 0) return undefined;
  if (crlf >= lf && crlf >= cr) return "\r\n";
  return lf >= cr ? "\n" : "\r";
}

/** The text with this ending on every line. */
export function withEnding(text: string, ending: LineEnding): string {
  return text.replace(/\r\n|\n|\r/g, ending);
}

/** Lines as an editor counts them: a final newline ends the last line and begins none. */
export function splitLines(text: string): readonly string[] {
  if (text === "") return [];
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** A Markdown code block, whose fence is longer than any in the text. */
export function fenced(text: string, language = ""): string {
  const longest = text.matchAll(/`+/g).reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

/** At most `most` characters from the beginning and the end. @param what describes the omitted ones */
export function middleCut(text: string, most: number, what = "left out"): string {
  if (text.length <= most) return text;
  const note = `\n[${text.length - most} characters ${what}]\n`;
  const half = Math.max(0, (most - note.length) / 2);
  const [head, tail] = [text.slice(0, Math.ceil(half)), half < 1 ? "" : text.slice(-Math.floor(half))];
  // A lone surrogate at the cut cannot be encoded.
  return (head.replace(/[\ud800-\udbff]$/, "") + note + tail.replace(/^[\udc00-\udfff]/, "")).slice(0, most);
}

/** "1 file", "3 files". */
export function plural(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
