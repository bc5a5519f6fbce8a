/**
 * The definition of tools: one file that exports one `defineTool({...})`, and one line in registry.ts.
 *
 * A call runs in two steps. `prepare` checks the arguments, resolves paths and declares the access; it changes nothing.
 * `run` does exactly what was prepared, after the policy and possibly the user have approved it.
 */
import * as z from "../../deps/zod.ts";
import { defined } from "../../shared/records.ts";
import { ToolError } from "../../shared/errors.ts";
import { propertiesOf } from "../calls/json_schema.ts";
import type { Diff, FileChange, FileLocation, Plan, SymbolDefinition, ToolKind } from "../log/events.ts";
import type { EditForm } from "../../protocol/options/efforts.ts";
import type { Image } from "../log/messages.ts";
import type { ToolSpec } from "../log/model_request.ts";
import type { Access, AccessPath, FileAccess } from "../../protocol/access.ts";
import type { CommandAccess } from "../../protocol/commands.ts";
import type { ModeAccess } from "../../protocol/modes.ts";
import type { SubagentPort } from "../ports/subagents.ts";
import type { ClientAbilities } from "../ports/abilities.ts";
import type { Effects, ShellState } from "../ports/commands.ts";
import {
  argumentsIn,
  type ArgumentsSchema,
  fitArguments,
  type FittedArguments,
} from "./calls/fit_arguments.ts";
import type { ImageRoom } from "./files/image_room.ts";
import type { Workspace } from "./files/workspace.ts";

export interface ToolResult {
  /** Text for the model. */
  readonly text: string;
  /** Shown beside the title: "12 lines", "+3 −1". */
  readonly summary: string;
  readonly diff?: Diff;
  /** Files and lines of the result, the most important one first. A diff has its own. */
  readonly locations?: readonly FileLocation[];
  readonly changes?: readonly FileChange[];
  /** Of symbols that the model looked up. */
  readonly definitions?: readonly SymbolDefinition[];
  /** The call ran and failed: a command with an error. */
  readonly failed?: boolean;
  /** The current to-do list. */
  readonly plan?: Plan;
  /** Only for the model, not for screen or log. */
  readonly images?: readonly Image[];
  /** Pending changes, which need approval. */
  readonly effects?: Effects;
  /** Called if they are kept; returns further text for the model. */
  whenKept?(): Promise<string>;
}

/** State of a session's tools between calls. */
export interface ToolMemory {
  /** The folder of the next command, relative to the root. */
  folder: string;
  /** The start of the next command; undefined: it was lost when the session was resumed. */
  shell: ShellState | undefined;
  plan: Plan;
}

/** Everything that a tool may use. A tool declares the abilities that it needs, and is only offered with them. */
export interface ToolContext extends Partial<ClientAbilities> {
  /** The access of the mode. */
  readonly access: ModeAccess;
  readonly workspace: Workspace;
  readonly session: ToolMemory;
  readonly images: ImageRoom;
  readonly callId: string;
  /** Shows one line about the running call. Absent: nobody watches. */
  progress?(summary: string): void;
  /** Undefined for a sub-agent. */
  readonly agents?: SubagentPort | undefined;
}

export interface PreparedCall {
  readonly access: Access;
  /** The diff that the user sees before approving a write. */
  readonly diff?: Diff;
  run(signal: AbortSignal, approved: ApprovedChanges): Promise<ToolResult>;
}

export const NOTHING: Access = { kind: "nothing" };

export function files(...list: readonly (readonly [FileAccess["access"], AccessPath])[]): Access {
  return { kind: "file", files: list.map(([access, path]) => ({ access, path })) };
}

/** The files of an access; empty for other kinds. */
export function filesOf(access: Access): readonly FileAccess[] {
  return access.kind === "file" ? access.files : [];
}

/** The files that a call writes. */
export function writtenBy(access: Access): readonly AccessPath[] {
  return filesOf(access).flatMap(({ access, path }) => access === "write" ? [path] : []);
}

/** The user's decisions about a command. */
export interface ApprovedChanges {
  /** The command as the user edited it. */
  readonly command?: string;
  /** Its access. */
  readonly access?: CommandAccess;
  /** It runs over an overlay. */
  readonly rehearsed?: boolean;
  /** The hosts that it reaches without the network. */
  readonly hosts?: readonly string[];
}

export interface Tool {
  readonly name: string;
  readonly kind: ToolKind;
  /** True if it changes nothing. */
  readonly readOnly: boolean;
  /** It may run concurrently with other calls of a batch. */
  readonly parallel: boolean;
  /** The least access of a mode in which the tool is useful. */
  readonly least: ModeAccess;
  /** The result may change although nothing was changed, so calls always run. */
  answersChange(args: Readonly<Record<string, unknown>>): boolean;
  /** Offered to small models too. */
  readonly basic: boolean;
  /** Only offered on request. */
  readonly special: boolean;
  /** A patch can do the same. */
  readonly inPatch: boolean;
  /** Of an MCP server, and not in lists: models find it by find_tools. */
  readonly deferred?: boolean;
  /** Useless for agents that work for other agents. */
  readonly ofUser: boolean;
  readonly spec: ToolSpec;
  /** The same where commands run in this shell. */
  specIn(shell?: string): ToolSpec;
  /** For a tool with several forms of edits. */
  readonly forms?: {
    spec(form: EditForm): ToolSpec;
    /** The form of a call. */
    of(args: Readonly<Record<string, unknown>>): EditForm;
  };
  /** JSON schema of all accepted arguments, offered or not. */
  readonly schema: ToolSpec["parameters"];
  /** Adapts arguments as written. `prepare` and `title` do this themselves. */
  fit(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** Whether the tool accepts arguments as written. */
  accepts(args: unknown): boolean;
  /** One line for the screen, also for incomplete arguments. */
  title(args: Readonly<Record<string, unknown>>): string;
  readonly needs?: keyof ClientAbilities;
  /** The argument whose lines are counted while it streams. */
  readonly streamed?: string;
  /** @throws {ToolError} with one line for the model. */
  prepare(args: unknown, context: ToolContext, signal: AbortSignal): Promise<PreparedCall>;
}

/** A tool gets exactly the abilities that it declares. */
type ContextOf<Need extends keyof ClientAbilities, Use extends keyof ClientAbilities = never> =
  & Omit<ToolContext, keyof ClientAbilities>
  & Pick<ClientAbilities, Need>
  & Partial<Pick<ClientAbilities, Use>>;

interface Definition<
  Schema extends z.ZodObject,
  Need extends keyof ClientAbilities,
  Use extends keyof ClientAbilities,
> {
  readonly name: string;
  /** @param shell the name of the shell that runs commands */
  readonly description: string | ((shell: string) => string);
  readonly kind: ToolKind;
  readonly readOnly: boolean;
  /** Default: by `readOnly`. */
  readonly least?: ModeAccess;
  /** It changes something, but orders its own calls. */
  readonly parallel?: true;
  /** Its calls depend on each other although they change no files. */
  readonly inOrder?: true;
  readonly answersChange?: true | Tool["answersChange"];
  readonly basic?: true;
  readonly special?: true;
  readonly inPatch?: true;
  readonly ofUser?: true;
  readonly schema: Schema;
  /** Accepted arguments that are not offered. */
  readonly unshown?: readonly (string & keyof z.infer<Schema>)[];
  readonly needs?: Need;
  /** Optional abilities. */
  readonly uses?: Use;
  readonly streamed?: string & keyof z.infer<Schema>;
  readonly forms?: {
    of(args: Readonly<Record<string, unknown>>): EditForm;
    /** Replaces name, description and schema. */
    readonly specs: Readonly<
      Record<
        EditForm,
        Pick<ToolSpec, "description" | "grammar"> & { readonly name?: string; readonly shape: z.ZodRawShape }
      >
    >;
  };
  title(args: Readonly<Record<string, unknown>>): string;
  prepare(
    args: z.infer<Schema>,
    context: ContextOf<Need, Use>,
    signal: AbortSignal,
  ): PreparedCall | Promise<PreparedCall>;
}

export function defineTool<
  Schema extends z.ZodObject,
  Need extends keyof ClientAbilities = never,
  Use extends keyof ClientAbilities = never,
>(
  definition: Definition<Schema, Need, Use>,
): Tool {
  const { name, description, schema, forms, unshown = [], answersChange } = definition;
  const parameters = parametersOf(schema);
  const own: ArgumentsSchema = { name, parameters };
  const describe = typeof description === "string" ? () => description : description;
  const specIn = (shell = "bash") => ({
    name,
    description: describe(shell),
    parameters: without(parameters, unshown),
  });
  const formsOf: Tool["forms"] = forms === undefined ? undefined : {
    of: forms.of,
    spec(form) {
      const { shape, ...description } = forms.specs[form];
      return { name, ...description, parameters: parametersOf(z.object(shape)) };
    },
  };
  const read = (args: unknown) => readArguments(args, schema, own, definition.readOnly);
  return {
    name,
    kind: definition.kind,
    readOnly: definition.readOnly,
    least: definition.least ?? (definition.readOnly ? "read" : "write"),
    parallel: definition.parallel ?? (definition.readOnly && definition.inOrder !== true),
    answersChange: (args) =>
      typeof answersChange === "function" ? answersChange(args) : answersChange ?? false,
    basic: definition.basic ?? false,
    special: definition.special ?? false,
    inPatch: definition.inPatch ?? false,
    ofUser: definition.ofUser ?? false,
    spec: formsOf?.spec("replace") ?? specIn(),
    specIn,
    ...defined({ forms: formsOf, streamed: definition.streamed, needs: definition.needs }),
    schema: parameters,
    fit: (args) => fitArguments(args, own).args,
    title: (args) => definition.title(fitArguments(args, own).args),
    accepts: (args) => !(read(args) instanceof ToolError),
    async prepare(args, context, signal) {
      const parsed = read(args);
      if (parsed instanceof ToolError) throw parsed;
      const { ignored } = parsed;
      if (!hasNeed(context, definition.needs)) throw new ToolError(`${name} is not offered by this editor.`);
      if (ignored.length === 0) return await definition.prepare(parsed.data, context, signal);
      try {
        return withNote(await definition.prepare(parsed.data, context, signal), ignored);
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        throw new ToolError(`${error.message} ${unknownArguments(own, ignored)}`, error.summary);
      }
    },
  };
}

/** @returns the error for the model if the arguments are invalid */
function readArguments<Schema extends z.ZodObject>(
  args: unknown,
  schema: Schema,
  own: ArgumentsSchema,
  isReadOnly: boolean,
): { readonly data: z.infer<Schema>; readonly ignored: readonly string[] } | ToolError {
  const object = argumentsIn(args, own);
  if (object === undefined) return new ToolError(`The arguments of ${own.name} must be a JSON object.`);
  const fitted = fitArguments(object, own);
  const { ignored } = fitted;
  const parsed = schema.safeParse(fitted.args);
  if (!parsed.success) return new ToolError(argumentError(parsed.error, own, fitted));
  // A dropped argument such as "append" or "dry run" would make the call do more than requested.
  if (ignored.length > 0 && !isReadOnly) {
    return new ToolError(`Not run: ${unknownArguments(own, ignored)}`, "unknown arguments");
  }
  return { data: parsed.data, ignored };
}

/** For models: without the dialect's name and the limits that every integer and every name have. */
function parametersOf(schema: z.ZodObject): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(schema, {
    io: "input",
    override({ jsonSchema }) {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // All names are strings.
      delete jsonSchema.propertyNames;
    },
  });
  return parameters;
}

function without(parameters: ToolSpec["parameters"], unshown: readonly string[]): ToolSpec["parameters"] {
  const properties = Object.entries(propertiesOf({ parameters })).filter(([key]) => !unshown.includes(key));
  return { ...parameters, properties: Object.fromEntries(properties) };
}

function hasNeed<Need extends keyof ClientAbilities, Use extends keyof ClientAbilities>(
  context: ToolContext,
  need: Need | undefined,
): context is ToolContext & ContextOf<Need, Use> {
  return need === undefined || context[need] !== undefined;
}

function argumentError(
  error: z.ZodError,
  schema: ArgumentsSchema,
  { renamed, ignored }: FittedArguments,
): string {
  const issue = error.issues[0];
  const key = String(issue?.path[0] ?? "");
  const own = propertiesOf(schema)[key];
  const written = renamed.get(key);
  const name = key === ""
    ? ""
    : ` "${issue?.path.join(".")}"${written === undefined ? "" : ` ("${written}")`}`;
  const line = own === undefined ? "" : ` The schema says "${key}": ${JSON.stringify(own)}.`;
  const rest = ignored.length === 0 ? "" : ` ${unknownArguments(schema, ignored)}`;
  return `Wrong argument${name} for ${schema.name}: ${issue?.message}.${line}${rest}`;
}

function unknownArguments(schema: ArgumentsSchema, ignored: readonly string[]): string {
  const known = Object.keys(propertiesOf(schema)).join(", ");
  return `${schema.name} has no argument ${namesOf(ignored)}; it takes ${known}.`;
}

/** Arguments that one message lists. */
const MOST_NAMES = 10;

function namesOf(ignored: readonly string[]): string {
  const names = ignored.slice(0, MOST_NAMES).map((name) => titleText(name));
  const left = ignored.length - names.length;
  return [...names, ...left > 0 ? [`${left} more`] : []].join(", ");
}

function withNote(prepared: PreparedCall, ignored: readonly string[]): PreparedCall {
  return {
    ...prepared,
    async run(signal, changed) {
      const result = await prepared.run(signal, changed);
      return { ...result, text: `${result.text}\n(ignored unknown arguments: ${namesOf(ignored)})` };
    },
  };
}

/** Characters of an argument in a title. */
const LONGEST_SHOWN = 120;

/** An argument as short text for a title, whatever the model sent. */
export function titleText(value: unknown, missing = "…"): string {
  if (typeof value !== "string" || value === "") return missing;
  const line = value.replace(/\s+/g, " ");
  if (line.length <= LONGEST_SHOWN) return line;
  return `${line.slice(0, LONGEST_SHOWN - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
