/**
 * The access of a call. Tools declare it, policy and gate judge it, the approval shows it, the log stores it. Each call
 * has one kind of access, so that its approval shows all of it.
 */
import * as z from "../deps/zod.ts";
import { CommandInput } from "./commands.ts";
import { MODE_ACCESSES } from "./modes.ts";
import { SEARCH_ENGINES } from "./options/shapes.ts";

const AccessPath = z.object({
  /** Absolute real path. */
  path: z.string(),
  /** Absolute path with its symbolic links. */
  link: z.string(),
  /** Real path relative to the root with forward slashes, for display and rules. */
  relative: z.string(),
  /** The same with its symbolic links. */
  named: z.string(),
  exists: z.boolean(),
}).readonly();
export type AccessPath = z.infer<typeof AccessPath>;

const FileAccess = z.object({
  /** "list": names and lines below a folder; each file is checked separately. */
  access: z.enum(["read", "list", "write"]),
  path: AccessPath,
  /** For a write: a risk in the file system, as the end of a sentence. It always asks. */
  risk: z.string().optional(),
  /** For a write to a manifest: the changed keys, parts joined by "/"; absent if unknown. */
  keys: z.array(z.string()).readonly().optional(),
}).readonly();
export type FileAccess = z.infer<typeof FileAccess>;

/** Both texts of a written file. */
export interface TextChange {
  /** Undefined: the file is new. */
  readonly before?: string | undefined;
  /** Undefined: the file is deleted. */
  readonly after?: string | undefined;
}

export const Access = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("file"), files: z.array(FileAccess).min(1).readonly() }),
  /** Exactly the command that will run. */
  CommandInput.extend({ kind: z.literal("command") }),
  /** The changes of an ended command, which the supervisor lists. `terminal`: its ACP id. */
  z.object({ kind: z.literal("effects"), terminal: z.string() }),
  z.object({ kind: z.literal("fetch"), url: z.string() }),
  /** A query for the user's search engine. */
  z.object({ kind: z.literal("search_web"), engine: z.enum(SEARCH_ENGINES), query: z.string() }),
  /** A tool of an MCP server. `input`: its arguments as JSON, exactly as they are sent. */
  z.object({ kind: z.literal("mcp"), server: z.string(), tool: z.string(), input: z.string().optional() }),
  /**
   * Another agent. `access`: it is our own sub-agent in the mode `name`, with this access; each of its calls is judged
   * separately.
   */
  z.object({
    kind: z.literal("agent"),
    name: z.string(),
    task: z.string(),
    access: z.enum(MODE_ACCESSES).optional(),
  }),
  /**
   * A tool call of an agent from elsewhere, as it describes the call. Its sandbox holds whatever it does, so this only
   * matters for rules. `agent`: its name. `tool`: a name or a kind.
   */
  z.object({
    kind: z.literal("foreign"),
    agent: z.string(),
    tool: z.string(),
    title: z.string(),
    /** The line that it wants to run. */
    command: z.string().optional(),
    /** The files of the workspace that it names. */
    files: z.array(FileAccess).readonly().optional(),
    /** A tool of its own MCP server. */
    mcp: z.object({ server: z.string(), tool: z.string() }).optional(),
  }),
  /**
   * Only the user may answer: a question of the model, a reached limit, the start of a language server, or an approval
   * of a hook, a skill or an MCP server.
   */
  z.object({
    kind: z.literal("ask"),
    about: z.enum(["question", "limit", "server", "trust"]),
    text: z.string(),
  }),
  z.object({ kind: z.literal("nothing") }),
]);
export type Access = z.infer<typeof Access>;
type AccessKind = Access["kind"];
export type AccessOf<Kind extends AccessKind> = Extract<Access, { kind: Kind }>;

/**
 * The actions of a session that need no approval: none, those that options and rules allow, also commands, also writes
 * of sensitive files, or both. The user chooses; the supervisor forgets the choice with the session's chat.
 */
export const SESSION_PERMISSIONS = ["ask", "default", "commands", "sensitive", "both"] as const;
export type SessionPermission = (typeof SESSION_PERMISSIONS)[number];

/** Kinds of rules: commands have four, tools and other accesses one each. */
export const RULE_KINDS = [
  "run",
  "git",
  "network",
  "host",
  "tool",
  "read",
  "write",
  "fetch",
  "search_web",
  "mcp",
  "agent",
] as const satisfies readonly (
  | "run"
  | "git"
  | "network"
  | "host"
  | "tool"
  | FileAccess["access"]
  | AccessKind
)[];
export type RuleKind = (typeof RULE_KINDS)[number];

/** Between two rules of a list. Words that are no kind of rule belong to a command: `f(a), g(b)`. */
const BETWEEN = new RegExp(`(?<=\\))\\s*,\\s*(?=(?:${RULE_KINDS.join("|")})\\()`);

/** The rules of a list such as "run(npm test), network(npm test)". */
export function rulesIn(list: string): readonly string[] {
  return list.split(BETWEEN);
}

/** The end of the rule that approved a command without a sandbox, for the log and the screen. */
export const UNSANDBOXED = "without a sandbox";
