/**
 * Which keys of a manifest a change touches: most of them are settings and dependencies, a few name programs that
 * editors and package managers run by themselves. Pure.
 */
import { jsonrepair } from "../deps/jsonrepair.ts";
import { parse as parseToml } from "../deps/toml.ts";
import type { TextChange } from "../protocol/access.ts";
import { readXml } from "./xml.ts";

/** Characters of one side. */
const LONGEST = 200_000;
const DEEPEST = 32;
const TOO_DEEP = "It is nested too deep.";

/** Path of a value in a manifest, its parts joined by "/". */
type KeyPath = string;

/**
 * @param name of the file
 * @returns undefined: the file is no manifest, or one of the texts cannot be read as one
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
 * Case is ignored, as MSBuild ignores it in names of properties.
 * @param patterns paths of keys with "*" for any part: such a value, or one in it or around it, counts
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

/** With comments, as editors take them. */
function parseJson(text: string): unknown {
  const own = text.replace(/^\ufeff/, "");
  if (own.trim() === "") return {};
  try {
    return JSON.parse(own);
  } catch {
    // Deep nests take it more than linear time.
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

/** As Python's configparser reads it: what is indented belongs to the value before. */
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

/** Values that are no objects, by the paths of their keys. */
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
