/** Words of a message that the program reads. Pure. */

/** The words behind "#" outside of code, in lower case: "use **#Think**" has "think". */
export function hashWords(message: string): ReadonlySet<string> {
  const found = withoutCode(message).matchAll(/(?<![\w#&\\])#(\w+)\b/g);
  return new Set(found.map(([, word = ""]) => word.toLowerCase()));
}

/** Whether a message mentions an earlier session: "@session" or "@session:word" outside of code. */
export function mentionsSession(message: string): boolean {
  return /\B@session\b/.test(withoutCode(message));
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
