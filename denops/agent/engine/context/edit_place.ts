/** Lines that are changed in place: what the model is asked, and what becomes of its answer. Pure. */
import type { EditPlace } from "../../protocol/edit_place.ts";
import type { UserMessage } from "../log/events.ts";
import { ToolError } from "../../shared/errors.ts";
import { lineEnding } from "../../shared/text/text.ts";

/** Characters before and behind the lines that the model sees. */
const MOST_AROUND = 12_000;

/** As an editor has them: none of them is left out, the last may be empty. */
export function linesIn(text: string): readonly string[] {
  return text.split(/\r\n|\n|\r/);
}

/** @throws {ToolError} if the lines do not stand in the file */
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

/** Where the lines stand, from 0: the place nearest to where they stood. Undefined: nowhere. */
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

/** The lines that an answer puts there: those of its code block, else all of it. @throws {ToolError} if it is empty */
export function replacementIn(answer: string, selected: string): readonly string[] {
  const [, , inside] = /^[ \t]*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)^[ \t]*\1[ \t]*$/m.exec(answer) ?? [];
  const text = inside ?? answer.replace(/^\s*\n/, "");
  const lines = linesIn(text.trimEnd());
  // An answer of nothing is most often none; an empty block says that the lines are to go.
  if (inside === undefined && text.trim() === "") throw new ToolError("the model has answered nothing.");
  return text.trim() === "" ? [] : indented(lines, linesIn(selected));
}

/** Models like to begin at the left edge: then all lines move as far as the selected ones stand. */
function indented(lines: readonly string[], selected: readonly string[]): readonly string[] {
  const indentOf = (line: string | undefined) => /^[ \t]*/.exec(line ?? "")?.[0] ?? "";
  const wanted = indentOf(selected.find((line) => line.trim() !== ""));
  const filled = lines.filter((line) => line.trim() !== "");
  if (wanted === "" || indentOf(filled[0]) !== "") return lines;
  return lines.map((line) => line.trim() === "" ? line : wanted + line);
}

/** @param at from 0. @param count lines that go */
export function withReplacement(
  file: string,
  at: number,
  count: number,
  replacement: readonly string[],
): string {
  return linesIn(file).toSpliced(at, count, ...replacement).join(lineEnding(file) ?? "\n");
}
