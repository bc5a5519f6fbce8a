/**
 * A prompt template that a Markdown file holds, as Claude Code's and opencode's commands are written. Pure.
 * Sources: code.claude.com/docs/en/slash-commands (description, argument-hint, $ARGUMENTS, $1), opencode.ai/docs/commands.
 * Other settings of such files (allowed-tools, model, agent) are passed over: a file widens nothing.
 */
import { FrontMatter } from "../front_matter.ts";

export interface PromptTemplate {
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** What its arguments are, one line; "" for none. */
  readonly hint: string;
  readonly text: string;
}

const NAME = /^[a-z\d][a-z\d_-]{0,39}$/i;
const MOST_TEXT = 16_000;
const LONGEST_LINE = 200;

/** @param name the file's, without its end @throws {Error} one line: what is wrong with it */
export function readPromptFile(file: string, name: string): PromptTemplate {
  if (!NAME.test(name)) throw new Error("its name must be letters, digits and hyphens, 40 at most");
  const matter = FrontMatter.of(file);
  const text = (matter?.body ?? file.replace(/^\ufeff/, "")).trim();
  if (text === "") throw new Error("it is empty");
  if (text.length > MOST_TEXT) throw new Error(`it has more than ${MOST_TEXT} characters`);
  const line = (setting: string) => (matter?.text(setting) ?? "").replace(/\s+/g, " ").slice(0, LONGEST_LINE);
  return { name, description: line("description") || firstLine(text), hint: line("argument-hint"), text };
}

function firstLine(text: string): string {
  return (text.split("\n", 1)[0] ?? "").replace(/^#+\s*/, "").slice(0, LONGEST_LINE);
}

/** What a message calls: "/name arguments". Undefined: it calls nothing. */
export function promptCall(message: string): { readonly name: string; readonly args: string } | undefined {
  const [, name, args = ""] = /^\/([a-z\d][\w-]*)(?:\s+([\s\S]*))?$/i.exec(message.trim()) ?? [];
  return name === undefined ? undefined : { name, args: args.trim() };
}

/** $ARGUMENTS is all of them, $1 the first; where the text has no place for them they stand at its end. */
export function filledIn({ text }: Pick<PromptTemplate, "text">, args: string): string {
  const words = [...args.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, ...found]) => found.join(""));
  let isUsed = false;
  const filled = text.replace(/\$(?:ARGUMENTS\b|([1-9])(?!\d))/g, (_, number?: string) => {
    isUsed = true;
    return number === undefined ? args : words[Number(number) - 1] ?? "";
  });
  return isUsed || args === "" ? filled.trim() : `${filled}\n\n${args}`;
}
