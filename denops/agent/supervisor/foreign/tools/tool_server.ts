/** Serves tools to an agent from elsewhere by MCP: JSON-RPC in lines. The agent may be hostile. */
import * as z from "../../../deps/zod.ts";
import { VERSION } from "../../../protocol/version.ts";
import { messageOf } from "../../../shared/errors.ts";
import { EDITOR_TOOLS, type EditorTool, type EditorToolPorts } from "./editor_tools.ts";

/** The newest first. */
const VERSIONS = ["2025-06-18", "2025-03-26", "2024-11-05"] as const;
/** Bytes of a result's text, and characters of one of its lines. */
const LONGEST_RESULT = 20_000;
const LONGEST_LINE = 2_000;

const Message = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});
const ToolCall = z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()).optional() });

type Answer = { readonly result: unknown } | {
  readonly error: { readonly code: number; readonly message: string };
};

const INVALID_JSON = -32700;
const INVALID_REQUEST = -32600;
const UNKNOWN_METHOD = -32601;
const INVALID_PARAMS = -32602;

/** The answer to a line, as a line; undefined if it needs none. Never rejects. */
export async function answerLine(line: string, ports: EditorToolPorts): Promise<string | undefined> {
  const read = readMessage(line);
  if ("error" in read) return JSON.stringify({ jsonrpc: "2.0", id: null, ...read });
  const { id, method, params = {} } = read;
  // A notification: none of them changes anything here.
  if (id === undefined) return undefined;
  const answer = await answerTo(method, params, ports);
  return JSON.stringify({ jsonrpc: "2.0", id, ...answer });
}

function readMessage(line: string): z.infer<typeof Message> | Extract<Answer, { readonly error: unknown }> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return failed(INVALID_JSON, "The message is not JSON.");
  }
  const message = Message.safeParse(value);
  return message.success ? message.data : failed(INVALID_REQUEST, "The message is not a JSON-RPC request.");
}

async function answerTo(
  method: string,
  params: Readonly<Record<string, unknown>>,
  ports: EditorToolPorts,
): Promise<Answer> {
  switch (method) {
    case "initialize":
      return { result: initialized(params.protocolVersion) };
    case "ping":
      return { result: {} };
    case "tools/list":
      return { result: { tools: offered(ports).map(describe) } };
    case "tools/call":
      return await call(params, ports);
    default:
      return failed(UNKNOWN_METHOD, "This server has no such method.");
  }
}

function initialized(wanted: unknown): unknown {
  return {
    protocolVersion: VERSIONS.find((version) => version === wanted) ?? VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: "neovim", title: "Neovim", version: VERSION },
    instructions: "The user's editor: its language servers, unsaved text and selection. Nothing is changed.",
  };
}

function offered(ports: EditorToolPorts): readonly EditorTool[] {
  return EDITOR_TOOLS.filter(({ name }) => ports.refusal(name) === undefined);
}

function describe({ name, description, schema }: EditorTool): unknown {
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(schema, { io: "input" });
  const annotations = { readOnlyHint: true, openWorldHint: false };
  return { name, description, inputSchema, annotations };
}

async function call(params: Readonly<Record<string, unknown>>, ports: EditorToolPorts): Promise<Answer> {
  const parsed = ToolCall.safeParse(params);
  const tool = EDITOR_TOOLS.find(({ name }) => name === parsed.data?.name);
  if (!parsed.success || tool === undefined) return failed(INVALID_PARAMS, "This server has no such tool.");
  const { from, ...args } = parsed.data.arguments ?? {};
  try {
    const refusal = ports.refusal(tool.name);
    if (refusal !== undefined) throw new Error(`The tool is not allowed: ${refusal}.`);
    const lines = await tool.run(args, ports);
    return { result: textResult(page(lines, typeof from === "number" ? Math.floor(from) : 1)) };
  } catch (error) {
    return { result: { ...textResult(messageOf(error).slice(0, LONGEST_LINE)), isError: true } };
  }
}

function textResult(text: string) {
  return { content: [{ type: "text", text }] };
}

/** As many lines as fit. @param from the first one, from 1 */
function page(lines: readonly string[], from: number): string {
  const start = Math.max(1, from);
  if (start > lines.length && lines.length > 0) return `[The result has only ${lines.length} lines.]`;
  const out: string[] = [];
  let size = 0;
  for (const line of lines.slice(start - 1)) {
    const text = line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}… [cut]` : line;
    size += new TextEncoder().encode(text).length + 1;
    if (size > LONGEST_RESULT && out.length > 0) break;
    out.push(text);
  }
  const next = start + out.length;
  if (next > lines.length) return out.join("\n");
  return [...out, `[${lines.length - next + 1} more lines: continue with "from": ${next}]`].join("\n");
}

function failed(code: number, message: string) {
  return { error: { code, message } };
}
