/** Text that comes from a model, an engine or a file, made safe for a screen: it is shown, not obeyed. */
import { CONTROLS, DECEPTIVE } from "../../policy/deceptive.ts";
import { LONGEST_SESSION_TITLE } from "../../protocol/sessions_file.ts";

/** Characters of a text that is one line on the screen: a title, a reason, a summary. */
const LONGEST_LINE = 300;
/** Characters of a notice, and of what went wrong. */
export const LONGEST_NOTICE = 1_000;
/** Characters of a file's name on the screen. */
export const LONGEST_NAME = 120;
/** Characters of the folder that a command runs in: it is on a row of its own. */
export const LONGEST_FOLDER = 60;

/** Line breaks and tabs stay; control characters become their pictures, and what nobody would see its number. */
export function visible(text: string): string {
  return withoutControls(text).replaceAll(DECEPTIVE, codePoint);
}

/** The same for what people read as prose: joiners and marks of direction are part of how some scripts are written. */
export function prose(text: string): string {
  return withoutControls(text).replaceAll(
    DECEPTIVE,
    (character) => OF_SCRIPTS.test(character) ? character : codePoint(character),
  );
}

/** A text of several lines, such as an answer, as any window can draw it. */
export function plainAnswer(text: string): string {
  return breakLines(prose(text)).text;
}

/** Joiners, marks of direction, soft hyphens and variants of characters, as Arabic, Hebrew, Hindi or Mongolian have them. */
const OF_SCRIPTS = /^[\u00ad\u061c\u180b-\u180f\u200b-\u200f\u{e0100}-\u{e01ef}]$/u;

/** Characters of a line that any window can draw. */
const LONGEST_DRAWN = 50_000;

/**
 * The text with a line break where a line would become too long to be drawn.
 * @param column of its beginning, in characters
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

/** One line of at most `most` characters; what is left out is left out at the end. */
export function oneLine(text: string, most: number = LONGEST_LINE): string {
  // A title may be as large as a message: no more of it is looked at than could be shown.
  const looked = text.slice(0, 8 * most);
  const line = [...visible(looked).replace(/\s+/g, " ").trim()];
  const fits = line.length <= most && looked.length === text.length;
  return fits ? line.join("") : `${line.slice(0, most - 1).join("")}…`;
}

/** The title of a session, as an engine tells it. */
export function sessionTitle(title: string): string {
  return oneLine(title, LONGEST_SESSION_TITLE);
}

/** An engine's answer with its titles fit to be shown, wherever in it they stand. */
export function withTitles<Answer>(answer: Answer): Answer {
  const convert = (value: unknown, key = ""): unknown => {
    if (typeof value === "string") return key === "title" ? sessionTitle(value) : value;
    if (Array.isArray(value)) return value.map((part) => convert(part));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, convert(part, name)]));
  };
  return convert(answer) as Answer;
}

/** A path or a name as one line of at most `most` characters: both its ends say something, so the middle is cut out. */
export function middleCut(text: string, most: number = LONGEST_NAME): string {
  const long = text.length > 8 * most;
  const looked = long ? text.slice(0, 4 * most) + text.slice(-4 * most) : text;
  const line = [...visible(looked).replace(/[\n\t]/g, controlPicture)];
  if (line.length <= most && !long) return line.join("");
  const head = Math.floor((most - 1) / 2);
  return `${line.slice(0, head).join("")}…${line.slice(head + 1 - most).join("")}`;
}

/** Whether a text is on one line as it is. */
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
