/** The tools of MCP servers as tools of the engine. Their changes are unknown, because annotations may be false. */
import { fitValue } from "../../calls/fit_value.ts";
import { isRecord } from "../../calls/json_schema.ts";
import { messageOf, ToolError } from "../../../shared/errors.ts";
import { fenced } from "../../../shared/text/fence.ts";
import { plural } from "../../../shared/text/text.ts";
import type { Image } from "../../log/messages.ts";
import type { McpAnswer, McpTool } from "../../ports/mcp.ts";
import { argumentsIn } from "../calls/fit_arguments.ts";
import { titleText, type Tool, type ToolContext, type ToolResult } from "../define.ts";
import type { ImageRoom } from "../files/image_room.ts";

/** Models that need a server wait this long until it has started. */
export const STARTING_MS = 10_000;
/** Characters of a call's arguments as JSON. */
const LONGEST_INPUT = 1_000_000;
/** Characters of a summary. */
const LONGEST_SUMMARY = 80;

/** Whether a name is that of a server's tool: our own contain no double underscore. */
export function isMcpName(name: string): boolean {
  return name.includes("__");
}

/** The fields that all tools of servers share. */
const MCP_TOOL = {
  kind: "other",
  readOnly: false,
  parallel: false,
  least: "write",
  answersChange: () => true,
  basic: false,
  special: false,
  inPatch: false,
  ofUser: false,
  needs: "mcp",
} as const;

export function mcpTool(tool: McpTool): Tool {
  const { name, server, description, parameters } = tool;
  const spec = { name, description, parameters };
  const inputOf = (args: unknown) => {
    const object = argumentsIn(args, spec);
    const fitted = object && fitValue(object, parameters);
    return isRecord(fitted) ? fitted : undefined;
  };
  return {
    ...MCP_TOOL,
    name,
    deferred: !tool.isListed,
    spec,
    specIn: () => spec,
    schema: parameters,
    fit: (args) => inputOf(args) ?? args,
    accepts: (args) => inputOf(args) !== undefined,
    title: (args) => titleOf(tool, args),
    prepare(args, context) {
      const object = inputOf(args);
      if (object === undefined) {
        return Promise.reject(new ToolError(`The arguments of ${name} must be a JSON object.`));
      }
      const input = JSON.stringify(object);
      if (input.length > LONGEST_INPUT) {
        return Promise.reject(new ToolError(`The arguments of ${name} are longer than 1 MB.`));
      }
      return Promise.resolve({
        access: { kind: "mcp", server, tool: tool.tool, input },
        // Exactly the approved arguments are sent.
        run: (signal) => callTool(tool, JSON.parse(input), context, signal),
      });
    },
  };
}

/** A tool of the session's list whose server is gone, or no longer has it. */
export function goneTool({ name, description, parameters }: Tool["spec"]): Tool {
  const gone = mcpTool({ name, server: "", tool: name, description, parameters, digest: "", isListed: true });
  return {
    ...gone,
    title: () => titleText(name),
    prepare: (_args, { mcp }, signal) => refuse(name, mcp, signal),
  };
}

/**
 * Refuses a call of a tool that no server has, after its server has had time to start. A call is never sent late,
 * because it was judged as a call of nothing. @throws {ToolError} always
 */
export async function refuse(name: string, mcp: ToolContext["mcp"], signal: AbortSignal): Promise<never> {
  // The longest name, because names may contain underscores.
  const serverOf = () =>
    mcp?.servers.filter((one) => name.startsWith(`${one.name}__`))
      .toSorted((one, other) => other.name.length - one.name.length)[0];
  const before = serverOf()?.state;
  if (before === "starting") await mcp?.settled(STARTING_MS, signal);
  signal.throwIfAborted();
  const server = serverOf();
  const title = titleText(name);
  if (server === undefined) {
    throw new ToolError(`Not run: no MCP server has a tool ${title}. find_tools lists them all.`);
  }
  if (server.state !== "ready") {
    const why = server.problem === undefined ? "" : ` (${server.problem})`;
    const state = `the MCP server ${server.name} is ${PHASES[server.state]}${why}`;
    throw new ToolError(`Not run: ${state}. Go on without it, or tell the user.`);
  }
  throw new ToolError(
    before === "starting"
      ? `Not run: the MCP server ${server.name} has just started. Send the call again.`
      : `Not run: the MCP server ${server.name} has no tool ${title} now. find_tools lists those it has.`,
  );
}

const PHASES = {
  off: "off",
  starting: "still starting",
  ready: "ready",
  failed: "not running",
  stopped: "not running",
} as const;

/** The tool, and the first argument that is short. */
function titleOf({ server, tool }: McpTool, args: Readonly<Record<string, unknown>>): string {
  const subject = Object.values(args).find((value) => typeof value === "string" && value !== "");
  return `${server}: ${titleText(tool)}${subject === undefined ? "" : ` ${titleText(subject)}`}`;
}

async function callTool(
  tool: McpTool,
  args: Readonly<Record<string, unknown>>,
  { mcp, callId: id, questions, progress, images }: ToolContext,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (mcp === undefined) throw new ToolError("This editor runs no MCP servers.");
  const call = { id, questions, progress: (line: string) => progress?.(line) };
  const answer = await mcp.call(tool, args, call, signal);
  const pictured = answer.images.map((image) => imageOf(image, images));
  const pictures = pictured.flatMap(({ image }) => image ?? []);
  return {
    text: fenced({
      about: `Result of the MCP server ${tool.server}`,
      kind: "MCP result",
      text: [...answer.text === "" ? [] : [answer.text], ...pictured.map(({ text }) => text)].join("\n"),
    }),
    summary: summaryOf(answer),
    failed: answer.failed,
    ...(pictures.length === 0 ? {} : { images: pictures }),
  };
}

/** A line instead of an image that cannot be shown. */
function imageOf(
  { name, data }: McpAnswer["images"][number],
  room: ImageRoom,
): { readonly text: string; readonly image?: Image } {
  try {
    const bytes = Uint8Array.fromBase64(data);
    return room.take(name, bytes, bytes.length) ?? { text: `[${name} is no image that can be shown]` };
  } catch (error) {
    return { text: `[${error instanceof ToolError ? messageOf(error) : `${name} cannot be read`}]` };
  }
}

function summaryOf({ text, images, failed }: McpAnswer): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const [first = ""] = lines;
  if (failed) return first.slice(0, LONGEST_SUMMARY).toWellFormed();
  const pictures = images.length === 0 ? [] : [plural(images.length, "image")];
  return [...lines.length === 0 ? [] : [plural(lines.length, "line")], ...pictures].join(", ");
}
