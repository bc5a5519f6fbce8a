/** Titles of sessions: one line, short enough for a list. */

/** Characters of a title. */
const LONGEST_TITLE = 80;

/** What a session is called until it has a better title. */
export function firstTitle(text: string): string {
  return titleLine(text) ?? "(no text)";
}

/** The first line that says something, as a title; undefined if there is none. */
export function titleLine(text: string): string | undefined {
  const line = text.split("\n").map((one) => one.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim())
    .find((one) => one !== "");
  if (line === undefined) return undefined;
  const characters = [...line];
  return characters.length <= LONGEST_TITLE
    ? line
    : `${characters.slice(0, LONGEST_TITLE - 1).join("").trimEnd()}…`;
}
