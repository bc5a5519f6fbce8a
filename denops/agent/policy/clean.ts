/** Cleans texts of servers, agents and hooks, which may be hostile, for models and screens. Pure. */
import { CONTROLS, DECEPTIVE, isDeceptive } from "./deceptive.ts";

/** Escape sequences of terminals. */
// deno-lint-ignore no-control-regex -- escape sequences begin with a control character
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
/** Some scripts need these joiners and marks. */
const OF_SCRIPTS = /^[\u061c\u200c-\u200f]$/;

/** Well-formed text without control and invisible characters. @param most characters */
export function cleanText(text: string, most: number): string {
  return text.slice(0, most).toWellFormed().replaceAll(ESCAPES, "").replace(/\r\n?/g, "\n")
    .replaceAll(CONTROLS, "")
    .replaceAll(DECEPTIVE, (character) => OF_SCRIPTS.test(character) ? character : "");
}

/** The same on one line; a cut is marked. @param most characters */
export function cleanLine(text: string, most: number): string {
  // Spaces are joined, and a text may be as large as a message.
  const line = cleanText(text, 4 * most).replace(/\s+/g, " ").trim();
  const isWhole = line.length <= most && text.length <= 4 * most;
  return isWhole ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}

/** Whether a name is short, on one line, and without invisible or misleading characters. */
export function isPlainName(name: string, most: number): boolean {
  return name.trim() !== "" && name.length <= most && !/[\n\t]/.test(name) && name.isWellFormed() &&
    !isDeceptive(name);
}
