/** A file of rules with one line more. Pure. */

/** Its own line endings stay. @param line any text: it becomes one item of a list */
export function withLine(text: string, line: string): string {
  const item = `- ${line.replace(/\s+/g, " ").trim()}`;
  if (text.trim() === "") return `${item}\n`;
  const ending = /\r?\n/.exec(text)?.[0] ?? "\n";
  const lines = text.trimEnd().split(/\r?\n/);
  // A list goes on; after anything else one begins.
  const isList = /^\s*(?:[-*+]|\d+[.)])\s/.test(lines.at(-1) ?? "");
  return [...lines, ...isList ? [] : [""], item, ""].join(ending);
}
