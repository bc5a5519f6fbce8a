/** Whether an answer says that something was changed, where a change was asked for. Pure. */

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

/** @param request what the user has asked @param answer the model's last words */
export function claimsChange(request: string, answer: string): boolean {
  const asked = request.replace(QUOTED, "");
  return REQUEST.test(asked) && !QUESTION.test(asked) && CLAIM.test(answer.replace(QUOTED, ""));
}
