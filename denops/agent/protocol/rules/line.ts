/** Appends a line to a rules file. Pure. */

/** Keeps the file's line endings. @param line any text, which becomes a list item */
export function withLine(text: string, line: string): string {
  const item = `- ${line.replace(/\s+/g, " ").trim()}`;
  if (text.trim() === "") return `${item}\n`;
  const ending = /\r?\n/.exec(text)?.[0] ?? "\n";
  const lines = text.trimEnd().split(/\r?\n/);
  // Continues a list, or begins one.
  const isList = /^\s*(?:[-*+]|\d+[.)])\s/.test(lines.at(-1) ?? "");
  return [...lines, ...isList ? [] : [""], item, ""].join(ending);
}
