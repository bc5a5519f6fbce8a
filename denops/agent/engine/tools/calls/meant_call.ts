/** Finds the tool that a model means by a name. Pure. */
import { bareName, plain, ToolNames } from "../../calls/tool_names.ts";
import { adviceFor, argumentOf, EDITOR_COMMANDS, isEditor, isGrep, toolOf } from "./aliases.ts";
import { argumentsIn, type ArgumentsSchema } from "./fit_arguments.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** The offered tool with this name, or with another agent's name for it. */
export function meantTool<Tool extends { readonly name: string }>(
  written: string,
  names: ToolNames<Tool>,
): Tool | undefined {
  return names.closest(written) ?? names.closest(toolOf(bareName(written))?.name ?? "");
}

interface MeantCall<Tool> {
  /** Undefined if no such tool exists. */
  readonly tool: Tool | undefined;
  /** As written; the tool adapts them. */
  readonly args: unknown;
  /** Advice if no tool fits. */
  readonly advice: string | undefined;
}

/** @param args JSON, or plain text */
export function meantCall<
  Tool extends { readonly name: string; readonly schema: ArgumentsSchema["parameters"] },
>(
  written: string,
  args: unknown,
  tools: readonly Tool[],
): MeantCall<Tool> {
  const names = new ToolNames(tools);
  const bare = bareName(written);
  if (names.closest(written) === undefined && isEditor(bare)) return editorCall(args, names);
  const isOwn = names.closest(written) !== undefined;
  const tool = meantTool(written, names);
  if (tool === undefined) return { tool, args, advice: adviceFor(bare) };
  const input = argumentsIn(args, { name: tool.name, parameters: tool.schema });
  if (input === undefined) return { tool, args, advice: undefined };
  const patch = patchIn(tool.name, input);
  if (patch !== undefined) return { tool: names.closest("edit"), args: patch, advice: undefined };
  if (isOwn) return { tool, args: input, advice: undefined };
  const isRegex = isGrep(bare) && !saysRegex(tool.name, input);
  const { args: own, defaults } = toolOf(bare) ?? {};
  const all = { ...missing(input, defaults, tool.name), ...input, ...own };
  return { tool, args: isRegex ? { ...all, is_regex: true } : all, advice: undefined };
}

/** The defaults that are missing in the arguments, under any name. */
function missing(args: Arguments, defaults: Arguments = {}, tool: string): Arguments {
  const keys = Object.entries(args).flatMap(([key, value]) =>
    value === null || value === "" ? [] : [argumentOf(tool, key) ?? plain(key)]
  );
  return Object.fromEntries(Object.entries(defaults).filter(([key]) => !keys.includes(key)));
}

function editorCall<Tool extends { readonly name: string; readonly schema: ArgumentsSchema["parameters"] }>(
  args: unknown,
  names: ToolNames<Tool>,
): MeantCall<Tool> {
  const { command, ...rest } = argumentsIn(args, { name: "", parameters: {} }) ?? {};
  const word = typeof command === "string" ? command : "";
  const tool = names.closest(EDITOR_COMMANDS.get(word) ?? "");
  const advice = adviceFor(word);
  return { tool, args: rest, advice: advice === undefined ? undefined : `Nothing does "${word}". ${advice}` };
}

function saysRegex(tool: string, args: Arguments): boolean {
  return Object.keys(args).some((key) =>
    plain(key) === "isregex" || argumentOf(tool, key) === "is_regex" || argumentOf(tool, key) === "@regex"
  );
}

/** The arguments of an edit, if a command runs the program apply_patch with a patch. */
function patchIn(tool: string, args: Arguments): Arguments | undefined {
  if (tool !== "run") return undefined;
  const command = args.command ?? args.cmd;
  const [program, patch, ...others] = Array.isArray(command) ? command : [];
  if (program !== "apply_patch" || others.length > 0) return undefined;
  // The patch's paths are relative to this folder, which an edit refuses.
  const folder = Object.entries(args).filter(([key, value]) =>
    value !== "." && (key === "cwd" || argumentOf(tool, key) === "cwd")
  );
  return { ...Object.fromEntries(folder), patch };
}
