/** Reads the name and short arguments of a call while it is being written into a text. Pure. */

/** Patterns for the name of a call in the common forms. */
const NAMES: readonly RegExp[] = [
  /["'](?:name|tool|tool_name)["']\s*:\s*["']([\w.:/-]+)["']/,
  /<function(?:=|\s+name=)["']?([\w.:/-]+)["']?>/,
  /invoke\s+name=["']([\w.:/-]+)["']/,
  /\bto=functions?\.([\w-]+)[\s<]/,
  /^<tool_call>\s*([\w.-]+)\s*</,
  /^\[TOOL_CALLS\]\s*([\w.-]+)[[{]/,
  /^<(?!tool)(\w+)>/,
];
/** Characters that are searched for the name. */
const HEAD = 300;

export function draftName(text: string): string | undefined {
  const head = text.slice(0, HEAD);
  return NAMES.map((pattern) => pattern.exec(head)?.[1]).find((name) => name !== undefined);
}

const JSON_ARGUMENTS = /"(\w+)"\s*:\s*"((?:[^"\\]|\\.){0,300})"/g;
const TAGGED_ARGUMENTS: readonly RegExp[] = [
  /<(?:parameter(?:=|\s+name=))?["']?(\w+)["']?(?:\s+string="true")?>\s*([^<\n]{1,300}?)\s*<\//g,
  /<arg_key>(\w+)<\/arg_key>\s*<arg_value>([^<\n]{1,300})<\/arg_value>/g,
];

/** The complete short text arguments by name. @param isDraft whether they may be between tags */
export function shortArguments(text: string, isDraft: boolean): Record<string, string> {
  const found: Record<string, string> = {};
  for (const pattern of [JSON_ARGUMENTS, ...isDraft ? TAGGED_ARGUMENTS : []]) {
    for (const [, key, value] of text.matchAll(pattern)) {
      if (key !== undefined && value !== undefined) found[key] ??= value;
    }
  }
  return found;
}

/** Counts line breaks in a piece, including escaped ones of JSON. */
export function breaksIn(piece: string): number {
  return piece.split(/\n|\\n/).length - 1;
}
