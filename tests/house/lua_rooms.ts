/** Lua's rooms: who may require whom, and how long a function may be. */
import { join, relative, sep } from "node:path";
import { PLUGIN } from "../support/agent.ts";

const ROOT = join(PLUGIN, "lua/agent");

/** First folder or file under `lua/agent` → the rooms that it may require. Views never require one another. */
export const LUA_RULES: readonly (readonly [room: string, to: readonly string[]])[] = [
  ["config", []],
  ["deep", []],
  ["events", []],
  ["rooms", []],
  ["steps", []],
  ["timeline", []],
  ["ui", ["deep"]],
  ["host", ["config"]],
  ["markdown", ["ui", "timeline", "config"]],
  ["reload", ["ui", "deep"]],
  ["server", ["ui", "config"]],
  ["too_old", ["ui", "config"]],
  ["trace", ["ui"]],
  ["client", ["host", "ui", "config"]],
  ["context", ["reload", "host", "ui", "deep"]],
  ["projects", ["reload", "config"]],
  ["approval", ["client", "server", "reload", "ui", "timeline", "events", "deep", "config"]],
  ["aside", ["markdown", "client", "ui", "deep"]],
  ["editor", ["client", "server", "reload", "ui", "events", "config"]],
  ["health", ["projects", "client", "too_old", "server", "host", "config"]],
  ["in_place", ["projects", "context", "server", "reload", "ui", "deep"]],
  ["sessions", ["client", "ui", "deep"]],
  ["tutor", ["client", "host", "ui", "config"]],
  ["worktrees", ["projects", "client", "ui"]],
  ["checkpoints", ["sessions", "client", "ui"]],
  ["menus", ["sessions", "context", "client", "reload", "ui", "config"]],
  ["review", ["sessions", "client", "server", "reload", "ui", "deep", "config"]],
  ["arguments", ["menus", "config"]],
  ["chat", [
    "steps",
    "markdown",
    "menus",
    "worktrees",
    "in_place",
    "editor",
    "aside",
    "projects",
    "context",
    "client",
    "trace",
    "server",
    "reload",
    "ui",
    "timeline",
    "events",
    "deep",
    "config",
  ]],
  ["actions", [
    "chat",
    "review",
    "menus",
    "checkpoints",
    "tutor",
    "sessions",
    "in_place",
    "approval",
    "config",
  ]],
  ["sub_commands", ["actions", "arguments", "menus", "approval", "config"]],
  ["preload", ["rooms", "steps", "actions", "chat", "projects", "client", "ui", "config"]],
  ["init", [
    "rooms",
    "steps",
    "preload",
    "sub_commands",
    "actions",
    "chat",
    "review",
    "checkpoints",
    "menus",
    "in_place",
    "editor",
    "approval",
    "projects",
    "client",
    "too_old",
    "ui",
    "timeline",
    "events",
    "config",
  ]],
  ["command", ["init", "sub_commands", "actions", "arguments", "context", "ui"]],
];

export interface LuaModule {
  readonly path: string;
  readonly text: string;
  readonly requires: readonly string[];
}

export async function luaModules(): Promise<readonly LuaModule[]> {
  const paths = new Map<string, string>();
  for await (const file of luaFiles(ROOT)) {
    const path = relative(ROOT, file).replaceAll(sep, "/");
    paths.set(path.replace(/\.lua$/, "").replace(/(^|\/)init$/, "").replaceAll("/", "."), path);
  }
  return await Promise.all([...paths.values()].map(async (path) => {
    const text = (await Deno.readTextFile(join(ROOT, path))).replace(/^\s*--.*$/gm, "");
    const names = [...text.matchAll(/require\s*\(?\s*["']agent\.?([\w.]*)["']/g)].map(([, name = ""]) =>
      name
    );
    const requires = names.map((name) => paths.get(name) ?? `no module ${name}`);
    // 'operatorfunc' and the like name their own module.
    return { path, text, requires: requires.filter((other) => other !== path) };
  }));
}

async function* luaFiles(folder: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) yield* luaFiles(path);
    else if (entry.name.endsWith(".lua")) yield path;
  }
}

export function roomOf(path: string): string {
  return path.split(/[./]/)[0] ?? "";
}

/** Functions of more than `most` lines, as "path:line has N lines". */
export function longFunctions({ path, text }: LuaModule, most: number): readonly string[] {
  const long: string[] = [];
  const open: { readonly line: number; readonly indent: number }[] = [];
  text.split("\n").forEach((line, index) => {
    const indent = line.length - line.trimStart().length;
    const top = open.at(-1);
    if (top?.indent === indent && /^\s*end\b/.test(line)) {
      open.pop();
      const lines = index - top.line + 1;
      if (lines > most) long.push(`${path}:${top.line + 1} has ${lines} lines`);
    }
    if (/\bfunction\b[\s\w.:]*\([^()]*\)\s*$/.test(line)) open.push({ line: index, indent });
  });
  if (open.length > 0) long.push(`${path}: the end of a function is not at its indentation`);
  return long;
}

/** They mean something else in each place where they are nouns. */
export const PARTICIPLES = "told|asked|shown|given|said|judged|handed|counted|held|deeds|accesses";

/** Variables, parameters and functions that are named by a participle. Fields on the wire keep their names. */
export function participles({ path, text }: LuaModule): readonly string[] {
  const code = text.replace(/--.*$/gm, "").replace(/"(?:[^"\\\n]|\\.)*"/g, '""').replace(
    /\[\[.*?\]\]/gs,
    '""',
  );
  const name = `(?:named|${PARTICIPLES})\\b`;
  const used = new RegExp(
    `(?<![.:\\w])${name}(?!\\s*=[^=])|\\blocal (?:\\w+, )*${name}|function [\\w.:]*[.:]${name}`,
    "g",
  );
  return [...code.matchAll(used)].map(([found]) => `${path} names ${found}`);
}

/** A cycle in a graph, or nothing. */
export function cycleOf(graph: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (node: string, trail: readonly string[]): readonly string[] | undefined => {
    if (trail.includes(node)) return [...trail.slice(trail.indexOf(node)), node];
    if (done.has(node)) return;
    done.add(node);
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next, [...trail, node]);
      if (cycle !== undefined) return cycle;
    }
  };
  for (const node of graph.keys()) {
    const cycle = visit(node, []);
    if (cycle !== undefined) return cycle;
  }
}
