/**
 * Parses a prompt template from a Markdown file in the format of Claude Code's and opencode's commands. Pure.
 * Sources: code.claude.com/docs/en/slash-commands (description, argument-hint, $ARGUMENTS, $1),
 * opencode.ai/docs/commands. Other settings (allowed-tools, model, agent) are ignored, so that a file cannot
 * widen permissions.
 */
import { FrontMatter } from "../front_matter.ts";

export interface PromptTemplate {
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** A hint about its arguments, one line; "" for none. */
  readonly hint: string;
  readonly text: string;
}

const NAME = /^[a-z\d][a-z\d_-]{0,39}$/i;
const MOST_TEXT = 16_000;
const LONGEST_LINE = 200;

/** @param name the file's name without its extension @throws {Error} one line: the problem */
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

/** Parses a message that calls a template: "/name arguments". Undefined for any other message. */
export function promptCall(message: string): { readonly name: string; readonly args: string } | undefined {
  const [, name, args = ""] = /^\/([a-z\d][\w-]*)(?:\s+([\s\S]*))?$/i.exec(message.trim()) ?? [];
  return name === undefined ? undefined : { name, args: args.trim() };
}

/** $ARGUMENTS is all arguments, $1 the first; without a placeholder they are appended. */
export function filledIn({ text }: Pick<PromptTemplate, "text">, args: string): string {
  const words = [...args.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, ...found]) => found.join(""));
  let isUsed = false;
  const filled = text.replace(/\$(?:ARGUMENTS\b|([1-9])(?!\d))/g, (_, number?: string) => {
    isUsed = true;
    return number === undefined ? args : words[Number(number) - 1] ?? "";
  });
  return isUsed || args === "" ? filled.trim() : `${filled}\n\n${args}`;
}
