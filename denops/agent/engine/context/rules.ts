/**
 * The formats of rules files for agents. Pure.
 * Source: docs.github.com, "Adding repository custom instructions" (applyTo); code.claude.com/docs/en/memory (paths,
 * and `@path` imports outside of code); cursor.com/docs/context/rules (globs, alwaysApply, description).
 */
import { FrontMatter } from "../../shared/front_matter.ts";
import type { ConditionalKind } from "../../protocol/rules/names.ts";
import type { RulesFile } from "./project.ts";

/** Bytes of all rules in a session. */
export const MOST_RULES = 32 * 1024;

/** Imports of one file. */
const MOST_IMPORTS = 20;

/** Distinct paths that a text imports as `@path` outside of code. */
export function importsOf(text: string): readonly string[] {
  const prose = text.slice(0, MOST_RULES).replace(/^ {0,3}(```|~~~)[^]*?(?:^ {0,3}\1|$(?![^]))/gm, "")
    .replace(/`[^`\n]*`/g, "");
  const found = [...prose.matchAll(/(?<![\w@./-])@((?:\/|(?:\.{1,2}\/)+)?\.?\w[\w./-]*)/g)]
    .map(([, path = ""]) => path.replace(/(?<![.-])[.-]+$/, ""));
  return [...new Set(found)].slice(0, MOST_IMPORTS);
}

/** Conditions in a file about where it applies. */
export interface Conditions {
  /** It applies to all files. */
  readonly isGeneral: boolean;
  /** Relative to its folder; empty: it applies to no file automatically. */
  readonly globs: readonly string[];
  /** When the model may want to read it. */
  readonly description?: string;
  readonly text: string;
}

/** The setting that names the files. */
const GLOBS = { copilot: "applyTo", cursor: "globs", claude: "paths" } as const;
const MOST_GLOBS = 50;
/** Characters. */
const LONGEST_DESCRIPTION = 300;
const EVERYTHING = /^\*\*?(?:\/\*\*?)?$/;

/** Parses the front matter and the text below. */
export function conditionsOf(kind: ConditionalKind, file: string): Conditions {
  const matter = matterOf(file);
  const globs = matter?.globs(GLOBS[kind]).slice(0, MOST_GLOBS) ?? [];
  const text = matter?.body ?? file;
  const isGeneral = globs.some((glob) => EVERYTHING.test(glob)) || (kind === "claude" && globs.length === 0);
  if (kind !== "cursor") return { isGeneral, globs, text };
  const description = matter?.text("description")?.replace(/\s+/g, " ").slice(0, LONGEST_DESCRIPTION);
  return {
    isGeneral: isGeneral || matter?.text("alwaysApply") === "true",
    // "*.ts" applies to all folders.
    globs: globs.map((glob) => glob.includes("/") ? glob : `**/${glob}`),
    ...(description === undefined ? {} : { description }),
    text,
  };
}

function matterOf(file: string): FrontMatter | undefined {
  try {
    return FrontMatter.of(file);
  } catch {
    return undefined;
  }
}

/** The visible part of a file. @param room remaining bytes */
export function fitted(path: string, text: string, room: number): RulesFile {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= room) return { path, text, bytes: bytes.length };
  // A truncated character is dropped with its line.
  const begin = new TextDecoder().decode(bytes.subarray(0, Math.max(0, room)));
  const whole = begin.slice(0, begin.lastIndexOf("\n") + 1);
  return {
    path,
    text: `${whole}[cut: the file has ${bytes.length} bytes; read the rest]`,
    bytes: bytes.length,
  };
}
