/** Facts about a call, from its tool and its arguments. */
import type { Access } from "../../../protocol/access.ts";
import { type CommandAccess, levelOf } from "../../../protocol/commands.ts";
import { ToolError } from "../../../shared/errors.ts";
import { isRecord } from "../../../shared/records.ts";
import { oneLine } from "../../llm/failures/text.ts";
import { isUnread } from "../../llm/text_tools/tools.ts";
import type { EditedFile, EditTried } from "../../log/edits.ts";
import type { Diff, ToolStart } from "../../log/events.ts";
import { filesOf, NOTHING, type Tool, type ToolResult } from "../../tools/define.ts";
import type { ReadCall } from "./repeats.ts";

/** Characters of a tool name that a model made up. */
const LONGEST_NAME = 80;

export interface CallFactPorts {
  readonly tools: readonly Tool[];
  /** Names of the offered tools; absent: all. */
  listed?(): readonly string[];
  /** The reason why a call is refused in any case; absent: nothing is. @param args as the tool accepts them */
  refusalOf?(tool: Tool, args: Readonly<Record<string, unknown>>): string | undefined;
  /** Receives the outcome of each edit. */
  tried?(edit: Omit<EditTried, "provider" | "model">): void;
}

/** The reason to refuse a call before its tool sees it. */
export function problemOf(call: ReadCall, ports: CallFactPorts): ToolError | undefined {
  const { tool, args, fitted } = call;
  if (tool === undefined) {
    const names = (ports.listed?.() ?? ports.tools.map(({ spec }) => spec.name)).join(", ");
    const problem = `no tool is called "${oneLine(call.name, LONGEST_NAME)}"`;
    const advice = call.advice === undefined ? "" : ` ${call.advice}`;
    return new ToolError(`Not run: ${problem}.${advice} The tools are: ${names}.`, problem);
  }
  if (!args.ok) {
    const isCut = isUnread(call.arguments);
    const problem = isCut ? "the call is cut off or broken" : "the arguments are not valid JSON";
    const why = isCut ? "" : `: ${args.error}`;
    return new ToolError(`Not run: ${problem}${why}. Send the call again.`, problem);
  }
  const refusal = ports.refusalOf?.(tool, fitted.ok && isRecord(fitted.value) ? fitted.value : {});
  return refusal === undefined ? undefined : new ToolError(`Not run: ${refusal}.`, refusal);
}

/** True for changes that file events do not report. @param approved the access that the command got */
export function changesMoreThanFiles(access: Access, approved?: CommandAccess): boolean {
  switch (access.kind) {
    case "command": {
      const ran = approved ?? access.access;
      return ran !== undefined && ["write", "git"].includes(levelOf(ran));
    }
    case "agent":
      return access.access !== "read";
    case "mcp":
      return true;
    default:
      return false;
  }
}

/**
 * An edit that the user refused says nothing about its form, and is not recorded. @param result undefined: it wrote
 * nothing
 */
export function noteEdit(
  { id, tool, fitted }: ReadCall,
  { tried }: CallFactPorts,
  result?: ToolResult,
): void {
  if (tool?.kind !== "edit") return;
  const input = fitted.ok && isRecord(fitted.value) ? fitted.value : {};
  const form = tool.forms?.of(input) ?? tool.name;
  tried?.({
    call: id,
    form,
    written: result !== undefined,
    files: result === undefined ? [] : editedFiles(result),
  });
}

/** Of a patch, some files may have failed. */
function editedFiles({ diff, changes = [] }: ToolResult): readonly EditedFile[] {
  const written = new Set(changes.map(({ path }) => path));
  const all: readonly Diff[] = diff === undefined ? [] : [diff, ...diff.others ?? []];
  return all.filter(({ path }) => written.has(path));
}

/**
 * The arguments of a call whose command the user has edited, without the exports of earlier commands before the
 * model's own.
 */
export function withCommand(
  args: Readonly<Record<string, unknown>>,
  access: Access,
  command: string,
): Readonly<Record<string, unknown>> {
  const { command: own } = args;
  const whole = access.kind === "command" ? access.command : "";
  const before = typeof own === "string" && whole.endsWith(own) ? whole.slice(0, -own.length) : "";
  return { ...args, command: command.startsWith(before) ? command.slice(before.length) : command };
}

/**
 * The start of a call, as far as its arguments are readable.
 * @param command as the user has edited it
 */
export function startOf(
  { id, name, tool, args }: ReadCall,
  access: Access = NOTHING,
  command?: string,
): ToolStart {
  if (tool === undefined || !args.ok) {
    return { id, tool: name, title: oneLine(name, LONGEST_NAME), kind: tool?.kind ?? "other", paths: [] };
  }
  const own = isRecord(args.value) ? args.value : {};
  const input = command === undefined ? own : withCommand(own, access, command);
  const paths = [...new Set(filesOf(access).map(({ path }) => path.path))];
  return { id, tool: tool.name, title: tool.title(input), kind: tool.kind, paths };
}
