/** Words of a message that the program reads. Pure. */
import { LONGEST_URL } from "../../protocol/results/web.ts";

/** The words behind "#" outside of code, in lower case: "use **#Think**" has "think". */
export function hashWords(message: string): ReadonlySet<string> {
  const found = withoutCode(message).matchAll(/(?<![\w#&\\])#(\w+)\b/g);
  return new Set(found.map(([, word = ""]) => word.toLowerCase()));
}

/** Whether a message mentions an earlier session: "@session" or "@session:word" outside of code. */
export function mentionsSession(message: string): boolean {
  return /\B@session\b/.test(withoutCode(message));
}

/** Pages of one message. */
const MOST_PAGES = 5;
const PAGE = /(?<=^|[\s([{<"',;:*>—–-])@(https?:\/\/[^\s"<>]{1,4000})/gi;

/**
 * The addresses behind "@" outside of code, in their normal form and without fragments: "see @https://deno.com/#x." has
 * "https://deno.com/".
 */
export function pageMentions(message: string): readonly string[] {
  const found = withoutCode(message).matchAll(PAGE);
  const addresses = [...found].flatMap(([, text = ""]) => {
    const url = URL.parse(withoutEnd(text));
    if (url === null || url.username !== "" || url.password !== "") return [];
    url.hash = "";
    return url.href.length > LONGEST_URL ? [] : [url.href];
  });
  return [...new Set(addresses)].slice(0, MOST_PAGES);
}

/** Punctuation behind an address belongs to the sentence, except for the end of a pair. */
function withoutEnd(text: string): string {
  let rest = text;
  while (/[.,;:!?)\]}'*…]$/.test(rest)) {
    if (rest.endsWith(")") && rest.split("(").length >= rest.split(")").length) break;
    rest = rest.slice(0, -1);
  }
  return rest;
}

/** Replaces code with blanks of the same length. */
export function withoutCode(message: string): string {
  const blank = (code: string) => code.replace(/[^\n]/g, " ");
  return message
    .replace(
      /^ {0,3}(`{3,}|~{3,})[^\n]*(?:\n[\s\S]*?(?:^ {0,3}\1[`~]*[ \t]*$|(?![\s\S]))|$(?![\s\S]))/gm,
      blank,
    )
    .replace(/(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n)[\s\S])*?(?<!`)\1(?!`)/g, blank);
}
