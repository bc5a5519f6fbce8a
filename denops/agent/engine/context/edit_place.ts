/** Edits of lines in place: the question to the model, and the use of its answer. Pure. */
import type { EditPlace } from "../../protocol/edit_place.ts";
import type { UserMessage } from "../log/events.ts";
import { ToolError } from "../../shared/errors.ts";
import { lineEnding } from "../../shared/text/text.ts";

/** Characters before and after the lines in the question. */
const MOST_AROUND = 12_000;

/** Lines as an editor counts them: the last may be empty. */
export function linesIn(text: string): readonly string[] {
  return text.split(/\r\n|\n|\r/);
}

/** @throws {ToolError} if the file does not contain the lines */
export function editQuestion(name: string, file: string, place: EditPlace): UserMessage {
  const at = atPlace(file, place);
  if (at === undefined) throw new ToolError(`${name} does not have these lines. Save it, and try again.`);
  const lines = linesIn(file);
  const before = lines.slice(0, at).join("\n").slice(-MOST_AROUND);
  const after = lines.slice(at + linesIn(place.text).length).join("\n").slice(0, MOST_AROUND);
  const text = [
    `The file ${name}:`,
    `<before>\n${before}\n</before>`,
    `<selected>\n${place.text}\n</selected>`,
    `<after>\n${after}\n</after>`,
    `What to do with the selected lines: ${place.wish}`,
  ].join("\n\n");
  return { type: "user_message", origin: "engine", parts: [{ type: "text", text }] };
}

/** The line where the text is now, from 0, nearest to its old place. Undefined: nowhere. */
export function atPlace(file: string, { line, text }: Pick<EditPlace, "line" | "text">): number | undefined {
  const lines = linesIn(file);
  const wanted = linesIn(text);
  const is = (at: number) => wanted.every((one, index) => lines[at + index] === one);
  const most = Math.max(line, lines.length);
  for (let away = 0; away <= most; away++) {
    const found = [line - 1 - away, line - 1 + away].find((at) => at >= 0 && at < lines.length && is(at));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The new lines of an answer: its code block, else all of it. @throws {ToolError} if it is empty */
export function replacementIn(answer: string, selected: string): readonly string[] {
  const [, , inside] = /^[ \t]*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)^[ \t]*\1[ \t]*$/m.exec(answer) ?? [];
  const text = inside ?? answer.replace(/^\s*\n/, "");
  const lines = linesIn(text.trimEnd());
  // An empty answer is most often a failure; an empty block deletes the lines.
  if (inside === undefined && text.trim() === "") throw new ToolError("the model has answered nothing.");
  return text.trim() === "" ? [] : indented(lines, linesIn(selected));
}

/** Models often drop the indentation, so all lines get that of the selection. */
function indented(lines: readonly string[], selected: readonly string[]): readonly string[] {
  const indentOf = (line: string | undefined) => /^[ \t]*/.exec(line ?? "")?.[0] ?? "";
  const wanted = indentOf(selected.find((line) => line.trim() !== ""));
  const filled = lines.filter((line) => line.trim() !== "");
  if (wanted === "" || indentOf(filled[0]) !== "") return lines;
  return lines.map((line) => line.trim() === "" ? line : wanted + line);
}

/** @param at from 0 @param count lines to replace */
export function withReplacement(
  file: string,
  at: number,
  count: number,
  replacement: readonly string[],
): string {
  return linesIn(file).toSpliced(at, count, ...replacement).join(lineEnding(file) ?? "\n");
}
