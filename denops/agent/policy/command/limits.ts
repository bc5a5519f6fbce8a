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
    switch (text.charCodeAt(at)) {
      case 40: // (
      case 91: // [
      case 123: // {
        if (++depth > DEEPEST) return true;
        break;
      case 41:
      case 93:
      case 125:
        depth = Math.max(0, depth - 1);
        break;
      case 60: // <
        if (text.charCodeAt(at + 1) === 60 && ++documents > MOST_DOCUMENTS) return true;
    }
  }
  return CHAINS.test(text);
}

/** Characters that make a line look like another: controls, and what turns or hides text on the screen. */
const DECEPTIVE =
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/;

export function isDeceptive(text: string): boolean {
  // Joiners make one picture out of several: 👩‍💻.
  return DECEPTIVE.test(text.replace(/(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d/gu, ""));
}
