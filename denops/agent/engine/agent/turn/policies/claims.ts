/** Whether an answer may say that it has changed something. The words that people and models use are never looked at. */
import { z } from "../../../../deps/zod.ts";
import { MODES } from "../../../context/modes.ts";
import { askSmall, jsonIn, type SmallQuestionPorts } from "../../side/small_question.ts";

const QUOTED = /```[\s\S]*?(?:```|(?![\s\S]))|`[^`\n]*`|^>.*$/gm;
/** Of Latin, Chinese and Japanese, Arabic, Armenian and Ethiopic. */
const QUESTION_MARK = "[?？؟՞፧]";
/** At the end of a sentence: not in an address, nor in code. */
const ASKS = new RegExp(`${QUESTION_MARK}(?=[\\s*_"'”’»」』)\\]]|$)`);
const ENDS_ASKING = new RegExp(`${QUESTION_MARK}[\\s*_"'”’»」』)\\]]*$`);

const BLOCK = /^(?:```|~~~)[ \t]*([\w+#.-]*)[^\n]*\n([\s\S]*?)(?:^(?:```|~~~)|(?![\s\S]))/gm;
/** Languages of blocks that belong in no file. */
const OUTPUT = /^(?:te?xt|plain\w*|output|log|console|shell-session|findings|mermaid)$/i;
const SEVERAL_LINES = 3;

/** The user may want something done: nothing is asked. @param request the user's words */
export function mayBeTask(request: string): boolean {
  return !ASKS.test(request.replace(QUOTED, ""));
}

/** The answer ends with a question, and so waits for the user. */
export function isQuestion(answer: string): boolean {
  return ENDS_ASKING.test(answer);
}

/** The answer shows code of several lines. */
export function printsCode(answer: string): boolean {
  return answer.matchAll(BLOCK).some(([, language = "", code = ""]) =>
    !OUTPUT.test(language) && code.split("\n").filter((line) => line.trim() !== "").length >= SEVERAL_LINES
  );
}

/** Characters of the message and of the answer that the model gets. */
const MOST_TEXT = 2_000;

const Claim = z.object({ claims_change: z.boolean() });

/** Asks the model what the answer says, in one small request. An unclear answer claims nothing. */
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
