/** The tool that a model means by the name that it wrote. Pure. */
import { bareName, plain, ToolNames } from "../../calls/tool_names.ts";
import { adviceFor, argumentOf, EDITOR_COMMANDS, isEditor, isGrep, toolOf } from "./aliases.ts";
import { argumentsIn, type ArgumentsSchema } from "./fit_arguments.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** The tool that is meant, also by a name that other agents have for it. Only one that is offered. */
export function meantTool<Tool extends { readonly name: string }>(
  written: string,
  names: ToolNames<Tool>,
): Tool | undefined {
  return names.named(written) ?? names.named(toolOf(bareName(written))?.name ?? "");
}

interface MeantCall<Tool> {
  /** Undefined if there is no such tool. */
  readonly tool: Tool | undefined;
  /** As they were written; the tool fits them. */
  readonly args: unknown;
  /** What to do where no tool does that. */
  readonly advice: string | undefined;
}

/** @param args JSON, or the text of arguments that are none */
export function meantCall<
  Tool extends { readonly name: string; readonly schema: ArgumentsSchema["parameters"] },
>(
  written: string,
  args: unknown,
  tools: readonly Tool[],
): MeantCall<Tool> {
  const names = new ToolNames(tools);
  const bare = bareName(written);
  if (names.named(written) === undefined && isEditor(bare)) return editorCall(args, names);
  const isOwn = names.named(written) !== undefined;
  const tool = meantTool(written, names);
  if (tool === undefined) return { tool, args, advice: adviceFor(bare) };
  const input = argumentsIn(args, { name: tool.name, parameters: tool.schema });
  if (input === undefined) return { tool, args, advice: undefined };
  const patch = patchIn(tool.name, input);
  if (patch !== undefined) return { tool: names.named("edit"), args: patch, advice: undefined };
  if (isOwn) return { tool, args: input, advice: undefined };
  const isRegex = isGrep(bare) && !saysRegex(tool.name, input);
  const { args: own, defaults } = toolOf(bare) ?? {};
  const all = { ...missing(input, defaults, tool.name), ...input, ...own };
  return { tool, args: isRegex ? { ...all, is_regex: true } : all, advice: undefined };
}

/** Those of `defaults` that the arguments do not have, by whatever name. */
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
  const tool = names.named(EDITOR_COMMANDS.get(word) ?? "");
  const advice = adviceFor(word);
  return { tool, args: rest, advice: advice === undefined ? undefined : `Nothing does "${word}". ${advice}` };
}

function saysRegex(tool: string, args: Arguments): boolean {
  return Object.keys(args).some((key) =>
    plain(key) === "isregex" || argumentOf(tool, key) === "is_regex" || argumentOf(tool, key) === "@regex"
  );
}

/** The arguments of an edit, if a command is one: the program apply_patch with a patch. */
function patchIn(tool: string, args: Arguments): Arguments | undefined {
  if (tool !== "run") return undefined;
  const command = args.command ?? args.cmd;
  const [program, patch, ...others] = Array.isArray(command) ? command : [];
  if (program !== "apply_patch" || others.length > 0) return undefined;
  // The patch's paths are relative to this folder. An edit takes none, and refuses it.
  const folder = Object.entries(args).filter(([key, value]) =>
    value !== "." && (key === "cwd" || argumentOf(tool, key) === "cwd")
  );
  return { ...Object.fromEntries(folder), patch };
}
