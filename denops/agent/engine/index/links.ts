/**
 * The files that a file imports. They are part of the answer of a file that imports them, often in other words. A file
 * is named by the last two parts of its path without the ending, because each language writes the rest in its own way.
 * Pure.
 */
import { dirname, join } from "node:path/posix";

/** A file that stands for its folder. */
const FOLDER_FILE = /\/(?:index|init|mod|__init__)$/;

/** Links of a file; one with more is a list of everything. */
const MOST_LINKS = 100;

const RELATIVE =
  /(?:\bfrom|\bimport|\brequire|#include)\s*\(?\s*["'](\.{1,2}\/[^"'\n]{1,200}|[\w/-]+\.\w{1,4})["']/g;
const DOTTED = /(?:\brequire\s*\(?\s*["']|^\s*import\s+(?:static\s+)?|^\s*from\s+)([\w.]{1,200})/gm;
/** The names that Python imports from a module, which can be modules as well. */
const NAMES = /^\s*from\s+([\w.]{1,200})\s+import\s+\(?([\w, ]{1,200})/gm;
const RUST_MODULE = /^\s*(?:pub(?:\([^)\n]{1,40}\))?\s+)?mod\s+(\w{1,80});/gm;
const RUST_PATH = /\b(crate|super)::((?:\w{1,80}::){0,6})(?:(\w{1,80})|\{([^}]{1,500})\})/g;
/** Modules are in lower case, unlike types. */
const RUST_NAME = /\b[a-z_]\w*/g;

/** @param path in the project, with "/" */
export function keyOf(path: string): string {
  return path.replace(/\.\w{1,6}$/, "").replace(FOLDER_FILE, "").split("/").slice(-2).join("/");
}

export function linksOf(path: string, text: string): readonly string[] {
  const links = /\.rs$/.test(path)
    ? rustLinks(path, text)
    : [...relativeLinks(path, text), ...dottedLinks(path, text)];
  const own = keyOf(path);
  return [...new Set(links)].filter((key) => key !== own).slice(0, MOST_LINKS);
}

function relativeLinks(path: string, text: string): readonly string[] {
  return Array.from(text.matchAll(RELATIVE), ([, name = ""]) => keyOf(join(dirname(path), name)));
}

function dottedLinks(path: string, text: string): readonly string[] {
  const modules = Array.from(text.matchAll(DOTTED), ([, name = ""]) => name);
  const members = Array.from(
    text.matchAll(NAMES),
    ([, module = "", names = ""]) =>
      names.split(",").map((name) => `${module}.${name.trim().split(" ")[0] ?? ""}`),
  ).flat();
  return [...modules, ...members].map((name) => keyOf(join(dirname(path), name.replaceAll(".", "/"))));
}

function rustLinks(path: string, text: string): readonly string[] {
  const folder = dirname(path);
  const inside = /\/(?:mod|lib|main)\.rs$/.test(path) ? folder : path.replace(/\.rs$/, "");
  const source = /^.*\bsrc\b/.exec(path)?.[0] ?? "src";
  const modules = Array.from(text.matchAll(RUST_MODULE), ([, name = ""]) => keyOf(join(inside, name)));
  const paths = Array.from(text.matchAll(RUST_PATH), ([, start, middle = "", last = "", names = ""]) => {
    const steps = [
      start === "super" ? dirname(inside) : source,
      ...middle.split("::").filter((part) => part !== ""),
    ];
    const ends = last === "" ? names.match(RUST_NAME) ?? [] : [last];
    return [
      ...steps.slice(1).map((_, at) => steps.slice(0, at + 2)),
      ...ends.map((end) => [...steps, end]),
    ].map((parts) => keyOf(parts.join("/")));
  });
  return [...modules, ...paths.flat()];
}
