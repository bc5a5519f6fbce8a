/** The texts in the sources: string literals and comments. */
import { join } from "node:path";
import { PLUGIN } from "./agent.ts";

export interface Language {
  readonly folder: string;
  readonly files: RegExp;
  readonly comment: RegExp;
  readonly string: RegExp;
}

export const LUA: Language = {
  folder: "lua/agent",
  files: /\.lua$/,
  comment: /^\s*--/,
  string: /(?:^|[^\\])(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')/g,
};
export const TYPESCRIPT: Language = {
  folder: "denops/agent",
  files: /(?<!_test|_cases|\.d)\.ts$/,
  comment: /^\s*(\/\/|\/?\*)/,
  string: /(?:^|[^\\])(?:"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g,
};

/** The string literals of a language's files, without comments: where it stands and what it says. */
export async function literals({ folder, files, comment, string }: Language) {
  const found: { readonly at: string; readonly text: string; readonly code: string }[] = [];
  for await (const file of filesBelow(join(PLUGIN, folder), files)) {
    const lines = (await Deno.readTextFile(file)).split("\n");
    for (const [index, line] of lines.entries()) {
      if (comment.test(line)) continue;
      for (const [, double, other] of line.matchAll(string)) {
        const at = `${file.slice(PLUGIN.length)}:${index + 1}`;
        found.push({ at, text: double ?? other ?? "", code: line });
      }
    }
  }
  return found;
}

/** The comments of a language's files, each block of adjacent comment lines as one text without its marks. */
export async function comments({ folder, files, comment }: Language) {
  const found: { readonly at: string; readonly text: string }[] = [];
  for await (const file of filesBelow(join(PLUGIN, folder), files)) {
    const lines = (await Deno.readTextFile(file)).split("\n");
    let block: string[] = [];
    for (const [index, line] of [...lines, ""].entries()) {
      if (comment.test(line)) {
        block.push(line.replace(/^\s*(?:--+|\/\/|\/\*\*?|\*\/?)\s?/, "").replace(/\*\/\s*$/, ""));
      } else if (block.length > 0) {
        found.push({
          at: `${file.slice(PLUGIN.length)}:${index + 1 - block.length}`,
          text: block.join("\n"),
        });
        block = [];
      }
    }
  }
  return found;
}

export async function* filesBelow(folder: string, wanted: RegExp): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) yield* filesBelow(path, wanted);
    else if (wanted.test(name)) yield path;
  }
}
