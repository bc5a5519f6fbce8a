/** Makes text from a model, an engine or a file safe for the screen: it is displayed, never interpreted. */
import { CONTROLS, DECEPTIVE } from "../../policy/deceptive.ts";
import { LONGEST_SESSION_TITLE } from "../../protocol/sessions_file.ts";
import { LONGEST_CALL_ID } from "../../protocol/update_meta.ts";

/** Characters of a text on one line: a title, a reason, a summary. */
const LONGEST_LINE = 300;
/** Characters of a notice or an error. */
export const LONGEST_NOTICE = 1_000;
/** Characters of a file's name on the screen. */
export const LONGEST_NAME = 120;
/** Characters of a command's folder, which has its own row. */
export const LONGEST_FOLDER = 60;

/**
 * Keeps line breaks and tabs; replaces control characters with their pictures, and invisible characters with
 * their numbers.
 */
export function visible(text: string): string {
  return withoutControls(text).replaceAll(DECEPTIVE, codePoint);
}

/** The same for prose: some scripts need joiners and direction marks. */
export function prose(text: string): string {
  return withoutControls(text).replaceAll(
    DECEPTIVE,
    (character) => OF_SCRIPTS.test(character) ? character : codePoint(character),
  );
}

/** Text of several lines, such as an answer, in a form that any window can draw. */
export function plainAnswer(text: string): string {
  return breakLines(prose(text)).text;
}

/**
 * Joiners, direction marks, soft hyphens and variation selectors, as in Arabic, Hebrew, Hindi or Mongolian.
 */
const OF_SCRIPTS = /^[\u00ad\u061c\u180b-\u180f\u200c-\u200f\u{e0100}-\u{e01ef}]$/u;

/** Characters of a line that any window can draw. */
const LONGEST_DRAWN = 50_000;

/**
 * Breaks lines that would be too long to draw.
 * @param column of the text's beginning, in characters
 * @returns also the column of its end
 */
export function breakLines(text: string, column = 0): { readonly text: string; readonly column: number } {
  const lines = text.split("\n");
  let at = column;
  const out = lines.map((line, index) => {
    if (index > 0) at = 0;
    if (at + line.length <= LONGEST_DRAWN) {
      at += line.length;
      return line;
    }
    const pieces = [line.slice(0, LONGEST_DRAWN - at)];
    for (let from = LONGEST_DRAWN - at; from < line.length; from += LONGEST_DRAWN) {
      pieces.push(line.slice(from, from + LONGEST_DRAWN));
    }
    at = pieces.at(-1)?.length ?? 0;
    return pieces.join("\n");
  });
  return { text: out.join("\n"), column: at };
}

/** One line of at most `most` characters, cut at its end. */
export function oneLine(text: string, most: number = LONGEST_LINE): string {
  // A title may be as large as a message: process only what can be shown.
  const looked = text.slice(0, 8 * most);
  const line = [...visible(looked).replace(/\s+/g, " ").trim()];
  const fits = line.length <= most && looked.length === text.length;
  return fits ? line.join("") : `${line.slice(0, most - 1).join("")}…`;
}

/** The id of a call, from its engine. */
export function shownId(id: string): string {
  return id.slice(0, LONGEST_CALL_ID);
}

/** The title of a session, from its engine. */
export function sessionTitle(title: string): string {
  return oneLine(title, LONGEST_SESSION_TITLE);
}

/** An engine's answer with displayable titles at any depth. */
export function withTitles<Answer>(answer: Answer): Answer {
  const convert = (value: unknown, key = ""): unknown => {
    if (typeof value === "string") return key === "title" ? sessionTitle(value) : value;
    if (Array.isArray(value)) return value.map((part) => convert(part));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, convert(part, name)]));
  };
  return convert(answer) as Answer;
}

/**
 * A path or a name as one line of at most `most` characters, cut in the middle because both ends are
 * informative.
 */
export function middleCut(text: string, most: number = LONGEST_NAME): string {
  const long = text.length > 8 * most;
  const looked = long ? text.slice(0, 4 * most) + text.slice(-4 * most) : text;
  const line = [...visible(looked).replace(/[\n\t]/g, controlPicture)];
  if (line.length <= most && !long) return line.join("");
  const head = Math.floor((most - 1) / 2);
  return `${line.slice(0, head).join("")}…${line.slice(head + 1 - most).join("")}`;
}

/** Whether a text is a single displayable line. */
export function isPlainLine(text: string): boolean {
  return !/[\n\r\t]/.test(text) && visible(text) === text;
}

function withoutControls(text: string): string {
  return text.replace(/\r\n?/g, "\n").replaceAll(CONTROLS, controlPicture);
}

function controlPicture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\u2426";
}

/** "<U+3164>" */
function codePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}
