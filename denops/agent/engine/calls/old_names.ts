/** Names of tools before version 2 of the list, and the current calls that each stands for. Pure. */

type Arguments = Readonly<Record<string, unknown>>;

interface OldTool {
  /** The current name. */
  readonly tool: string;
  /** Its earlier kind, for modes, if the tool has another kind now. */
  readonly kind?: string;
  /** Arguments that the old name implies: fixed ones, and defaults. */
  readonly args?: Arguments;
  readonly defaults?: Arguments;
  /** Whether a call does what the old tool did; default: by `args`. */
  readonly does?: (args: Arguments) => boolean;
}

const symbols = (kind: string, was = "search"): OldTool => ({ tool: "symbols", kind: was, args: { kind } });
const isCommand = (id: unknown) => typeof id === "string" && /^cmd_/.test(id);
const isSeveral = ({ path, paths }: Arguments) =>
  Array.isArray(paths) && paths.length + (path === undefined ? 0 : 1) > 1;
/** All files. */
export const ANY_FILE = "**";
const isFind = ({ path, glob, depth }: Arguments) =>
  glob !== undefined && glob !== ANY_FILE && path === undefined && depth === undefined;
/** Whether a patch has a section with this header. */
const patches = (head: RegExp) => ({ patch }: Arguments) => typeof patch === "string" && head.test(patch);

export const OLD_TOOLS: Readonly<Record<string, OldTool>> = {
  read_file: { tool: "read", does: (args) => !isSeveral(args) },
  read_files: { tool: "read", does: isSeveral },
  list_directory: { tool: "list", does: ({ glob, depth }) => glob === undefined && depth === undefined },
  list_files: {
    ...{ tool: "list", kind: "search", defaults: { glob: ANY_FILE } },
    does: (args) => (args.glob !== undefined || args.depth !== undefined) && !isFind(args),
  },
  find_files: { tool: "list", kind: "search", does: isFind },
  search_workspace: { tool: "search" },
  find_code_changes: { tool: "changes" },
  write_file: { tool: "write", kind: "edit" },
  edit_file: { tool: "edit" },
  get_diagnostics: symbols("diagnostics", "read"),
  get_document_symbols: symbols("outline", "read"),
  find_definition: symbols("definition"),
  find_references: symbols("references"),
  find_implementations: symbols("implementations"),
  get_hover_info: symbols("hover", "read"),
  get_type_hierarchy: symbols("types"),
  get_call_hierarchy: symbols("calls"),
  find_symbol: symbols("find"),
  rename_symbol: { tool: "refactor", args: { action: "rename" } },
  code_action: { tool: "refactor", args: { action: "fix" } },
  delete_file: { tool: "delete", kind: "delete" },
  move_file: { tool: "move", kind: "move" },
  run_terminal_command: { tool: "run" },
  command_output: { tool: "job", does: ({ id, stop }) => isCommand(id) && stop !== true },
  stop_command: {
    ...{ tool: "job", kind: "execute", args: { stop: true } },
    does: ({ id, stop }) => isCommand(id) && stop === true,
  },
  run_subagent: { tool: "subagent" },
  subagent_output: { tool: "job", does: ({ id }) => !isCommand(id) },
  update_plan: { tool: "plan" },
};

/** Other effects of a patch: a rule that forbids the tool also forbids the section. */
const IN_PATCH: readonly (readonly [name: string, does: (args: Arguments) => boolean])[] = [
  ["write_file", patches(/^\s*\*\*\* Add File:/m)],
  ["delete_file", patches(/^\s*\*\*\* Delete File:/m)],
  ["move_file", patches(/^\s*\*\*\* Move to:/m)],
];

/** The current name of a tool. */
export function nameNow(name: string): string {
  return oldTool(name)?.tool ?? name;
}

export function oldTool(name: string): OldTool | undefined {
  return Object.hasOwn(OLD_TOOLS, name) ? OLD_TOOLS[name] : undefined;
}

/** The old names of a tool. */
export function oldNames(tool: string): readonly string[] {
  return OLD_OF.get(tool) ?? [];
}

const OLD_OF = Map.groupBy(Object.keys(OLD_TOOLS), (name) => OLD_TOOLS[name]?.tool ?? name);

/** The subject of a rule on tools: a tool, or a part that used to be a tool. */
export interface ToolPart {
  /** Its current and old names. */
  readonly names: readonly string[];
  /** For modes. */
  readonly kind: string;
}

interface ToolFacts {
  readonly name: string;
  readonly kind: string;
}

/** All parts of a tool. */
export function partsOf(tool: ToolFacts): readonly ToolPart[] {
  const old = oldNames(tool.name);
  return old.length === 0 ? [{ names: [tool.name], kind: tool.kind }] : old.map((name) => partOf(name, tool));
}

/** The parts that a call uses. @param args as the tool accepts them */
export function partsIn(tool: ToolFacts, args: Arguments): readonly ToolPart[] {
  const own = oldNames(tool.name).filter((name) => {
    const { does, args: own = {} } = OLD_TOOLS[name] ?? {};
    return does?.(args) ?? Object.entries(own).every(([key, value]) => args[key] === value);
  });
  const more = tool.name === "edit" ? IN_PATCH.flatMap(([name, does]) => does(args) ? [name] : []) : [];
  const all = [...own, ...more];
  return all.length === 0 ? [{ names: [tool.name], kind: tool.kind }] : all.map((name) => partOf(name, tool));
}

/** Old tools whose work a call does, whatever its form: a rule on them applies to it too. */
const ALSO_DOES: Readonly<Record<string, Readonly<Record<string, (args: Arguments) => boolean>>>> = {
  read: { read_file: () => true },
  list: {
    find_files: ({ glob }) => glob !== undefined && glob !== ANY_FILE,
    list_files: ({ glob, depth }) => glob !== undefined || depth !== undefined,
    list_directory: ({ depth }) => depth !== undefined,
  },
};

/** The current and old names of a call, for rules on tools. @param args as the tool accepts them */
export function ruleNames(tool: ToolFacts, args: Arguments): readonly string[] {
  const also = Object.entries(ALSO_DOES[tool.name] ?? {}).flatMap(([name, does]) => does(args) ? [name] : []);
  return [...new Set([...partsIn(tool, args).flatMap(({ names }) => names), ...also])];
}

function partOf(old: string, { kind }: Pick<ToolFacts, "kind">): ToolPart {
  const { tool = old, kind: own = kind } = oldTool(old) ?? {};
  return { names: [tool, old], kind: own };
}
