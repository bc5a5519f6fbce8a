/** The MCP servers of a project: those of the option `mcp.servers`, then those that its files name. */
import { join, relative } from "node:path";
import { z } from "../../deps/zod.ts";
import { isInside } from "../../policy/path.ts";
import { list, map, McpEntry, McpName } from "../../protocol/options/shapes.ts";
import { firstProblem } from "../../protocol/options/problems.ts";
import { messageOf } from "../../shared/errors.ts";
import { defined, isRecord } from "../../shared/records.ts";
import { ifThere, oneFile } from "../system/one_file.ts";
import { type EntryPlace, entryProblem } from "./entry_problem.ts";

export interface McpServer {
  readonly name: string;
  readonly entry: McpEntry;
  /** The project's file that names it; undefined: the user's options. */
  readonly file: string | undefined;
}

export interface McpServers {
  /** By name. An entry of the options wins, then that of the first file. */
  readonly servers: ReadonlyMap<string, McpServer>;
  /** Entries that cannot be used, one line each. */
  readonly problems: readonly string[];
}

/**
 * Files with servers, and the key of the servers. Source: code.claude.com/docs/en/mcp; code.visualstudio.com/docs/copilot/
 * reference/mcp-configuration; cursor.com/docs/context/mcp.
 */
const FILES: readonly (readonly [string, string])[] = [
  [".mcp.json", "mcpServers"],
  [".vscode/mcp.json", "servers"],
  [".cursor/mcp.json", "mcpServers"],
];
const MOST_BYTES = 256 * 1024;
/** Servers of one file. */
const MOST_SERVERS = 50;

/** An entry as other programs write it, with our own keys. */
const FileEntry = z.looseObject({
  command: z.string().min(1).optional(),
  args: list(z.string()).optional(),
  env: map(z.union([z.string(), z.number(), z.boolean()]).transform(String)).optional(),
  url: z.string().optional(),
  headers: map(z.string()).optional(),
  disabled: z.boolean().optional(),
  hosts: list(z.string()).optional(),
  cache: z.string().optional(),
  sandbox: z.boolean().optional(),
});

export async function mcpServers(
  own: Readonly<Record<string, McpEntry>>,
  place: EntryPlace,
): Promise<McpServers> {
  const [root = ""] = place.roots;
  const servers = new Map<string, McpServer>();
  const problems: string[] = [];
  const add = (name: string, file: string | undefined, entryOf: () => McpEntry) => {
    if (servers.has(name)) return;
    const label = file ?? "mcp.servers";
    try {
      const known = McpName.safeParse(name);
      if (!known.success) throw new Error(`its name ${firstProblem(known.error).replace(/^[^:]*: /, "")}`);
      const entry = entryOf();
      const problem = entryProblem(entry, place);
      if (problem !== undefined) throw new Error(problem);
      servers.set(name, { name, entry, file });
    } catch (error) {
      problems.push(`Cannot use the MCP server ${name} of ${label}: ${messageOf(error)}. Correct its entry.`);
    }
  };
  for (const [name, entry] of Object.entries(own)) add(name, undefined, () => entry);
  for (const [file, key] of FILES) {
    try {
      const found = await entriesOf(root, file, key);
      for (const [name, entry] of Object.entries(found).slice(0, MOST_SERVERS)) {
        add(name, file, () => readEntry(entry));
      }
    } catch (error) {
      problems.push(`Cannot use ${file}: ${messageOf(error)}. Correct the file.`);
    }
  }
  return { servers, problems };
}

/** @throws {Error} one line */
async function entriesOf(root: string, file: string, key: string): Promise<Record<string, unknown>> {
  const path = join(root, file);
  if (ifThere(() => Deno.statSync(path)) === undefined) return {};
  const { real, text } = await oneFile(path, MOST_BYTES);
  if (!isInside(real, root)) throw new Error("it leads out of the project");
  if (relative(root, real).split("/").includes(".git")) throw new Error("it leads to a file of git");
  const parsed = jsonWithComments(text);
  const entries = isRecord(parsed) ? parsed[key] : undefined;
  if (entries === undefined) return {};
  if (!isRecord(entries)) throw new Error(`its "${key}" is not an object`);
  return entries;
}

/** A text, a comment, or a comma before the end of a list. */
const PIECE = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[^]*?\*\/|,(?=\s*[}\]])/g;

/** VS Code's file may have comments and commas at the end. Nothing else is repaired. @throws {Error} one line */
function jsonWithComments(text: string): unknown {
  const withoutComments = text.replace(PIECE, (piece) => /^\/[/*]/.test(piece) ? "" : piece);
  try {
    return JSON.parse(withoutComments.replace(PIECE, (piece) => piece === "," ? "" : piece));
  } catch {
    throw new Error("it is not JSON");
  }
}

/** @throws {Error} one line */
function readEntry(value: unknown): McpEntry {
  const { command, args = [], disabled, env, url, headers, hosts, cache, sandbox } = parsed(FileEntry, value);
  const cmd = command === undefined ? undefined : [command, ...args];
  const off = disabled === true ? true : undefined;
  return parsed(McpEntry, defined({ cmd, env, url, headers, hosts, cache, sandbox, off }));
}

function parsed<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const result = schema.safeParse(value);
  if (!result.success) throw new Error(firstProblem(result.error));
  return result.data;
}
