/**
 * Mentions in a message: "@src/a.ts:L3-L9" for lines of a file, "@diff main" for changes, "#read" for a tool, "#look" for
 * a set of tools. Mentions in code do not count, and "\@" is a plain "@". Pure.
 */

import { TOOL_SETS, type ToolSet, toolSetIn } from "../../protocol/modes.ts";
import { hashWords, withoutCode } from "../../shared/text/message_words.ts";
import { oldNames } from "../calls/old_names.ts";

/** Lines of a file from 1, both included. */
export interface Lines {
  readonly first: number;
  readonly last: number;
}

type Mention =
  /** Known to the editor only; `name` is the word without its "@". */
  | { readonly kind: "editor"; readonly name: string }
  /**
   * Changes since the last commit, or since `base` if it is a commit. `isNext`: the base is the next word, not behind a
   * colon.
   */
  | { readonly kind: "diff"; readonly base?: string; readonly isNext: boolean }
  /** The newest earlier session, or the newest with this word in its title. */
  | { readonly kind: "session"; readonly word: string }
  | { readonly kind: "symbol"; readonly name: string }
  /** A resource of an MCP server. */
  | { readonly kind: "resource"; readonly server: string; readonly uri: string }
  /**
   * Possible paths, the longest first, because the last punctuation may belong to the sentence. `isSure`: it must be a
   * path, so a missing file is reported.
   */
  | { readonly kind: "path"; readonly candidates: readonly PathMention[]; readonly isSure: boolean };

export interface PathMention {
  readonly path: string;
  readonly lines?: Lines;
}

export interface FoundMention {
  /** As written: "@src/a.ts". */
  readonly text: string;
  readonly mention: Mention;
}

/** Words for the editor's state; images have numbers. */
const OF_EDITOR = /^(?:buffer|buffers|selection|diagnostics|quickfix|terminal|image:\d+)$/;
/** Decorators are not mentions: "@app.route(…)". */
const CALL = /^[\w.]+\(/;
const URL = /^https?:\/\//i;
const END = ".,;:!?)]}>'\"*_…";
/** Characters of a path, and of punctuation behind it. */
const LONGEST_PATH = 4_096;
const MOST_PUNCTUATION = 8;

/** @param servers names of MCP servers */
export function mentionsIn(message: string, servers: readonly string[] = []): readonly FoundMention[] {
  const text = withoutCode(message);
  return [...text.matchAll(/(?<=^|[\s([{<"',;:*>—–-])@("[^"\n]+"|[^\s@"]+)/g)].flatMap((match) => {
    const [whole, token = ""] = match;
    const mention = resourceMention(token, servers) ??
      mentionOf(token, text.slice(match.index + whole.length));
    return mention === undefined ? [] : [{ text: trimmed(whole), mention }];
  });
}

/** Tools that a message mentions as "#name"; old names count. */
export function toolMentions(message: string, names: readonly string[]): readonly string[] {
  const mentioned = hashWords(message);
  return names.filter((name) => [name, ...oldNames(name)].some((one) => mentioned.has(one.toLowerCase())));
}

/** The set of tools that a message limits its turn to: the narrowest that it mentions. */
export function toolSetMention(message: string): ToolSet | undefined {
  return toolSetIn(hashWords(message));
}

/** The note about tools and their set for the model; undefined without any. */
export function toolsNote(tools: readonly string[], set?: ToolSet): string | undefined {
  const names = `The user asks you to use the ${tools.length === 1 ? "tool" : "tools"} ${tools.join(", ")}.`;
  const limit = set &&
    `This turn ${TOOL_SETS[set].does}, as the user asked with #${set}: other tools are refused.`;
  return [...tools.length === 0 ? [] : [names], ...limit === undefined ? [] : [limit]].join("\n") ||
    undefined;
}

function mentionOf(token: string, rest: string): Mention | undefined {
  if (URL.test(token) || CALL.test(token) || token.length > LONGEST_PATH) return undefined;
  const quoted = /^"(.+)"$/.exec(token)?.[1];
  if (quoted !== undefined) return { kind: "path", candidates: [pathOf(quoted)], isSure: true };
  const word = trimmed(token);
  if (OF_EDITOR.test(word)) return { kind: "editor", name: word };
  const [, name = "", after] = /^(\w+)(?::(.+))?$/.exec(word) ?? [];
  if (name === "diff") {
    const next = word === token ? /^[ \t]+(\w[\w./~^-]*)/.exec(rest)?.[1] : undefined;
    const base = after ?? (next === undefined ? undefined : trimmed(next));
    return { kind: "diff", ...(base === undefined ? {} : { base }), isNext: after === undefined };
  }
  if (name === "session") return { kind: "session", word: after ?? "" };
  if (name === "symbol" && after !== undefined) return { kind: "symbol", name: after };
  return pathMention(token);
}

/** "@server:uri", or "@"server:uri"" with spaces. */
function resourceMention(token: string, servers: readonly string[]): Mention | undefined {
  const quoted = /^"(.+)"$/.exec(token)?.[1];
  const [, server = "", uri = ""] = /^([\w-]+):(.+)$/.exec(quoted ?? trimmed(token)) ?? [];
  return servers.includes(server) ? { kind: "resource", server, uri } : undefined;
}

/** A prompt of an MCP server at the beginning of a message. */
export interface FoundPrompt {
  /** As written: "/server:name". */
  readonly text: string;
  readonly server: string;
  readonly name: string;
  /** Its arguments: the rest of the line. */
  readonly words: string;
}

/** @param servers names of MCP servers */
export function promptIn(message: string, servers: readonly string[]): FoundPrompt | undefined {
  const [, text = "", server = "", name = "", words = ""] =
    /^\s*(\/([\w-]+):(\S+))[ \t]*([^\n]*)/.exec(message) ?? [];
  return servers.includes(server) ? { text, server, name, words } : undefined;
}

function pathMention(token: string): Mention | undefined {
  const shortest = trimmed(token);
  const rest = token.slice(shortest.length, shortest.length + MOST_PUNCTUATION);
  if (shortest === "") return undefined;
  const spellings = Array.from({ length: rest.length + 1 }, (_, more) => shortest + rest.slice(0, more));
  const candidates = spellings.toReversed().map(pathOf);
  const { path = "", lines } = candidates.at(-1) ?? {};
  if (path === "") return undefined;
  // A scoped name is a package: "@types/node".
  const isSure = lines !== undefined ||
    /[^/]\/$|\/.*\.\w{1,5}$|\/.*\/|^\.{0,2}\/|^[^/]*\.\w{1,4}$/.test(path);
  return { kind: "path", candidates, isSure };
}

/** "a.ts:L3-L9", "a.ts:3-9", "a.ts#L3" */
function pathOf(spelled: string): PathMention {
  const [, path = spelled, from, to = from] = /^(.+?)(?::L?|#L)(\d+)(?:-L?(\d+))?$/.exec(spelled) ?? [];
  if (from === undefined || to === undefined) return { path };
  const [first, last] = [Number(from), Number(to)].toSorted((one, other) => one - other);
  return first === undefined || last === undefined || first < 1 ? { path } : { path, lines: { first, last } };
}

function trimmed(word: string): string {
  let end = word.length;
  while (end > 0 && END.includes(word.charAt(end - 1))) end -= 1;
  return word.slice(0, end);
}
