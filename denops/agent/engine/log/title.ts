/** Titles of sessions: one line, short enough for a list. */

/** Characters of a title. */
const LONGEST_TITLE = 80;

/** The title of a session until it gets a better one. */
export function firstTitle(text: string): string {
  return titleLine(text) ?? "(no text)";
}

/** The first meaningful line as a title; undefined without one. */
export function titleLine(text: string): string | undefined {
  const line = text.split("\n").map((one) => one.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim())
    .find((one) => one !== "");
  if (line === undefined) return undefined;
  const characters = [...line];
  return characters.length <= LONGEST_TITLE
    ? line
    : `${characters.slice(0, LONGEST_TITLE - 1).join("").trimEnd()}…`;
}
