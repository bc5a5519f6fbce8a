/**
 * Requests from the engine to the editor's language servers, and their answers: params and result of the extension
 * `_agent/lsp`. Lines count from 1, characters from 1 in Unicode code points.
 */
import * as z from "../deps/zod.ts";

const path = z.string().min(1);
const line = z.int().min(1);
const character = z.int().min(1);

/**
 * A place in a file: `symbol` is searched in the text, nearest to `line` if given. Without a symbol, the place is
 * `line` and `character`, or the first word of the line that the server knows.
 */
const place = {
  path,
  symbol: z.string().min(1).optional(),
  line: line.optional(),
  character: character.optional(),
};

/** Paths are absolute and real. */
export const LspRequest = z.discriminatedUnion("op", [
  /** Diagnostics of one file, as current as the server provides; without a path, all that the editor has. */
  z.object({ op: z.literal("diagnostics"), path: path.optional() }),
  /** The server's diagnostics for a file that was just written. */
  z.object({ op: z.literal("diagnostics_after"), path }),
  z.object({ op: z.literal("document_symbols"), path }),
  z.object({ op: z.literal("definition"), ...place }),
  z.object({ op: z.literal("references"), ...place }),
  z.object({ op: z.literal("implementations"), ...place }),
  z.object({ op: z.literal("hover"), ...place }),
  z.object({ op: z.literal("type_hierarchy"), ...place, direction: z.enum(["super", "sub", "both"]) }),
  z.object({
    op: z.literal("call_hierarchy"),
    ...place,
    direction: z.enum(["incoming", "outgoing", "both"]),
  }),
  /** `path`: a file of the relevant language, in case no server is running. */
  z.object({ op: z.literal("workspace_symbols"), query: z.string(), path: path.optional() }),
  z.object({ op: z.literal("rename"), ...place, new_name: z.string().min(1) }),
  /** `kind` and `title` select one of the available actions. */
  z.object({
    op: z.literal("code_action"),
    ...place,
    kind: z.string().optional(),
    title: z.string().optional(),
  }),
]);
export type LspRequest = z.infer<typeof LspRequest>;

export const LspQuestion = z.object({
  request: LspRequest,
  /** A server may be started if the user agrees. Otherwise only running servers are used. */
  may_start: z.boolean().default(false),
});
export type LspQuestion = z.infer<typeof LspQuestion>;

/** An absolute path, possibly outside of the project or not a file. */
const location = z.object({ path, line, end_line: line });
export type LspLocation = z.infer<typeof location>;

/** The place of the requested symbol. */
const at = z.object({ line, text: z.string() });

const symbol = z.object({
  name: z.string(),
  kind: z.string(),
  detail: z.string().optional(),
  container: z.string().optional(),
  /** 0 at the top level of the file, 1 one level below, and so on. */
  depth: z.int().min(0),
  location,
});
export type LspSymbol = z.infer<typeof symbol>;

const related = z.object({
  relation: z.enum(["incoming", "outgoing", "super", "sub"]),
  symbol,
  /** Lines of the calls in the caller's file. */
  calls: z.array(line),
});
export type LspRelated = z.infer<typeof related>;

const diagnostic = z.object({
  severity: z.enum(["error", "warning", "info", "hint"]),
  line,
  character,
  message: z.string(),
  source: z.string().optional(),
  code: z.string().optional(),
});
export type LspDiagnostic = z.infer<typeof diagnostic>;

/** A whole text in UTF-8, otherwise as `:write` would store it. `before` is absent for a new file. */
const edit = z.object({ path, before: z.string().optional(), after: z.string() });
export type LspEdit = z.infer<typeof edit>;

export const LspResponse = z.discriminatedUnion("kind", [
  /** One plain sentence: no server, an unsupported request, a timeout, or an empty result. */
  z.object({ kind: z.literal("nothing"), reason: z.string() }),
  /** `total` includes omitted locations. */
  z.object({ kind: z.literal("locations"), at, locations: z.array(location), total: z.int() }),
  z.object({ kind: z.literal("symbols"), symbols: z.array(symbol), total: z.int() }),
  z.object({ kind: z.literal("text"), at, text: z.string() }),
  z.object({ kind: z.literal("hierarchy"), at, of: z.array(symbol), related: z.array(related) }),
  z.object({
    kind: z.literal("diagnostics"),
    files: z.array(z.object({ path, diagnostics: z.array(diagnostic), total: z.int() })),
    /** Whether all servers have reported on the current text, only on an earlier one, or never. */
    said: z.enum(["current", "late", "unknown"]),
  }),
  z.object({ kind: z.literal("edits"), title: z.string(), files: z.array(edit) }),
  /** Several actions are available, and the caller must choose. */
  z.object({
    kind: z.literal("actions"),
    actions: z.array(z.object({ title: z.string(), kind: z.string() })),
  }),
]);
export type LspResponse = z.infer<typeof LspResponse>;

/** Whether all servers have reported on the current text. */
export function isCurrent({ said }: Extract<LspResponse, { kind: "diagnostics" }>): boolean {
  return said === "current";
}

/** A configured language server for a file that is not running. */
export const LspServer = z.object({ name: z.string(), command: z.string(), root: z.string() });
export type LspServer = z.infer<typeof LspServer>;

/** The editor's answer to the supervisor: the user may have to approve the start first. */
export const LspAnswer = z.union([
  LspResponse,
  z.object({ kind: z.literal("not_running"), servers: z.array(LspServer) }),
]);

/** Servers that the editor may start: all configured ones, none, or by name. `leave`: do not ask about these. */
export type LspPolicy =
  | { readonly policy: "start" | "running" }
  | { readonly policy: "ask"; readonly start: readonly string[]; readonly leave: readonly string[] };
