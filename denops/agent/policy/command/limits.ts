/** What is not worth parsing: deeper or longer than anything that a person could check. Pure. */

const DEEPEST = 60;
const LONGEST = 200_000;
const MOST_DOCUMENTS = 60;

/** Deep without a bracket that stays open: function f function f …, $(case x in x) $(case x in x) … */
const CHAINS =
  /(?:\bfunction\s{1,9}\S{1,50}\s{1,9}){12}|(?:[^\s()]{1,50}\s{0,9}\(\s{0,9}\)\s{0,9}){12}|(?:[$<>]\(\s{0,9}case\b[^]{0,200}?){12}/;

/** Counts brackets without regard to quotes: cheap, and wrong only on the side of caution. */
export function isTooComplex(text: string): boolean {
  if (text.length > LONGEST) return true;
  let depth = 0;
  let documents = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if ("([{".includes(char) && ++depth > DEEPEST) return true;
    if (")]}".includes(char)) depth = Math.max(0, depth - 1);
    if (char === "<" && text.charAt(at + 1) === "<" && ++documents > MOST_DOCUMENTS) return true;
  }
  return CHAINS.test(text);
}
