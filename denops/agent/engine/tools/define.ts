/**
 * What a tool is: one file that exports one `defineTool({...})`, and one line in registry.ts.
 *
 * A call runs in two steps. `prepare` checks the arguments, resolves paths and says what the call would touch;
 * it changes nothing. `run` does exactly what was prepared, after policy and, if need be, a person have agreed.
 */
import { z } from "zod";
import { ToolError } from "../core/errors.ts";
import type { Diff, FileChange, ToolKind } from "../core/events.ts";
import type { ToolSpec } from "../core/messages.ts";
import type { ResolvedPath } from "../../policy/path.ts";
import type { Workspace } from "./files/workspace.ts";

/** One thing that a call reads or writes; the policy judges each. */
export interface Touch {
  readonly access: "read" | "write";
  readonly path: ResolvedPath;
}

export interface ToolResult {
  /** What the model reads. */
  readonly text: string;
  /** What the screen shows beside the title: "12 lines", "+3 −1". */
  readonly summary: string;
  readonly diff?: Diff;
  readonly changes?: readonly FileChange[];
}

export interface PreparedCall {
  readonly touches: readonly Touch[];
  /** What the user is shown before a write is allowed. */
  readonly diff?: Diff;
  run(signal: AbortSignal): Promise<ToolResult>;
}

export interface Tool {
  readonly name: string;
  readonly kind: ToolKind;
  /** True if it changes nothing; such calls of one batch run at the same time. */
  readonly readOnly: boolean;
  /** What the tool cannot do without; where it is missing the model is not told of the tool. */
  readonly needs?: "servers";
  readonly spec: ToolSpec;
  /** One line for the screen, from arguments that may still be incomplete. */
  title(args: Readonly<Record<string, unknown>>): string;
  /** The argument whose growing length is shown while it streams in. */
  readonly streamed?: string;
  /** @throws {ToolError} with one line for the model. */
  prepare(args: unknown, workspace: Workspace, signal: AbortSignal): Promise<PreparedCall>;
}

interface Definition<Schema extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly kind: ToolKind;
  readonly readOnly: boolean;
  readonly needs?: "servers";
  readonly schema: Schema;
  readonly streamed?: string & keyof z.infer<Schema>;
  title(args: Readonly<Record<string, unknown>>): string;
  prepare(args: z.infer<Schema>, workspace: Workspace, signal: AbortSignal): Promise<PreparedCall>;
}

/** Names that models use for `path`. */
const PATH_ALIASES = ["file", "filePath", "file_path", "filepath", "filename"] as const;

export function defineTool<Schema extends z.ZodObject>(definition: Definition<Schema>): Tool {
  const { name, description, schema } = definition;
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(schema, { io: "input" });
  const known = Object.keys(schema.shape);
  return {
    name,
    kind: definition.kind,
    readOnly: definition.readOnly,
    spec: { name, description, parameters },
    ...(definition.needs === undefined ? {} : { needs: definition.needs }),
    ...(definition.streamed === undefined ? {} : { streamed: definition.streamed }),
    title: (args) => definition.title(withPath(args, known)),
    async prepare(args, workspace, signal) {
      if (typeof args !== "object" || args === null || Array.isArray(args)) {
        throw new ToolError(`The arguments of ${name} must be a JSON object.`);
      }
      const given = withPath({ ...args }, known);
      const parsed = schema.safeParse(given);
      if (!parsed.success) throw new ToolError(argumentError(name, parsed.error, parameters));
      const unknown = Object.keys(given).filter((key) => !known.includes(key));
      const prepared = await definition.prepare(parsed.data, workspace, signal);
      return unknown.length === 0 ? prepared : withNote(prepared, unknown);
    },
  };
}

function withPath(
  args: Readonly<Record<string, unknown>>,
  known: readonly string[],
): Record<string, unknown> {
  const alias = PATH_ALIASES.find((key) => typeof args[key] === "string" && !known.includes(key));
  if (!known.includes("path") || args.path !== undefined || alias === undefined) return { ...args };
  const { [alias]: path, ...rest } = args;
  return { ...rest, path };
}

function argumentError(
  name: string,
  error: z.ZodError,
  parameters: Readonly<Record<string, unknown>>,
): string {
  const issue = error.issues[0];
  const key = String(issue?.path[0] ?? "");
  const properties = z.record(z.string(), z.unknown()).catch({}).parse(parameters.properties);
  const line = properties[key] === undefined
    ? ""
    : ` The schema says "${key}": ${JSON.stringify(properties[key])}.`;
  return `Wrong argument${
    key === "" ? "" : ` "${issue?.path.join(".")}"`
  } for ${name}: ${issue?.message}.${line}`;
}

function withNote(prepared: PreparedCall, unknown: readonly string[]): PreparedCall {
  return {
    ...prepared,
    async run(signal) {
      const result = await prepared.run(signal);
      return { ...result, text: `${result.text}\n(ignored unknown arguments: ${unknown.join(", ")})` };
    },
  };
}

/** For titles: an argument as short text, whatever the model sent. */
export function shown(value: unknown, missing = "…"): string {
  return typeof value === "string" && value !== "" ? value.replace(/\s+/g, " ").slice(0, 120) : missing;
}
