/** Whether an answer only speaks of what was to be done. Pure. */

const VERBS =
  "rename|change|update|fix|add|remove|delete|create|move|replace|edit|implement|refactor|rewrite|write|modify|" +
  "convert|extract|insert|apply|correct|simplify|split|merge";
const DONE =
  "renamed|changed|updated|fixed|added|removed|deleted|created|moved|replaced|edited|implemented|refactored|rewrote|" +
  "rewritten|wrote|written|modified|converted|extracted|inserted|applied|corrected|simplified|split|merged";

const REQUEST = new RegExp(`\\b(?:${VERBS}|make)\\b`, "i");
const QUESTION =
  /^\s*(?:what|why|how|which|who|when|where|did|does|do|is|are|was|were|has|have|should|explain|show|tell|list|describe|summari[sz]e)\b/i;
const CLAIM = new RegExp(
  `\\bI(?:['’]ve| have)? (?:(?:now|just|also|successfully) )*(?:${DONE})\\b|\\b(?:has|have) (?:now )?been (?:${DONE})\\b`,
  "i",
);
const QUOTED = /```[\s\S]*?(?:```|(?![\s\S]))|^>.*$/gm;

const BLOCK = /^(?:```|~~~)[ \t]*([\w+#.-]*)[^\n]*\n([\s\S]*?)(?:^(?:```|~~~)|(?![\s\S]))/gm;
/** Of blocks that are for no file. */
const SHOWN = /^(?:te?xt|plain\w*|output|log|console|shell-session|findings|mermaid)$/i;
const SEVERAL_LINES = 3;
const GO_ON = /\b(?:go on|continue|proceed|carry (?:it|this|that)? ?(?:out|on)|start|next|yes|ok|okay)\b/i;

/**
 * It says that something was changed, where a change was asked for.
 * @param request what the user has asked @param answer the model's last words
 */
export function claimsChange(request: string, answer: string): boolean {
  return wantsChange(request) && CLAIM.test(answer.replace(QUOTED, ""));
}

/** It shows code of several lines, where a change was asked for. */
export function printsCode(request: string, answer: string): boolean {
  return wantsChange(request) &&
    answer.matchAll(BLOCK).some(([, language = "", code = ""]) =>
      !SHOWN.test(language) && code.split("\n").filter((line) => line.trim() !== "").length >= SEVERAL_LINES
    );
}

/** Work was to be done, and the answer does not wait for the user's word. @param hasCalled work was begun */
export function wantsMore(request: string, answer: string, hasCalled: boolean): boolean {
  const asked = request.replace(QUOTED, "");
  const isWork = !QUESTION.test(asked) && (hasCalled || REQUEST.test(asked) || GO_ON.test(asked));
  return isWork && !isQuestion(answer);
}

/** It ends with a question, and so waits for the user. */
export function isQuestion(answer: string): boolean {
  return /[?？][\s*_]*$/.test(answer);
}

function wantsChange(request: string): boolean {
  const asked = request.replace(QUOTED, "");
  return REQUEST.test(asked) && !QUESTION.test(asked);
}
