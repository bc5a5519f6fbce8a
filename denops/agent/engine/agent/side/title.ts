/** Generates a session title with one small request. */
import { MODES } from "../../context/modes.ts";
import { titleLine } from "../../log/title.ts";
import type { Exchange } from "../turn/runner.ts";
import { askSmall, type SmallQuestionPorts } from "./small_question.ts";

/** Characters of the question and the answer in the request. */
const MOST_TEXT = 2_000;

/** Never rejects because of the model; undefined: no title. */
export async function askTitle(
  ports: SmallQuestionPorts,
  { question, answer }: Exchange,
  signal: AbortSignal,
): Promise<string | undefined> {
  const text = `<user>\n${question.slice(0, MOST_TEXT)}\n</user>\n<agent>\n${
    answer.slice(0, MOST_TEXT)
  }\n</agent>`;
  const title = await askSmall(MODES.title, text, ports, signal);
  return title === undefined ? undefined : cleaned(title);
}

/** Characters of a title, at most. */
const LONGEST_LINE = 1_000;

/** Removes the markup that models add. */
function cleaned(text: string): string | undefined {
  const line = text.split("\n").map((one) => one.slice(0, LONGEST_LINE)).map((one) =>
    one.replace(/^[\s#*_>"'`“«]*(?:title\s*:)?[\s*_"'`“«]*/i, "")
  )
    .map((one) => one.replace(/[\s*_"'`”».]+$/, "")).find((one) => one !== "");
  return line === undefined ? undefined : titleLine(line);
}
