/**
 * Finds the keys of a manifest that a change touches: most are settings and dependencies, but some name
 * programs that editors and package managers run automatically. Pure.
 */
import { jsonrepair } from "../deps/jsonrepair.ts";
import { parse as parseToml } from "../deps/toml.ts";
import type { TextChange } from "../protocol/access.ts";
import { readXml } from "./xml.ts";

/** Characters of one version. */
const LONGEST = 200_000;
const DEEPEST = 32;
const TOO_DEEP = "It is nested too deep.";

/** Path of a value in a manifest, joined by "/". */
type KeyPath = string;

/**
 * @param name of the file
 * @returns undefined if the file is not a manifest, or one version cannot be parsed
 */
export function changedKeys(name: string, { before, after }: TextChange): readonly KeyPath[] | undefined {
  const parse = parserOf(name);
  if (parse === undefined) return undefined;
  // A deleted file names no program.
  if (after === undefined) return [];
  if (after.length > LONGEST || (before?.length ?? 0) > LONGEST) return undefined;
  try {
    const [was, is] = [leaves(parse(before ?? "")), leaves(parse(after))];
    return [...new Set([...was.keys(), ...is.keys()])].filter((key) => was.get(key) !== is.get(key));
  } catch {
    return undefined;
  }
}

/**
 * Ignores case, as MSBuild does for property names.
 * @param patterns key paths in which "*" is any part; a value inside of or around a matching one counts too
 */
export function touchesKeys(patterns: readonly KeyPath[], changed: readonly KeyPath[]): boolean {
  const split = changed.map((key) => key.toLowerCase().split("/"));
  return patterns.some((pattern) => {
    const wanted = pattern.toLowerCase().split("/");
    return split.some((parts) =>
      wanted.slice(0, parts.length).every((part, index) => part === "*" || part === parts[index])
    );
  });
}

function parserOf(name: string): ((text: string) => unknown) | undefined {
  if (/\.jsonc?$/i.test(name)) return parseJson;
  if (/\.toml$/i.test(name)) return parseToml;
  if (/\.(?:xml|[cfv][sb]proj)$/i.test(name)) return readXml;
  return /\.(ini|cfg)$/i.test(name) ? parseIni : undefined;
}

/** Allows comments, as editors do. */
function parseJson(text: string): unknown {
  const own = text.replace(/^\ufeff/, "");
  if (own.trim() === "") return {};
  try {
    return JSON.parse(own);
  } catch {
    // Deep nesting takes it more than linear time.
    if (isDeep(own)) throw new Error(TOO_DEEP);
    return JSON.parse(jsonrepair(own));
  }
}

function isDeep(text: string): boolean {
  let depth = 0;
  for (const letter of text) {
    if (letter === "{" || letter === "[") depth++;
    else if (letter === "}" || letter === "]") depth--;
    if (depth > DEEPEST) return true;
  }
  return false;
}

/** Parses like Python's configparser: an indented line continues the value before it. */
function parseIni(text: string): unknown {
  const sections = new Map<string, Map<string, string>>();
  let section = new Map<string, string>();
  let last = "";
  for (const line of text.split(/\r?\n/)) {
    const [, name] = /^\[([^\]]+)\]/.exec(line) ?? [];
    const [, start, value] = /^([^\s#;:=][^:=]*)(?:[:=](.*))?$/.exec(line) ?? [];
    const key = start?.trimEnd();
    if (name !== undefined) {
      section = sections.get(name) ?? new Map();
      sections.set(name, section);
      last = "";
    } else if (key !== undefined) {
      last = key.toLowerCase();
      section.set(last, value?.trimStart() ?? "");
    } else if (last !== "" && line.trim() !== "" && /^\s/.test(line)) {
      section.set(last, `${section.get(last)}\n${line.trim()}`);
    }
  }
  return Object.fromEntries([...sections].map(([name, keys]) => [name, Object.fromEntries(keys)]));
}

/** Values that are not objects, by their key paths. */
function leaves(value: unknown): ReadonlyMap<KeyPath, string> {
  const found = new Map<KeyPath, string>();
  const walk = (one: unknown, path: readonly string[]) => {
    if (path.length > DEEPEST) throw new Error(TOO_DEEP);
    const isTable = typeof one === "object" && one !== null && !Array.isArray(one) && !(one instanceof Date);
    const entries = isTable ? Object.entries(one) : [];
    if (entries.length === 0 && path.length > 0) found.set(path.join("/"), JSON.stringify(one) ?? "");
    for (const [key, inside] of entries) walk(inside, [...path, key.replaceAll("/", "\u2215")]);
  };
  walk(value, []);
  return found;
}
