/** The MCP servers of a project: those of the option `mcp.servers`, then those that its files name. */
import * as z from "../../deps/zod.ts";
import { list, map, McpEntry, McpName } from "../../protocol/options/shapes.ts";
import { firstProblem } from "../../protocol/options/problems.ts";
import { messageOf } from "../../shared/errors.ts";
import { defined, isRecord } from "../../shared/records.ts";
import { jsonFile } from "../system/json_file.ts";
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
  const parsed = await jsonFile(root, file);
  const entries = isRecord(parsed) ? parsed[key] : undefined;
  if (entries === undefined) return {};
  if (!isRecord(entries)) throw new Error(`its "${key}" is not an object`);
  return entries;
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
