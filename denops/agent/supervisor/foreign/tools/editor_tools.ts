/** The tools of the editor for agents from elsewhere. They change nothing. */
import * as z from "../../../deps/zod.ts";
import type { ReadOptions } from "../../../policy/file_access.ts";
import type { LspRequest, LspResponse } from "../../../protocol/lsp.ts";
import type { EditorView } from "../../../protocol/surroundings.ts";
import { defined } from "../../../shared/records.ts";
import { plural, splitLines } from "../../../shared/text/text.ts";
import { Readable } from "./readable.ts";
import { diagnosticLines, hierarchyLines, locationLines, oneLine, symbolLines } from "./show.ts";

export interface EditorToolPorts {
  /** Real paths, the project first. */
  readonly roots: readonly string[];
  /** The rules for the session's files. @throws {Error} one line */
  rules(): ReadOptions;
  /** Why a tool is withheld, half a sentence. */
  refusal(tool: string): string | undefined;
  /** The answer of servers that run; none is started. @throws {Error} one line */
  languages(request: LspRequest): Promise<LspResponse>;
  /** @throws {Error} one line */
  view(): Promise<EditorView>;
  /** Undefined if no buffer has unsaved changes of it. @param path real @throws {Error} one line */
  unsavedText(path: string): Promise<string | undefined>;
  /** The steps of the session's plan on screen. */
  plan(): readonly PlanStep[];
}

export interface PlanStep {
  readonly content: string;
  readonly status: string;
}

type Answer = Exclude<LspResponse, { readonly kind: "nothing" }>;

interface Call {
  readonly ports: EditorToolPorts;
  readonly files: Readable;
}

/** @returns lines */
type Work<Arguments> = (args: Arguments, call: Call) => Promise<readonly string[]>;

export interface EditorTool {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  /** @throws {Error} one line */
  run(args: unknown, ports: EditorToolPorts): Promise<readonly string[]>;
}

const PATH = z.string().min(1).max(4_096).describe("file, relative to the project or absolute");
const PLACE = {
  path: PATH,
  symbol: z.string().min(1).max(500).optional().describe(
    "its name in that file, such as greet or Circle.area",
  ),
  line: z.int().min(1).optional().describe("line of the symbol or near it, from 1"),
  character: z.int().min(1).optional().describe("column, from 1; only if no symbol is given"),
};
/** A long result continues at this line. */
const FROM = z.int().min(1).optional().describe("first line of the result, to continue a long one");

const AS_SAVED = "It knows the project as the user has it, not your changes of this turn.";

export const EDITOR_TOOLS: readonly EditorTool[] = [
  tool(
    "find_symbols",
    `Symbols of the project by a part of their name, from the user's language servers. ${AS_SAVED}`,
    { query: z.string().min(1).max(500), path: PATH.optional() },
    async ({ query, path }, call) => {
      const where = path === undefined ? {} : { path: await call.files.path(path) };
      return await ask(
        call,
        { op: "workspace_symbols", query, ...where },
        (answer) => answer.kind === "symbols" ? symbolLines(answer, call.files, false) : undefined,
      );
    },
  ),
  tool(
    "document_symbols",
    `The outline of a file, from the user's language servers. ${AS_SAVED}`,
    { path: PATH },
    async ({ path }, call) =>
      await ask(
        call,
        { op: "document_symbols", path: await call.files.path(path) },
        (answer) => answer.kind === "symbols" ? symbolLines(answer, call.files, true) : undefined,
      ),
  ),
  tool(
    "diagnostics",
    `Errors and warnings of a file, or without path of all files that the editor has looked at. ${AS_SAVED}`,
    { path: PATH.optional() },
    async ({ path }, call) => {
      const where = path === undefined ? {} : { path: await call.files.path(path) };
      return await ask(
        call,
        { op: "diagnostics", ...where },
        (answer) => answer.kind === "diagnostics" ? diagnosticLines(answer, call.files) : undefined,
      );
    },
  ),
  tool(
    "definition",
    `Where a symbol is defined, by a file that uses it. ${AS_SAVED}`,
    PLACE,
    (place, call) => locations("definition", place, call),
  ),
  tool(
    "references",
    `Where a symbol is used, by a file that uses it. ${AS_SAVED}`,
    PLACE,
    (place, call) => locations("references", place, call),
  ),
  tool("type_of", `The type and the documentation of a symbol. ${AS_SAVED}`, PLACE, typeOf),
  tool(
    "callers",
    `The functions that call a function, by a file that uses it. ${AS_SAVED}`,
    PLACE,
    async (place, call) =>
      await ask(
        call,
        { op: "call_hierarchy", ...await placeOf(place, call), direction: "incoming" },
        (answer) => answer.kind === "hierarchy" ? hierarchyLines(answer, call.files) : undefined,
      ),
  ),
  tool(
    "unsaved_buffers",
    "The files that the user has changed in the editor and not saved. unsaved_text has their text.",
    {},
    async (_, { ports, files }) => {
      const lines: string[] = [];
      for (const { path, lines: count } of (await ports.view()).unsaved) {
        const found = await files.nameOf(path);
        if (found?.isInside) lines.push(`${oneLine(found.name)} (${plural(count, "line")})`);
      }
      return lines.length === 0 ? ["No file has unsaved changes."] : lines;
    },
  ),
  tool(
    "unsaved_text",
    "The text of a file as it is in the editor, with the user's unsaved changes.",
    { path: PATH },
    async ({ path }, { ports, files }) => {
      const text = await ports.unsavedText(await files.path(path));
      return text === undefined ? ["The file has no unsaved changes: read it."] : splitLines(text);
    },
  ),
  tool("selection", "The user's cursor in the editor, and the lines selected last.", {}, selection),
  tool("plan", "The steps of this session's plan, as the user sees them.", {}, (_, { ports }) => {
    const steps = ports.plan().map(({ content, status }) => `${status}: ${oneLine(content)}`);
    return Promise.resolve(steps.length === 0 ? ["The session has no plan."] : steps);
  }),
];

function tool<Shape extends z.ZodRawShape>(
  name: string,
  description: string,
  shape: Shape,
  work: Work<z.infer<z.ZodObject<Shape>>>,
): EditorTool {
  const schema = z.object(shape);
  return {
    name,
    description,
    schema: z.object({ ...shape, from: FROM }),
    async run(args, ports) {
      const parsed = schema.safeParse(args);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        throw new Error(`Wrong arguments: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}.`);
      }
      const { roots } = ports;
      const unsavedText = (path: string) => ports.unsavedText(path);
      return await work(parsed.data, {
        ports,
        files: new Readable({ roots, rules: ports.rules(), unsavedText }),
      });
    },
  };
}

/** @param show undefined if the answer is of another kind */
async function ask(
  { ports }: Call,
  request: LspRequest,
  show: (answer: Answer) => Promise<readonly string[]> | undefined,
): Promise<readonly string[]> {
  const answer = await ports.languages(request);
  if (answer.kind === "nothing") return [answer.reason];
  const lines = await show(answer);
  if (lines === undefined) throw new Error(`The editor answered ${request.op} with ${answer.kind}.`);
  return lines.length === 0 ? ["Nothing was found."] : lines;
}

type PlaceArguments = z.infer<z.ZodObject<typeof PLACE>>;

async function placeOf({ path, symbol, line, character }: PlaceArguments, { files }: Call) {
  if (symbol === undefined && line === undefined) throw new Error("Either symbol or line is needed.");
  return { path: await files.path(path), ...defined({ symbol, line, character }) };
}

async function locations(
  op: "definition" | "references",
  place: PlaceArguments,
  call: Call,
): Promise<readonly string[]> {
  return await ask(
    call,
    { op, ...await placeOf(place, call) },
    (answer) => answer.kind === "locations" ? locationLines(answer, call.files) : undefined,
  );
}

async function typeOf(place: PlaceArguments, call: Call): Promise<readonly string[]> {
  const at = await placeOf(place, call);
  return await ask(call, { op: "hover", ...at }, async (answer) => {
    if (answer.kind !== "text") return [];
    // The description of a symbol is text of the file that defines it.
    const source = await call.ports.languages({ op: "definition", ...at });
    const paths = source.kind === "locations" ? source.locations.map(({ path }) => path) : [];
    for (const path of new Set(paths)) {
      if (await call.files.nameOf(path) === undefined) {
        return ["The symbol is defined in a file that may not be read."];
      }
    }
    return [`${oneLine(answer.at.text)} (line ${answer.at.line}):`, ...splitLines(answer.text)];
  });
}

async function selection(_: unknown, { ports, files }: Call): Promise<readonly string[]> {
  const view = await ports.view();
  const lines: string[] = [];
  for (const [what, place] of [["Cursor", view.cursor], ["Selected", view.selection]] as const) {
    const found = place === undefined ? undefined : await files.nameOf(place.path);
    if (place === undefined || !found?.isInside) continue;
    const where = "first" in place ? `${place.first}-${place.last}` : `${place.line}:${place.column}`;
    lines.push(`${what}: ${oneLine(found.name)}:${where}`, ...splitLines(place.text));
  }
  return lines.length === 0 ? ["The user's windows show no file of the project."] : lines;
}
