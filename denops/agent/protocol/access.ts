/**
 * What a call accesses: a tool says it, policy and gate judge it, the approval shows it, the log keeps it. One call is of
 * one kind, so that what is asked about is shown whole.
 */
import { z } from "../deps/zod.ts";
import { CommandInput } from "./commands.ts";
import { MODE_ACCESSES } from "./modes.ts";

const AccessPath = z.object({
  /** Absolute, real. */
  path: z.string(),
  /** Absolute, with symbolic links as they were named. */
  link: z.string(),
  /** Relative to the root with forward slashes, as it is real; what is shown and matched. */
  relative: z.string(),
  /** The same as it was named. */
  named: z.string(),
  exists: z.boolean(),
}).readonly();
export type AccessPath = z.infer<typeof AccessPath>;

const FileAccess = z.object({
  /** "list": names of what is inside, and lines of it; each file is judged by itself. */
  access: z.enum(["read", "list", "write"]),
  path: AccessPath,
  /** Of a write: what the file system says against it, as the end of a sentence; then it asks. */
  risk: z.string().optional(),
  /** Of a write to a manifest: the keys that change, parts joined by "/"; absent where that is not known. */
  keys: z.array(z.string()).readonly().optional(),
}).readonly();
export type FileAccess = z.infer<typeof FileAccess>;

/** Both texts of a file that is written. */
export interface TextChange {
  /** Undefined: there was no file. */
  readonly before?: string | undefined;
  /** Undefined: it is deleted. */
  readonly after?: string | undefined;
}

export const Access = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("file"), files: z.array(FileAccess).min(1).readonly() }),
  /** Exactly what will run. */
  CommandInput.extend({ kind: z.literal("command") }),
  /** What a command that has ended would change; the supervisor has the list. `terminal`: ACP's id of it. */
  z.object({ kind: z.literal("effects"), terminal: z.string() }),
  z.object({ kind: z.literal("fetch"), url: z.string() }),
  /** A tool of an MCP server. */
  z.object({ kind: z.literal("mcp"), server: z.string(), tool: z.string() }),
  /**
   * Another agent is started. `access`: it is a sub-agent of the engine's own, in the mode `name`; what it may change, each
   * call of it judged like any.
   */
  z.object({
    kind: z.literal("agent"),
    name: z.string(),
    task: z.string(),
    access: z.enum(MODE_ACCESSES).optional(),
  }),
  /** Only a person answers: a question of the model's, a limit that is reached, a language server that is to start. */
  z.object({ kind: z.literal("ask"), about: z.enum(["question", "limit", "server"]), text: z.string() }),
  z.object({ kind: z.literal("nothing") }),
]);
export type Access = z.infer<typeof Access>;
type AccessKind = Access["kind"];
export type AccessOf<Kind extends AccessKind> = Extract<Access, { kind: Kind }>;

/** Kinds of the user's rules: a command is spoken of by three, any other access by its own name. */
export const RULE_KINDS = [
  "run",
  "git",
  "network",
  "read",
  "write",
  "fetch",
  "mcp",
  "agent",
] as const satisfies readonly ("run" | "git" | "network" | FileAccess["access"] | AccessKind)[];
export type RuleKind = (typeof RULE_KINDS)[number];
