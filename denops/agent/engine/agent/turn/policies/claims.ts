/** Whether an answer claims a change. This never depends on the words that people or models use. */
import * as z from "../../../../deps/zod.ts";
import { MODES } from "../../../context/modes.ts";
import { askSmall, jsonIn, type SmallQuestionPorts } from "../../side/small_question.ts";

const QUOTED = /```[\s\S]*?(?:```|(?![\s\S]))|`[^`\n]*`|^>.*$/gm;
/** Latin, Chinese and Japanese, Arabic, Armenian and Ethiopic. */
const QUESTION_MARK = "[?？؟՞፧]";
/** Only at the end of a sentence, not in addresses or code. */
const ASKS = new RegExp(`${QUESTION_MARK}(?=[\\s*_"'”’»」』)\\]]|$)`);
const ENDS_ASKING = new RegExp(`${QUESTION_MARK}[\\s*_"'”’»」』)\\]]*$`);

const BLOCK = /^(?:```|~~~)[ \t]*([\w+#.-]*)[^\n]*\n([\s\S]*?)(?:^(?:```|~~~)|(?![\s\S]))/gm;
/** Languages of code blocks that are output, not files. */
const OUTPUT = /^(?:te?xt|plain\w*|output|log|console|shell-session|findings|mermaid)$/i;
const SEVERAL_LINES = 3;

/** The message may be a task, because it ends in no question. @param request the user's words */
export function mayBeTask(request: string): boolean {
  return !ASKS.test(request.replace(QUOTED, ""));
}

/** The answer ends with a question and waits for the user. */
export function isQuestion(answer: string): boolean {
  return ENDS_ASKING.test(answer);
}

/** The answer shows several lines of code. */
export function printsCode(answer: string): boolean {
  return answer.matchAll(BLOCK).some(([, language = "", code = ""]) =>
    !OUTPUT.test(language) && code.split("\n").filter((line) => line.trim() !== "").length >= SEVERAL_LINES
  );
}

/** Characters of the message and the answer in the request. */
const MOST_TEXT = 2_000;

const Claim = z.object({ claims_change: z.boolean() });

/** Asks the model in one small request. An unclear answer means no claim. */
export async function claimsChange(
  request: string,
  answer: string,
  ports: SmallQuestionPorts,
  signal: AbortSignal,
): Promise<boolean> {
  const text = `<user>\n${request.slice(0, MOST_TEXT)}\n</user>\n<agent>\n${
    answer.slice(-MOST_TEXT)
  }\n</agent>`;
  const reply = await askSmall(MODES.claim, text, ports, signal);
  return Claim.safeParse(jsonIn(reply)).data?.claims_change === true;
}
