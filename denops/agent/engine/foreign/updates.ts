/** The updates of another agent: checked, bounded and cleaned. Pure. Source: agentclientprotocol.com/protocol. */
import * as z from "../../deps/zod.ts";
import { isRecord } from "../../shared/records.ts";
import { middleCut } from "../../shared/text/text.ts";
import { fileSize, imageInfo, measures } from "../log/image.ts";
import { type FileLocation, type Plan, ToolKind } from "../log/events.ts";
import { cleanLine, cleanText } from "../../policy/clean.ts";
import { answerOf } from "../mcp/results.ts";
import type { McpImage } from "../ports/mcp.ts";

/** Characters. */
const LONGEST_TITLE = 300;
const LONGEST_PATH = 1_000;
const LONGEST_STEP = 500;
export const LONGEST_TEXT = 100_000;
const LONGEST_COMMAND = 10_000;
const LONGEST_CHUNK = 1_000_000;
/** Of both texts of a diff; comparing them takes time. */
const LONGEST_DIFF = 200_000;
const MOST_DIFFS = 20;
const MOST_PATHS = 20;
const MOST_PARTS = 200;
const MOST_STEPS = 100;
const MOST_COMMANDS = 200;

/** Characters of an image, in base64, whose header is read. */
const LONGEST_HEADER = 200_000;

/** Agents send what they like, so that a field of the wrong type is as good as none. */
function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined).catch(undefined);
}

const text = optional(z.string());
const parts = optional(z.array(z.unknown()));

const Chunk = z.object({ content: z.looseObject({ type: z.string() }).catch({ type: "" }) });

export const CallFields = z.object({
  toolCallId: z.string().min(1).max(LONGEST_PATH),
  title: text,
  name: text,
  kind: text,
  status: text,
  content: parts,
  locations: parts,
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
  _meta: z.unknown().optional(),
});

const UsageFields = z.object({
  used: z.number().min(0).max(1e12),
  size: z.number().min(0).max(1e12),
  cost: optional(z.object({ amount: z.number().min(0).max(1e9), currency: z.string() })),
});

const PlanFields = z.object({ entries: z.array(z.unknown()) });
const PlanEntry = z.object({
  content: z.string(),
  status: z.enum(["pending", "in_progress", "completed"]).catch("pending"),
});
const CommandsFields = z.object({ availableCommands: z.array(z.unknown()) });
const CommandEntry = z.object({ name: z.string().min(1).max(100), description: z.string().catch("") });
const NoticeFields = z.object({
  severity: z.enum(["info", "warning", "error"]).catch("info"),
  title: z.string(),
});

export interface OfferedCommand {
  readonly name: string;
  readonly description: string;
}

/** A tool call as far as this update describes it. */
export interface CallUpdate {
  readonly id: string;
  readonly title?: string | undefined;
  readonly kind?: ToolKind | undefined;
  /** It asks the user to choose another mode, for example after a plan. */
  readonly switchesMode?: boolean;
  /** The agent's name of the tool. */
  readonly tool?: string | undefined;
  readonly status?: "pending" | "in_progress" | "completed" | "failed" | undefined;
  /** Replaces the earlier text. */
  readonly text?: string | undefined;
  /** Continues it. */
  readonly more?: string | undefined;
  readonly diffs?: readonly ClaimedDiff[] | undefined;
  readonly locations?: readonly FileLocation[] | undefined;
  readonly command?: string | undefined;
  /** A tool of its own MCP server. */
  readonly mcp?: { readonly server: string; readonly tool: string } | undefined;
  /** Whether the arguments are known. */
  readonly hasInput: boolean;
  readonly exitCode?: number | undefined;
  /** The agent's id of the call above it. */
  readonly parent?: string | undefined;
}

/** A change as the agent describes it; the texts may be excerpts. */
export interface ClaimedDiff {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
}

export type AgentUpdate =
  | { readonly type: "text" | "thought"; readonly text: string }
  | { readonly type: "call"; readonly call: CallUpdate }
  | { readonly type: "plan"; readonly steps: Plan }
  | { readonly type: "usage"; readonly used: number; readonly size: number; readonly dollars?: number }
  | { readonly type: "commands"; readonly commands: readonly OfferedCommand[] }
  | { readonly type: "mode"; readonly mode: string }
  | { readonly type: "options"; readonly options: unknown }
  | { readonly type: "title"; readonly title: string }
  | { readonly type: "notice"; readonly severity: "info" | "warning" | "error"; readonly text: string };

/** Undefined for an update that says nothing here, or cannot be read. */
export function readUpdate(update: unknown): AgentUpdate | undefined {
  if (!isRecord(update)) return undefined;
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
    case "agent_thought_chunk": {
      const type = update.sessionUpdate === "agent_message_chunk" ? "text" : "thought";
      const content = chunkText(Chunk.safeParse(update).data?.content);
      return content === "" ? undefined : { type, text: content };
    }
    case "tool_call":
    case "tool_call_update": {
      const { data } = CallFields.safeParse(update);
      return data && { type: "call", call: readCall(data) };
    }
    case "plan": {
      const { data } = PlanFields.safeParse(update);
      return data && { type: "plan", steps: stepsOf(data.entries) };
    }
    case "usage_update": {
      const { data } = UsageFields.safeParse(update);
      if (data === undefined) return undefined;
      const { used, size, cost } = data;
      return { type: "usage", used, size, ...(cost?.currency === "USD" ? { dollars: cost.amount } : {}) };
    }
    case "available_commands_update": {
      const { data } = CommandsFields.safeParse(update);
      return data && { type: "commands", commands: commandsOf(data.availableCommands) };
    }
    case "current_mode_update":
      return typeof update.currentModeId === "string"
        ? { type: "mode", mode: cleanLine(update.currentModeId, LONGEST_TITLE) }
        : undefined;
    case "config_option_update":
      return { type: "options", options: update.configOptions };
    case "session_info_update": {
      const title = typeof update.title === "string" ? cleanLine(update.title, LONGEST_TITLE) : "";
      return title === "" ? undefined : { type: "title", title };
    }
    case "notice": {
      const { data } = NoticeFields.safeParse(update);
      return data && { type: "notice", severity: data.severity, text: cleanLine(data.title, LONGEST_STEP) };
    }
    default:
      return undefined;
  }
}

function chunkText(
  content: { readonly type: string; readonly [field: string]: unknown } | undefined,
): string {
  if (content === undefined) return "";
  // Spaces between two pieces belong to the text, and blocks of other kinds stand alone.
  if (content.type === "text") {
    return typeof content.text === "string" ? cleanText(content.text, LONGEST_CHUNK) : "";
  }
  const { text, images } = answerOf("", { content: [content] });
  return [text, ...images.map(imageLine)].filter((part) => part !== "").map((part) => `\n${part}\n`).join("");
}

function stepsOf(entries: readonly unknown[]): Plan {
  return entries.slice(0, MOST_STEPS).flatMap((one) => {
    const { data } = PlanEntry.safeParse(one);
    const step = cleanLine(data?.content ?? "", LONGEST_STEP);
    return data === undefined || step === "" ? [] : [{ step, status: data.status }];
  });
}

function commandsOf(all: readonly unknown[]): readonly OfferedCommand[] {
  return all.slice(0, MOST_COMMANDS).flatMap((one) => {
    const { data } = CommandEntry.safeParse(one);
    if (data === undefined || !/^[\w:.-]+$/.test(data.name)) return [];
    return [{ name: data.name, description: cleanLine(data.description, LONGEST_TITLE) }];
  });
}

export function readCall(fields: z.infer<typeof CallFields>): CallUpdate {
  const { toolCallId: id, title, name, kind, status, content, locations, rawInput, rawOutput } = fields;
  const meta = isRecord(fields._meta) ? fields._meta : {};
  const more = streamed(meta);
  const output = textOf(content) ?? (more === undefined ? outputOf(rawOutput) : undefined);
  return {
    id,
    title: line(title),
    kind: kind === undefined ? undefined : ToolKind.safeParse(kind).data ?? "other",
    switchesMode: kind === "switch_mode",
    tool: line(name),
    status: (["pending", "in_progress", "completed", "failed"] as const).find((one) => one === status),
    text: output,
    more,
    diffs: diffsOf(content),
    locations: locationsOf(locations),
    command: commandOf(rawInput),
    mcp: mcpOf(rawInput, meta),
    hasInput: isRecord(rawInput) && Object.keys(rawInput).length > 0,
    exitCode: exitCodeOf(rawOutput, meta),
    parent: isRecord(meta.claudeCode) && typeof meta.claudeCode.parentToolUseId === "string"
      ? meta.claudeCode.parentToolUseId
      : undefined,
  };
}

function line(value: string | undefined): string | undefined {
  const cleaned = cleanLine(value ?? "", LONGEST_TITLE);
  return cleaned === "" ? undefined : cleaned;
}

function textOf(content: readonly unknown[] | undefined): string | undefined {
  const blocks = (content ?? []).slice(0, MOST_PARTS).flatMap((one) =>
    isRecord(one) && one.type === "content" ? [one.content] : []
  );
  if (blocks.length === 0) return undefined;
  const { text, images } = answerOf("", { content: blocks });
  return [unfenced(text), ...images.map(imageLine)].filter((part) => part !== "").join("\n");
}

/** The chat draws no images: it names them, as those of our own tools. */
function imageLine({ data }: McpImage): string {
  const size = Math.floor(data.length * 3 / 4) - (/=*$/.exec(data.slice(-2))?.[0].length ?? 0);
  const info = imageInfo(bytesOf(data.slice(0, LONGEST_HEADER)));
  return info === undefined
    ? `[An image that cannot be read, ${fileSize(size)}]`
    : `[${info.format} image, ${measures(info, size)}]`;
}

function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    return new Uint8Array();
  }
}

/** Claude sends results as a code block. */
function unfenced(text: string): string {
  const [, fence = "", body] = /^(`{3,})[\w-]*\n([^]*?)\n?\1\s*$/.exec(text) ?? [];
  return body === undefined || body.includes(`\n${fence}`) ? text : body;
}

function diffsOf(content: readonly unknown[] | undefined): readonly ClaimedDiff[] | undefined {
  const diffs = (content ?? []).slice(0, MOST_PARTS).flatMap((one): ClaimedDiff[] => {
    if (!isRecord(one) || one.type !== "diff") return [];
    const { path, oldText, newText } = one;
    if (typeof path !== "string" || typeof newText !== "string") return [];
    const before = typeof oldText === "string" ? oldText : undefined;
    if ((before?.length ?? 0) + newText.length > LONGEST_DIFF) return [];
    const clean = (text: string) => cleanText(text, LONGEST_DIFF);
    return [{ path: cleanLine(path, LONGEST_PATH), before: before && clean(before), after: clean(newText) }];
  });
  return diffs.length === 0 ? undefined : diffs.slice(0, MOST_DIFFS);
}

function locationsOf(all: readonly unknown[] | undefined): readonly FileLocation[] | undefined {
  return all?.slice(0, MOST_PATHS).flatMap((one): FileLocation[] => {
    if (!isRecord(one) || typeof one.path !== "string" || one.path === "") return [];
    const path = cleanLine(one.path, LONGEST_PATH);
    const isLine = typeof one.line === "number" && Number.isSafeInteger(one.line) && one.line > 0;
    return [isLine ? { path, line: Number(one.line) } : { path }];
  });
}

/** The line of a command, as agents name it: Codex sends the words of a shell that runs it. */
function commandOf(input: unknown): string | undefined {
  if (!isRecord(input)) return undefined;
  const { command } = input;
  if (typeof command === "string") return cleanText(command, LONGEST_COMMAND);
  if (!Array.isArray(command) || !command.every((word) => typeof word === "string")) return undefined;
  const [program = "", flag = "", script = ""] = command;
  const isShell = command.length === 3 && /^(?:.*\/)?(?:ba|z|da)?sh$/.test(program) && /^-\w*c$/.test(flag);
  return cleanText(isShell ? script : command.join(" "), LONGEST_COMMAND);
}

/** Claude names a server's tool "mcp__server__tool"; Codex sends both names. */
function mcpOf(input: unknown, meta: Readonly<Record<string, unknown>>): CallUpdate["mcp"] {
  const name = isRecord(meta.claudeCode) ? meta.claudeCode.toolName : undefined;
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(typeof name === "string" ? name : "") ?? [];
  if (server !== undefined && tool !== undefined) {
    return { server: cleanLine(server, 100), tool: cleanLine(tool, 100) };
  }
  const both = isRecord(input) && typeof input.server === "string" && typeof input.tool === "string";
  return both
    ? { server: cleanLine(String(input.server), 100), tool: cleanLine(String(input.tool), 100) }
    : undefined;
}

/** Output that streams beside the content. */
function streamed(meta: Readonly<Record<string, unknown>>): string | undefined {
  for (const part of [meta.terminal_output_delta, meta.terminal_output]) {
    if (isRecord(part) && typeof part.data === "string") return cleanText(part.data, LONGEST_TEXT);
  }
  return undefined;
}

function outputOf(output: unknown): string | undefined {
  const fields = isRecord(output) ? [output.formatted_output, output.output, output.stdout] : [output];
  const found = fields.find((one) => typeof one === "string" && one !== "");
  return typeof found === "string" ? cleanText(middleCut(found, LONGEST_TEXT), LONGEST_TEXT) : undefined;
}

function exitCodeOf(
  output: unknown,
  { terminal_exit: exit }: Readonly<Record<string, unknown>>,
): number | undefined {
  const codes = [
    isRecord(exit) ? exit.exit_code : undefined,
    isRecord(output) ? output.exit_code : undefined,
  ];
  const code = codes.find((one) => typeof one === "number" && Number.isSafeInteger(one));
  return typeof code === "number" ? code : undefined;
}
