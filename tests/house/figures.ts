/** Measures the sources for `deno task house`. Deno's linter is available in tests only, so this is one. */
import { join, relative } from "node:path";
import { PLUGIN } from "../support/agent.ts";
import { filesBelow } from "../support/literals.ts";
import { CAPS, measure } from "./caps.ts";

interface Largest {
  readonly value: number;
  readonly path: string;
}

/** Lines with code: neither blank nor part of a comment. */
function codeLines(text: string, comment: RegExp): number {
  return text.replaceAll(comment, "").split("\n").filter((line) => line.trim() !== "").length;
}

async function textsBelow(folder: string, wanted: RegExp): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for await (const path of filesBelow(join(PLUGIN, folder), wanted)) {
    texts.set(relative(PLUGIN, path), await Deno.readTextFile(path));
  }
  return texts;
}

function largest(values: ReadonlyMap<string, number>): Largest {
  const [path = "", value = 0] = [...values].toSorted(([, a], [, b]) => b - a)[0] ?? [];
  return { path, value };
}

Deno.test("figures", async () => {
  const out = Deno.env.get("AGENT_HOUSE_OUT");
  if (out === undefined) return;
  const all = await textsBelow("denops", /\.ts$/);
  const typescript = new Map([...all].filter(([path]) => !path.endsWith("_test.ts")));
  const lua = await textsBelow("lua", /\.lua$/);
  const tests = new Map([
    ...await textsBelow("tests", /\.(ts|lua)$/),
    ...[...all].filter(([path]) => path.endsWith("_test.ts")),
  ]);
  const sum = (texts: ReadonlyMap<string, string>, comment: RegExp) =>
    texts.values().reduce((lines, text) => lines + codeLines(text, comment), 0);
  const blocks = /\/\*\*?[\s\S]*?\*\/|^\s*\/\/.*$/gm;
  const measured = [...typescript].map(([path, text]) => [path, measure(path, text)] as const);
  const each = (of: (one: ReturnType<typeof measure>) => number) =>
    largest(new Map(measured.map(([path, one]) => [path, of(one)])));
  const folders = new Map<string, number>();
  for (const path of [...typescript.keys(), ...lua.keys()]) {
    const folder = path.replace(/\/[^/]*$/, "");
    folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  const line = (name: string, { value, path }: Largest, cap: number) =>
    `${name.padEnd(36)}${String(value).padStart(6)}  at most ${String(cap).padEnd(5)} ${path}`;
  const count = (name: string, value: number) => `${name.padEnd(36)}${String(value).padStart(6)}`;
  const lengths = new Map([...typescript, ...lua].map(([path, text]) => [path, text.split("\n").length - 1]));
  const lines = [
    count("TypeScript: files", typescript.size),
    count("TypeScript: lines of code", sum(typescript, blocks)),
    count("Lua: files", lua.size),
    count("Lua: lines of code", sum(lua, /^\s*--.*$/gm)),
    count("tests: lines of code", sum(tests, blocks)),
    line("longest file, lines", largest(lengths), CAPS.lines),
    line("longest function, lines", each(({ longest }) => longest), CAPS.function),
    line("most imports of a file", each(({ imports }) => imports), CAPS.imports),
    line("most exports of a file", each(({ exports }) => exports.length), CAPS.exports),
    line("most parameters of a constructor", each(({ parameters }) => parameters), CAPS.parameters),
    line("most files in a folder", largest(folders), CAPS.files),
  ];
  await Deno.writeTextFile(out, `${lines.join("\n")}\n`);
});
