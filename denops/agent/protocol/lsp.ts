/**
 * What the engine may ask the editor's language servers, and what they answer: params and result of the
 * extension `_agent/lsp`. Lines are counted from 1, characters from 1 in Unicode code points.
 */
import { z } from "../deps/zod.ts";

const path = z.string().min(1);
const line = z.int().min(1);
const character = z.int().min(1);

/**
 * Where in the file: `symbol` is searched in the text, nearest to `line` if that is given; without a symbol the
 * place is `line` and `character`, or the first word of the line that the server knows something about.
 */
const place = {
  path,
  symbol: z.string().min(1).optional(),
  line: line.optional(),
  character: character.optional(),
};

/** Paths are absolute and real. */
export const LspRequest = z.discriminatedUnion("op", [
  /** Of one file, as fresh as the server gives them; without a path all that the editor knows of. */
  z.object({ op: z.literal("diagnostics"), path: path.optional() }),
  /** The file was just written: what the server says about its new text. */
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
  /** `path`: a file of the language that is meant, in case no server runs yet. */
  z.object({ op: z.literal("workspace_symbols"), query: z.string(), path: path.optional() }),
  z.object({ op: z.literal("rename"), ...place, new_name: z.string().min(1) }),
  /** `kind` and `title` choose among the actions that are offered there. */
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
  /** A tool asks: a server that does not run may be started if the user agrees. Else only those that run are asked. */
  may_start: z.boolean().default(false),
});
export type LspQuestion = z.infer<typeof LspQuestion>;

/** Absolute, but not necessarily in the project or a file at all. */
const location = z.object({ path, line, end_line: line });
export type LspLocation = z.infer<typeof location>;

/** Where the symbol that was asked about was found. */
const at = z.object({ line, text: z.string() });

const symbol = z.object({
  name: z.string(),
  kind: z.string(),
  detail: z.string().optional(),
  container: z.string().optional(),
  /** 0 for what stands in the file itself, 1 for what is in that, and so on. */
  depth: z.int().min(0),
  location,
});
export type LspSymbol = z.infer<typeof symbol>;

const related = z.object({
  relation: z.enum(["incoming", "outgoing", "super", "sub"]),
  symbol,
  /** Lines of the calls: in the caller's file. */
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

/** A whole text, as `:write` would give it but in UTF-8. `before` is absent for a file that is to be created. */
const edit = z.object({ path, before: z.string().optional(), after: z.string() });
export type LspEdit = z.infer<typeof edit>;

export const LspResponse = z.discriminatedUnion("kind", [
  /** No server, no such ability, no answer in time, nothing there: one plain sentence. */
  z.object({ kind: z.literal("nothing"), reason: z.string() }),
  /** `total` counts those too that are left out. */
  z.object({ kind: z.literal("locations"), at, locations: z.array(location), total: z.int() }),
  z.object({ kind: z.literal("symbols"), symbols: z.array(symbol), total: z.int() }),
  z.object({ kind: z.literal("text"), at, text: z.string() }),
  z.object({ kind: z.literal("hierarchy"), at, of: z.array(symbol), related: z.array(related) }),
  z.object({
    kind: z.literal("diagnostics"),
    files: z.array(z.object({ path, diagnostics: z.array(diagnostic), total: z.int() })),
    /** Whether all servers have spoken in time about the present text, only about an earlier one, or never. */
    said: z.enum(["current", "late", "unknown"]),
  }),
  z.object({ kind: z.literal("edits"), title: z.string(), files: z.array(edit) }),
  /** Several actions are offered: the caller has to choose. */
  z.object({
    kind: z.literal("actions"),
    actions: z.array(z.object({ title: z.string(), kind: z.string() })),
  }),
]);
export type LspResponse = z.infer<typeof LspResponse>;

/** A language server that a file would have, and that does not run. */
export const LspServer = z.object({ name: z.string(), command: z.string(), root: z.string() });
export type LspServer = z.infer<typeof LspServer>;

/** What the editor answers the supervisor: somebody may have to be asked first. */
export const LspAnswer = z.union([
  LspResponse,
  z.object({ kind: z.literal("not_running"), servers: z.array(LspServer) }),
]);

/** Which servers the editor may start: whatever is configured, none, or by name. `leave`: nobody is asked about these. */
export type LspPolicy =
  | { readonly policy: "start" | "running" }
  | { readonly policy: "ask"; readonly start: readonly string[]; readonly leave: readonly string[] };
