/**
 * How files of rules for agents are written. Pure.
 * Source: docs.github.com, "Adding repository custom instructions" (applyTo); docs.anthropic.com, "Manage Claude's
 * memory" (`@path` imports, which code does not hold).
 */
import type { RulesFile } from "./project.ts";

/** Bytes of all rules that a session is told. */
export const MOST_RULES = 32 * 1024;

/** Imports of one file that are looked up. */
const MOST_IMPORTS = 20;

/** Paths that a text imports as `@path`, as they stand there: outside of code, each once. */
export function importsOf(text: string): readonly string[] {
  const prose = text.replace(/^ {0,3}(```|~~~)[^]*?(?:^ {0,3}\1|$(?![^]))/gm, "").replace(/`[^`\n]*`/g, "");
  const found = [...prose.matchAll(/(?<![\w@./-])@((?:\.{0,2}\/)?\w[\w./-]*)/g)]
    .map(([, path = ""]) => path.replace(/[.-]+$/, ""));
  return [...new Set(found)].slice(0, MOST_IMPORTS);
}

export interface Instructions {
  /** Of the files that they are for; none: they are for no file by themselves. */
  readonly globs: readonly string[];
  readonly text: string;
}

const FRONT_MATTER = /^\ufeff?---[ \t]*\r?\n([^]*?)^---[ \t]*(?:\r?\n|$)/m;

/** An *.instructions.md file: globs with commas between them, or as a list, and what stands below. */
export function instructionsOf(file: string): Instructions {
  const match = FRONT_MATTER.exec(file);
  if (match === null || match.index > 0) return { globs: [], text: file };
  const [whole, matter = ""] = match;
  const [, line = "", list = ""] = /^applyTo:[ \t]*(.*)\r?\n?((?:[ \t]*- .*(?:\r?\n|$))*)/m.exec(matter) ??
    [];
  const items = list.split("\n").map((item) => item.replace(/^\s*- /, ""));
  const globs = [...splitGlobs(unquoted(line).replace(/^\[(.*)\]$/, "$1")), ...items]
    .map((glob) => unquoted(glob.trim())).filter((glob) => glob !== "");
  return { globs, text: file.slice(whole.length) };
}

function unquoted(text: string): string {
  return text.trim().replace(/^(["'])(.*)\1$/, "$2");
}

/** A comma in braces is the glob's own. */
function splitGlobs(text: string): readonly string[] {
  return text.match(/(?:\{[^}]*\}|[^,{]|\{)+/g) ?? [];
}

/** What is shown of a file where so many bytes are left for all. */
export function fitted(path: string, text: string, room: number): RulesFile {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= room) return { path, text, bytes: bytes.length };
  // Half a character at the end is left out with its line.
  const begin = new TextDecoder().decode(bytes.subarray(0, Math.max(0, room)));
  const whole = begin.slice(0, begin.lastIndexOf("\n") + 1);
  return {
    path,
    text: `${whole}[cut: the file has ${bytes.length} bytes; read the rest]`,
    bytes: bytes.length,
  };
}
