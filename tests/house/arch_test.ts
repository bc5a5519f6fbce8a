/** The architecture holds itself: who may import whom, no cycles, no file over 500 lines, nothing for tests alone. */
import assert from "node:assert/strict";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { Prompt } from "../../denops/agent/engine/log/model_request.ts";
import { TOOLS } from "../../denops/agent/engine/tools/registry.ts";
import { RULE_KINDS } from "../../denops/agent/protocol/access.ts";
import { WIRES } from "../../denops/agent/protocol/providers.ts";
import { PLUGIN } from "../support/agent.ts";
import { CAPS, measure } from "./caps.ts";
import { RULES } from "./rooms.ts";
import { cycleOf, longFunctions, LUA_RULES, luaModules, participles, roomOf } from "./lua_rooms.ts";

const AGENT = join(PLUGIN, "denops/agent");

interface Module {
  readonly path: string;
  readonly imports: readonly string[];
}

async function modules(): Promise<readonly Module[]> {
  const found: Module[] = [];
  for await (const file of walk(AGENT, ".ts")) {
    if (file.endsWith("_test.ts")) continue;
    const text = await Deno.readTextFile(file);
    const specifiers = specifiersOf(text).filter((specifier) => specifier.startsWith("."));
    const imports = specifiers.map((specifier) => name(fileURLToPath(new URL(specifier, `file://${file}`))));
    found.push({ path: name(file), imports });
  }
  return found;
}

function specifiersOf(text: string): readonly string[] {
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*"([\w@./:-]+)"/g)].map(([, specifier = ""]) =>
    specifier
  );
}

function name(path: string): string {
  return relative(AGENT, path).replaceAll(sep, "/");
}

async function* walk(folder: string, ending: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory && !entry.name.startsWith(".")) yield* walk(path, ending);
    else if (entry.isFile && entry.name.endsWith(ending)) yield path;
  }
}

function isOf(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

function ruleOf(path: string) {
  const matching = RULES.filter(([place]) => isOf(path, place));
  return matching.sort(([a], [b]) => b.length - a.length)[0];
}

Deno.test("every module has its place, and imports only what its layer may", async () => {
  const wrong: string[] = [];
  for (const { path, imports } of await modules()) {
    const rule = ruleOf(path);
    if (rule === undefined) {
      wrong.push(`${path} has no place in the architecture`);
      continue;
    }
    const [place, allowed] = rule;
    for (const target of imports) {
      if ([place, "deps", ...allowed].some((other) => isOf(target, other))) continue;
      wrong.push(`${path} imports ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

/** denops.vim's server has neither our import map nor our lockfile, and rewrites all modules of a plugin that has one. */
Deno.test("modules of others are named in deps/ alone, with exact versions that the lockfile holds", async () => {
  const { specifiers } = JSON.parse(await Deno.readTextFile(join(PLUGIN, "deno.lock")));
  const wrong: string[] = [];
  for await (const file of walk(AGENT, ".ts")) {
    if (file.endsWith("_test.ts")) continue;
    const text = (await Deno.readTextFile(file)).replace(/^import type .*$/gm, "");
    for (const specifier of specifiersOf(text)) {
      if (/^(\.|node:)/.test(specifier)) continue;
      // A package, or a file of it.
      const [, named = ""] = /^(npm:(?:@[\w-]+\/)?[\w-]+@\d+\.\d+\.\d+)(?:\/[\w./-]+)?$/.exec(specifier) ??
        [];
      const isPinned = named in specifiers;
      if (!isOf(name(file), "deps") || !isPinned) wrong.push(`${name(file)} names ${specifier}`);
    }
  }
  for (const config of ["deno.json", "deno.jsonc", "import_map.json", "import_map.jsonc"]) {
    await assert.rejects(Deno.lstat(join(AGENT, config)), Deno.errors.NotFound);
  }
  assert.deepEqual(wrong, []);
});

Deno.test("having the plugin installed loads one module", async () => {
  const main = await Deno.readTextFile(join(AGENT, "main.ts"));
  assert.deepEqual(specifiersOf(main.replace(/^import type .*$|typeof import\(.*?\)/gm, "")), []);
});

/** Only the gate reads command lines: the engine starts without their parser. */
const GATE_ALONE = ["policy/command", "policy/command.ts", "policy/decide.ts", "deps/unbash.ts"];

/** Modules without code. */
const DATA = ["policy/defaults.json", "engine/tools/old/old_specs.json"];

Deno.test("the module graph as Deno sees it agrees: nothing trusted reaches into the engine, no cycles", async () => {
  const all = await modules();
  const graph = new Map(all.map(({ path, imports }) => [path, imports]));
  const args = ["info", "--json", join(AGENT, "engine/main.ts")];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "null" }).output();
  const info: unknown = JSON.parse(new TextDecoder().decode(stdout));
  const seen = localModules(info);
  assert.ok(seen.length > 20, "deno info shows the engine's modules");
  for (const path of seen) {
    if (DATA.includes(path)) continue;
    assert.ok(graph.has(path), `${path} is known`);
    const isForeign = ["supervisor", ...GATE_ALONE].some((place) => isOf(path, place));
    assert.ok(!isForeign, `the engine reaches ${path}`);
  }
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]) => {
    assert.ok(!trail.includes(path), `cycle: ${[...trail, path].join(" → ")}`);
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const { path } of all) visit(path, []);
});

function localModules(info: unknown): readonly string[] {
  if (typeof info !== "object" || info === null || !("modules" in info) || !Array.isArray(info.modules)) {
    return [];
  }
  const list: readonly unknown[] = info.modules;
  return list.flatMap((module) => {
    const specifier = typeof module === "object" && module !== null && "specifier" in module
      ? module.specifier
      : undefined;
    return typeof specifier === "string" && specifier.startsWith("file:")
      ? [name(fileURLToPath(specifier))]
      : [];
  });
}

Deno.test("an engine without MCP servers never loads their client", async () => {
  const eager: string[] = [];
  for await (const file of walk(join(AGENT, "engine"), ".ts")) {
    const text = (await Deno.readTextFile(file)).replace(/^import type [^]*?;$/gm, "");
    if (/from ".*deps\/mcp\.ts"/.test(text)) eager.push(name(file));
  }
  assert.deepEqual(eager, []);
});

Deno.test("an engine without another agent loads no more of it than its runner", async () => {
  const loaded: string[] = [];
  for (const { path, imports } of await modules()) {
    const isRunner = path === "engine/foreign/runner.ts";
    if (!isRunner && (isOf(path, "engine/foreign") || !isOf(path, "engine"))) continue;
    const text = (await Deno.readTextFile(join(AGENT, path))).replace(/^import type [^]*?;$/gm, "");
    loaded.push(
      ...imports.filter((one) => isOf(one, "engine/foreign") && text.includes(`/${basename(one)}";`)),
    );
  }
  assert.deepEqual(loaded, ["engine/foreign/runner.ts"]);
});

Deno.test("processes start in one file", async () => {
  const doors: string[] = [];
  for await (const file of walk(AGENT, ".ts")) {
    if (file.endsWith("_test.ts")) continue;
    const text = await Deno.readTextFile(file);
    const isDoor =
      /\bDeno\.(?:Command|run|spawn\w*|dlopen)\b|\bDeno\[|\{[^{}]*\bCommand\b[^{}]*\} = Deno\b|child_process|node:cluster/;
    if (isDoor.test(text)) doors.push(name(file));
  }
  assert.deepEqual(doors, ["supervisor/system/programs.ts"]);
});

/** V8 parses the whole bundle again for the line of such an error, which delays each start of an engine by 30 ms. */
Deno.test("no module creates an error as it loads", async () => {
  const early: string[] = [];
  for await (const file of walk(AGENT, ".ts")) {
    const text = await Deno.readTextFile(file);
    if (!file.endsWith("_test.ts") && /^(?:export )?const [^={(]*= new \w*Error\(/m.test(text)) {
      early.push(name(file));
    }
  }
  assert.deepEqual(early, []);
});

Deno.test("a tool is one file and one line", async () => {
  const registry = await Deno.readTextFile(join(AGENT, "engine/tools/registry.ts"));
  for await (const entry of Deno.readDir(join(AGENT, "engine/tools"))) {
    const shared = ["define.ts", "registry.ts"].includes(entry.name) || entry.name.endsWith("_test.ts");
    if (!entry.isFile || shared) continue;
    assert.ok(registry.includes(`"./${entry.name}"`), `${entry.name} is not in the registry`);
  }
});

Deno.test("Lua: every room requires only the rooms of its row; no cycles between rooms or modules", async () => {
  const all = await luaModules();
  const rules = new Map(LUA_RULES);
  const wrong: string[] = [];
  for (const { path, requires } of all) {
    const room = roomOf(path);
    const allowed = [room, ...rules.get(room) ?? []];
    if (!rules.has(room)) wrong.push(`${room} has no row`);
    for (const target of requires) {
      if (!allowed.includes(roomOf(target))) wrong.push(`${path} requires ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.deepEqual([...rules.keys()].filter((room) => !all.some(({ path }) => roomOf(path) === room)), []);
  assert.equal(cycleOf(rules), undefined);
  assert.equal(cycleOf(new Map(all.map(({ path, requires }) => [path, requires]))), undefined);
});

Deno.test("Lua: no variable or function is named by a participle", async () => {
  const rest = (await luaModules()).filter(({ path }) => path !== "config.lua");
  assert.deepEqual(rest.flatMap(participles), []);
});

Deno.test(`Lua: no function is over ${CAPS.function} lines`, async () => {
  const all = await luaModules();
  assert.deepEqual(all.flatMap((module) => longFunctions(module, CAPS.function)), []);
});

Deno.test(`no file is over ${CAPS.lines} lines`, async () => {
  for (const folder of ["denops", "lua", "plugin", "scripts", "tests"]) {
    for (const ending of [".ts", ".lua"]) {
      for await (const file of walk(join(PLUGIN, folder), ending)) {
        const lines = (await Deno.readTextFile(file)).split("\n").length - 1;
        assert.ok(lines <= CAPS.lines, `${relative(PLUGIN, file)} has ${lines} lines`);
      }
    }
  }
});

Deno.test(`no folder has over ${CAPS.files} files`, async () => {
  const counts = new Map<string, number>();
  for (const [folder, ending] of [[AGENT, ".ts"], [join(PLUGIN, "lua"), ".lua"]] as const) {
    for await (const file of walk(folder, ending)) {
      if (file.endsWith("_test.ts")) continue;
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    }
  }
  const full = [...counts].filter(([, count]) => count > CAPS.files);
  assert.deepEqual(full.map(([folder, count]) => `${relative(PLUGIN, folder)}: ${count}`), []);
});

Deno.test(`the shell parser has at most ${CAPS.parser} lines`, async () => {
  let lines = 0;
  for await (const file of walk(join(AGENT, "policy/command"), ".ts")) {
    if (!file.endsWith("_test.ts")) lines += (await Deno.readTextFile(file)).split("\n").length - 1;
  }
  assert.ok(lines <= CAPS.parser, `${lines} lines`);
});

/** TypeScript that is not a test. */
async function sources(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of ["denops", "scripts"]) {
    for await (const file of walk(join(PLUGIN, folder), ".ts")) {
      if (!file.endsWith("_test.ts")) found.push(file);
    }
  }
  return found;
}

Deno.test("files hold the caps and export no type name twice", async () => {
  const exceeded: string[] = [];
  const files = new Map<string, string[]>();
  for (const file of await sources()) {
    const path = relative(PLUGIN, file).replaceAll(sep, "/").replace("denops/agent/", "");
    const { imports, exports, types, longest, parameters } = measure(file, await Deno.readTextFile(file));
    if (imports > CAPS.imports) exceeded.push(`${path}: imports`);
    if (exports.length > CAPS.exports) exceeded.push(`${path}: exports`);
    if (longest > CAPS.function) exceeded.push(`${path}: function`);
    if (parameters > CAPS.parameters) exceeded.push(`${path}: parameters`);
    for (const type of types) files.set(type, [...files.get(type) ?? [], path]);
  }
  for (const [type, { length }] of files) if (length > 1) exceeded.push(`type ${type}`);
  assert.deepEqual(exceeded, []);
});

Deno.test("a tool is named in its own file alone, a wire in llm/ and in the table of providers", async () => {
  // A kind of access can have the name of the tool that needs it.
  const kinds: readonly string[] = RULE_KINDS;
  const tools = TOOLS.map(({ name }) => name).filter((name) => name.includes("_") && !kinds.includes(name));
  const wrong: string[] = [];
  for await (const file of walk(AGENT, ".ts")) {
    const path = name(file);
    // What language servers are asked has names of its own.
    const isTable = ["protocol/providers.ts", "protocol/lsp.ts"].includes(path);
    if (path.endsWith("_test.ts") || isTable) continue;
    const text = await Deno.readTextFile(file);
    const named = (names: readonly string[]) => names.filter((one) => text.includes(`"${one}"`));
    if (!isOf(path, "engine/tools")) wrong.push(...named(tools).map((one) => `${path} names ${one}`));
    // The scripted model is the other side of the wires.
    const speaks = isOf(path, "engine/llm") || isOf(path, "scripted_model");
    if (!speaks) wrong.push(...named(WIRES).map((one) => `${path} names ${one}`));
  }
  assert.deepEqual(wrong, []);
});

Deno.test("prompts are made in context/ alone: no other shape is one, and nobody else makes one", async () => {
  // @ts-expect-error: the type is nominal.
  const lookAlike: Prompt = { system: "", messages: [], tools: [], textOnly: false };
  assert.ok(!(lookAlike instanceof Prompt));
  const makers: string[] = [];
  for await (const file of walk(AGENT, ".ts")) {
    const made = /\bnew Prompt\(/.test(await Deno.readTextFile(file));
    if (made && !file.endsWith("_test.ts")) makers.push(name(file));
  }
  assert.deepEqual(makers, ["engine/context/view.ts"]);
});

/** Module → names that are imported from it; "*" for all of them. */
async function importedNames(files: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>();
  for (const file of files) {
    const text = await Deno.readTextFile(file);
    const named = /\b(?:im|ex)port\s+(?:type\s+)?(\{[^}]*\}|\*[^"]*)\s*from\s+"(\.[^"]+)"/g;
    const whole = /\bimport\((())"(\.[^"]+)"\)/g;
    for (const [, names = "", path, other] of [...text.matchAll(named), ...text.matchAll(whole)]) {
      const target = fileURLToPath(new URL(path || other || "", `file://${file}`));
      const list = names.startsWith("{")
        ? [...names.matchAll(/(?:^|[{,])\s*(?:type\s+)?(\w+)/g)].map(([, one = ""]) => one)
        : ["*"];
      found.set(target, new Set([...found.get(target) ?? [], ...list]));
    }
  }
  return found;
}

Deno.test("nothing is exported for tests alone", async () => {
  const all: string[] = [];
  for (const folder of ["denops", "scripts", "tests"]) {
    for await (const file of walk(join(PLUGIN, folder), ".ts")) all.push(file);
  }
  const isTest = (file: string) =>
    /_(test|cases)\.ts$/.test(file) || isOf(relative(PLUGIN, file).replaceAll(sep, "/"), "tests");
  const used = await importedNames(all.filter((file) => !isTest(file)));
  const tested = await importedNames(all.filter(isTest));
  const has = (imported: typeof used, file: string, one: string) =>
    imported.get(file)?.has(one) === true || imported.get(file)?.has("*") === true;
  const wrong: string[] = [];
  for (const file of all.filter((file) => file.startsWith(AGENT) && !isTest(file))) {
    const text = await Deno.readTextFile(file);
    const exported =
      /^export (?:(?:abstract|async|declare) )*(?:class|const|function\*?|interface|let|type) (\w+)/gm;
    for (const [, one = ""] of text.matchAll(exported)) {
      if (has(tested, file, one) && !has(used, file, one)) wrong.push(`${name(file)} exports ${one}`);
    }
  }
  assert.deepEqual(wrong, []);
});

/** Rows "room, room   imported rooms": rooms that import the same share a row. Sorted by room. */
function importTable(text: string, name: string) {
  const [, table = ""] = new RegExp(`\`\`\`${name}\\n(.*?)\\n\`\`\``, "s").exec(text) ?? [];
  const rows = table.split("\n").flatMap((line) => {
    const [, from = "", to = ""] = /^([^\s,]+(?:, [^\s,]+)*)\s*(.*)$/.exec(line) ?? [];
    return from.split(", ").map((room) => [room, to.split(" ").filter((one) => one !== "")] as const);
  });
  return byRoom(rows);
}

function byRoom(rows: typeof RULES): typeof RULES {
  return rows.toSorted(([one], [other]) => one < other ? -1 : 1);
}

Deno.test("ARCHITECTURE.md: 180 lines at most, the import tables of the tests, and only paths that exist", async () => {
  const text = await Deno.readTextFile(join(PLUGIN, "ARCHITECTURE.md"));
  assert.deepEqual(importTable(text, "imports"), byRoom(RULES));
  assert.deepEqual(importTable(text, "lua-imports"), byRoom(LUA_RULES));
  assert.ok(text.trimEnd().split("\n").length <= 180, "ARCHITECTURE.md has more than 180 lines");
  const files = new Set<string>();
  for (const folder of ["denops", "lua", "tests"]) {
    for (const ending of [".ts", ".lua", ".txt"]) {
      for await (const file of walk(join(PLUGIN, folder), ending)) files.add(relative(PLUGIN, file));
    }
  }
  const named = [...text.matchAll(/`([\w./]+\.(?:ts|lua))`/g)].map(([, path = ""]) => path);
  assert.ok(named.length > 40);
  const folders = [...text.matchAll(/`([\w./]+)\/`/g)].map(([, path = ""]) => path);
  const all = [...files].map((file) => `/${file}`);
  assert.deepEqual(named.filter((path) => !all.some((file) => file.endsWith(`/${path}`))), []);
  assert.deepEqual(folders.filter((path) => !all.some((file) => file.includes(`/${path}/`))), []);
});
