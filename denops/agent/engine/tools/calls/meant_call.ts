/** The tool that a model means by the name that it wrote. Pure. */
import { bareName, plain, ToolNames } from "../../core/tool_names.ts";
import { adviceFor, argumentOf, EDITOR_COMMANDS, isEditor, isGrep, toolOf } from "./aliases.ts";
import { argumentsIn, type ArgumentsSchema } from "./fit_arguments.ts";

/** The tool that is meant, also by a name that other agents have for it. Only one that is offered. */
export function meantTool<Tool extends { readonly name: string }>(
  written: string,
  names: ToolNames<Tool>,
): Tool | undefined {
  return names.named(written) ?? names.named(toolOf(bareName(written)) ?? "");
}

export interface MeantCall<Tool> {
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
  const tool = meantTool(written, names);
  if (tool === undefined) return { tool, args, advice: adviceFor(bare) };
  const given = argumentsIn(args, { name: tool.name, parameters: tool.schema });
  if (given === undefined) return { tool, args, advice: undefined };
  const other = otherTool(tool.name, given);
  if (other === undefined) {
    const isRegex = names.named(written) === undefined && isGrep(bare) && !saysRegex(tool.name, given);
    return { tool, args: isRegex ? { ...given, is_regex: true } : given, advice: undefined };
  }
  return { tool: names.named(other.name), args: other.args, advice: undefined };
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

function saysRegex(tool: string, args: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(args).some((key) =>
    plain(key) === "isregex" || argumentOf(tool, key) === "is_regex" || argumentOf(tool, key) === "@regex"
  );
}

/** Another of our tools that the arguments are for. */
function otherTool(
  name: string,
  args: Readonly<Record<string, unknown>>,
): { readonly name: string; readonly args: unknown } | undefined {
  if (name === "read_file" && args.path === undefined && args.paths !== undefined) {
    return { name: "read_files", args };
  }
  if (name === "run_terminal_command") {
    const command = args.command ?? args.cmd;
    const [program, patch, ...others] = Array.isArray(command) ? command : [];
    if (program === "apply_patch" && others.length === 0) {
      // The patch's paths are relative to this folder. edit_file takes none, and refuses it.
      const folder = Object.entries(args).filter(([key, value]) =>
        value !== "." && (key === "cwd" || argumentOf(name, key) === "cwd")
      );
      return { name: "edit_file", args: { ...Object.fromEntries(folder), patch } };
    }
  }
  return undefined;
}
