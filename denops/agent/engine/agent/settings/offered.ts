/**
 * The tools that a session's model is offered. The list is chosen at the first request and stays the same in every
 * mode; tools that a mode forbids are refused when called.
 */
import { covers, TOOL_SETS } from "../../../protocol/modes.ts";
import { briefly } from "../../context/brief.ts";
import { hasPart, type Mode } from "../../context/modes.ts";
import type { EditForm } from "../../../protocol/options/efforts.ts";
import { partsIn, partsOf, type ToolPart } from "../../calls/old_names.ts";
import type { ToolSpec } from "../../log/model_request.ts";
import type { MessageEntry } from "../../log/entries.ts";
import type { Project } from "../../context/project.ts";
import type { McpPort } from "../../ports/mcp.ts";
import type { SkillsPort } from "../../ports/skills.ts";
import { ToolNames } from "../../calls/tool_names.ts";
import { meantTool } from "../../tools/calls/meant_call.ts";
import type { Tool } from "../../tools/define.ts";
import { goneTool, isMcpName } from "../../tools/mcp/mcp_tool.ts";
import { oldList } from "../../tools/old/old_list.ts";
import type { SessionTools } from "./session_tools.ts";

/** The inputs of the list. */
interface ListFacts {
  readonly mode: Pick<Mode, "tools">;
  /** It gets fewer tools. */
  readonly small: boolean;
  readonly form: EditForm;
  /** The model does not write thoughts of its own. */
  readonly thinks: boolean;
  /** A language server is running. */
  readonly hasServers: boolean;
  readonly switches: Pick<SessionTools, "isOff" | "isPartOff" | "isAdded">;
}

/** The initial tools of a session. */
export function toolList(tools: readonly Tool[], facts: ListFacts): readonly Tool[] {
  const { mode, small, form, thinks, hasServers, switches } = facts;
  const { tools: wanted } = mode;
  const isChoice = typeof wanted !== "string" && wanted.some((name) => !name.startsWith("!"));
  return tools.filter((tool) => {
    const { name, kind, needs, basic, special, inPatch, deferred } = tool;
    if (switches.isOff(tool)) return false;
    const parts = partsOf(tool);
    const isNamed = isChoice && parts.some(({ names }) => names.some((one) => wanted.includes(one)));
    if (isNamed || (switches.isAdded(name) && deferred !== true)) return true;
    if (deferred === true) return false;
    if (special) return kind === "think" && !thinks && !small;
    if (small && !basic && !(isChoice && parts.some((part) => hasPart(mode, part)))) return false;
    if (form === "patch" && inPatch) return false;
    return needs !== "languages" || hasServers;
  });
}

/** The tools of a session that began with their old names. */
export function oldSpecs(tools: readonly Tool[], model: string, facts: ListFacts): readonly ToolSpec[] {
  const { small, form, switches } = facts;
  const offered = tools.map(({ name }) => name);
  const specs = oldList({ model, offered, form, small, isPartOff: (name) => switches.isPartOff(name) });
  return small ? specs.map(briefly) : specs;
}

/**
 * The enabled tools of an earlier list, with the user's additions. Tools of MCP servers that are gone stay; a session
 * that is older than its MCP servers or skills gets the tools that reach them.
 */
export function listNow(
  sent: readonly ToolSpec[],
  tools: readonly Tool[],
  switches: ListFacts["switches"],
): readonly ToolSpec[] {
  const names = new ToolNames(tools);
  const hasMcp = tools.some(({ needs }) => needs === "mcp");
  const known = sent.map((spec) => {
    const isMcp = isMcpName(spec.name);
    return { spec, tool: isMcp ? (hasMcp ? spec : undefined) : meantTool(spec.name, names) };
  });
  const added = tools.filter((tool) =>
    (switches.isAdded(tool.name) || tool.needs === "mcp" || tool.needs === "skills") &&
    !isMcpName(tool.name) && !switches.isOff(tool) &&
    !known.some((one) => one.tool?.name === tool.name)
  );
  const kept = known.flatMap(({ spec, tool }) => tool === undefined || switches.isOff(tool) ? [] : [spec]);
  return kept.length === sent.length && added.length === 0
    ? sent
    : [...kept, ...added.map(({ spec }) => spec)];
}

/** For each listed tool of an MCP server that is gone, one that says so. */
export function goneTools(list: readonly ToolSpec[], tools: readonly Tool[]): readonly Tool[] {
  const names = new Set(tools.map(({ name }) => name));
  return list.flatMap((spec) => isMcpName(spec.name) && !names.has(spec.name) ? [goneTool(spec)] : []);
}

/** The tools, with the names of the session's skills; without skills nothing reads them. */
export function withSkillNames(tools: readonly Tool[], project: Project | undefined): readonly Tool[] {
  const { skills = [], laterSkills = [] } = project ?? {};
  const names = [...skills.map(({ name }) => name), ...laterSkills];
  if (names.length === 0) return tools.filter(({ needs }) => needs !== "skills");
  return tools.map((tool) => {
    if (tool.needs !== "skills") return tool;
    const name = { type: "string", enum: names };
    const parameters = { ...tool.spec.parameters, properties: { name } };
    return { ...tool, spec: { ...tool.spec, parameters } };
  });
}

/** The skills, as far as the model sees them already. @param messages as the model sees them */
export function sessionSkills(skills: SkillsPort, messages: () => readonly MessageEntry[]): SkillsPort {
  const holds = (entry: MessageEntry, text: string) =>
    entry.type === "user_message"
      ? entry.parts.some((part) => "text" in part && part.text.includes(text))
      : entry.text.includes(text);
  return {
    text: (name, signal) => skills.text(name, signal),
    file: (path, signal) => skills.file(path, signal),
    isSeen: (text) => messages().some((entry) => holds(entry, text)),
  };
}

/** The session's servers without the tools that are switched off. */
export function enabledMcp(mcp: McpPort, switches: Pick<SessionTools, "isOff">): McpPort {
  return {
    get servers() {
      return mcp.servers;
    },
    get tools() {
      return mcp.tools.filter((tool) => !switches.isOff(tool));
    },
    start: () => mcp.start(),
    settled: (milliseconds, signal) => mcp.settled(milliseconds, signal),
    call: (tool, args, call, signal) => mcp.call(tool, args, call, signal),
    resource: (server, uri, signal) => mcp.resource(server, uri, signal),
    prompt: (server, name, words, signal) => mcp.prompt(server, name, words, signal),
  };
}

/** Names of the mode's tools that the list lacks. */
export function missingTools(
  { tools: wanted }: Pick<Mode, "tools">,
  list: readonly ToolSpec[],
  tools: readonly Tool[],
): readonly string[] {
  const names = new ToolNames(tools);
  const listed = new Set(list.map(({ name }) => meantTool(name, names)?.name));
  // A patch covers some tools, and call_tool those of MCP servers.
  const missing = tools.filter(({ name, inPatch }) => !listed.has(name) && !inPatch && !isMcpName(name));
  return typeof wanted === "string"
    ? []
    : missing.filter((tool) => partsOf(tool).some(({ names }) => names.some((one) => wanted.includes(one))))
      .map(({ name }) => name);
}

/** Whether any call of the offered tools may run. @param list as offered */
export function hasTools(
  list: readonly ToolSpec[],
  mode: Mode,
  tools: readonly Tool[],
  switches: Pick<SessionTools, "isPartOff">,
): boolean {
  const names = new ToolNames(tools);
  return list.some(({ name }) => {
    const tool = meantTool(name, names);
    return tool !== undefined &&
      partsOf(tool).some((part) => partRefusal(part, tool, mode, tools, switches) === undefined);
  });
}

/** The reason to refuse a call in any case; undefined: it may run. @param args as the tool accepts them */
export function refusalOf(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  mode: Mode,
  tools: readonly Tool[],
  switches: Pick<SessionTools, "isPartOff">,
): string | undefined {
  for (const part of partsIn(tool, args)) {
    const refusal = partRefusal(part, tool, mode, tools, switches);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function partRefusal(
  part: ToolPart,
  tool: Tool,
  mode: Mode,
  tools: readonly Tool[],
  switches: Pick<SessionTools, "isPartOff">,
): string | undefined {
  const own = tools.find(({ name }) => name === part.names[0]) ?? tool;
  const [name] = part.names;
  const off = part.names.find((name) => switches.isPartOff(name));
  if (off !== undefined) return `${off} is off in this session`;
  if (!hasPart(mode, part)) return `mode ${mode.name} has no tool ${name}`;
  if (mode.toolSet !== undefined && !hasPart(TOOL_SETS[mode.toolSet], part)) {
    return `this turn ${TOOL_SETS[mode.toolSet].does}, so it has no ${name}`;
  }
  return covers(mode.access, own.least)
    ? undefined
    : `mode ${mode.name} ${LIMITS[mode.access]}, so it has no ${name}`;
}

const LIMITS = {
  read: "changes nothing",
  docs: "writes docs/ and Markdown files only",
  write: "is limited",
} as const satisfies Record<Mode["access"], string>;
