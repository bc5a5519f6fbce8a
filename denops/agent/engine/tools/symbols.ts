import * as z from "../../deps/zod.ts";
import { ToolError } from "../../shared/errors.ts";
import type { ClientAbilities } from "../ports/abilities.ts";
import { defineTool, files, NOTHING, titleText, type ToolResult } from "./define.ts";
import type { Workspace } from "./files/workspace.ts";
import { askServers, nothing, PLACE, type PlaceArguments, placeOf, placeTitle } from "./lsp/ask.ts";
import { showDiagnostics } from "./lsp/diagnostics.ts";
import { showHierarchy } from "./lsp/hierarchy.ts";
import { definitionsIn, placed, showLocations } from "./lsp/show.ts";
import { showFound, showOutline } from "./lsp/symbol_lists.ts";

interface Question extends PlaceArguments {
  /** Absolute; undefined if not needed. */
  readonly path: string | undefined;
}

interface Ports {
  readonly workspace: Workspace;
  readonly languages: ClientAbilities["languages"];
  readonly signal: AbortSignal;
}

interface Kind {
  /** For the screen. */
  title(args: Readonly<Record<string, unknown>>): string;
  /** It works without a file. */
  readonly isGlobal?: true;
  answer(question: Question, ports: Ports): Promise<ToolResult>;
}

type LocationOp = "definition" | "references" | "implementations";

function locations(op: LocationOp, noun: string): Kind {
  return {
    title: (args) => `${op} of ${placeTitle(args)}`,
    async answer(question, { workspace, languages, signal }) {
      const answer = await askServers(languages, { op, ...placeOf(fileOf(question), question) }, [
        "locations",
      ], signal);
      if (answer.kind === "nothing") return nothing(answer.reason);
      const result = await showLocations(answer, noun, workspace, signal);
      return op === "definition"
        ? { ...result, definitions: await definitionsIn(answer, workspace) }
        : result;
    },
  };
}

function hierarchy(
  op: "type_hierarchy" | "call_hierarchy",
  title: string,
  headings: Parameters<typeof showHierarchy>[1],
): Kind {
  return {
    title: (args) => `${title} ${placeTitle(args)}`,
    async answer(question, { workspace, languages, signal }) {
      const request = { op, ...placeOf(fileOf(question), question), direction: "both" } as const;
      const answer = await askServers(languages, request, ["hierarchy"], signal);
      return answer.kind === "nothing"
        ? nothing(answer.reason)
        : await showHierarchy(answer, headings, workspace);
    },
  };
}

const KINDS = {
  definition: locations("definition", "definition"),
  references: locations("references", "reference"),
  implementations: locations("implementations", "implementation"),
  hover: {
    title: (args) => `hover ${placeTitle(args)}`,
    answer: hover,
  },
  types: hierarchy("type_hierarchy", "types around", [["super", "Supertypes"], ["sub", "Subtypes"]]),
  calls: hierarchy("call_hierarchy", "calls of", [["incoming", "Called by"], ["outgoing", "Calls"]]),
  outline: {
    title: (args) => `outline of ${titleText(args.path)}`,
    async answer(question, { languages, signal }) {
      const request = { op: "document_symbols", path: fileOf(question) } as const;
      const answer = await askServers(languages, request, ["symbols"], signal);
      return answer.kind === "nothing" ? nothing(answer.reason) : showOutline(answer);
    },
  },
  diagnostics: {
    title: (args) => `diagnostics${args.path === undefined ? "" : ` of ${titleText(args.path)}`}`,
    isGlobal: true,
    async answer({ path }, { workspace, languages, signal }) {
      const request = { op: "diagnostics", ...(path === undefined ? {} : { path }) } as const;
      const answer = await askServers(languages, request, ["diagnostics"], signal);
      return answer.kind === "nothing" ? nothing(answer.reason) : await showDiagnostics(answer, workspace);
    },
  },
  find: {
    title: (args) => `find symbol ${titleText(args.symbol)}`,
    isGlobal: true,
    async answer({ path, symbol: query }, { workspace, languages, signal }) {
      if (query === undefined) {
        throw new ToolError("symbols needs symbol: the name to find, or a part of it.");
      }
      const where = path === undefined ? {} : { path };
      const request = { op: "workspace_symbols", query, ...where } as const;
      const answer = await askServers(languages, request, ["symbols"], signal);
      return answer.kind === "nothing" ? nothing(answer.reason) : await showFound(answer, query, workspace);
    },
  },
} as const satisfies Readonly<Record<string, Kind>>;

type KindName = keyof typeof KINDS;

/** Characters of a documentation. */
const MOST_CHARACTERS = 6_000;

async function hover(question: Question, { workspace, languages, signal }: Ports): Promise<ToolResult> {
  const place = placeOf(fileOf(question), question);
  const answer = await askServers(languages, { op: "hover", ...place }, ["text"], signal);
  if (answer.kind === "nothing") return nothing(answer.reason);
  // A server's description of a symbol is text of the defining file.
  const source = await askServers(languages, { op: "definition", ...place }, ["locations"], signal);
  const paths = source.kind === "locations" ? source.locations.map(({ path }) => path) : [];
  for (const path of new Set(paths)) {
    if ((await placed(path, workspace)).kind === "hidden") {
      return nothing("The symbol is defined in a file that may not be read.");
    }
  }
  const { at, text } = answer;
  const cut = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}\n[cut]` : text;
  const locations = [{ path: place.path, line: at.line }];
  return { text: `${at.text} (line ${at.line}):\n${cut}`, summary: `line ${at.line}`, locations };
}

/** @throws {ToolError} */
function fileOf({ path }: Question): string {
  if (path === undefined) throw new ToolError("symbols needs path.");
  return path;
}

function isKind(name: unknown): name is KindName {
  return typeof name === "string" && Object.hasOwn(KINDS, name);
}

const NAMES = Object.keys(KINDS).filter(isKind);

export const symbols = defineTool({
  name: "symbols",
  description:
    "Ask the language server about code; better than a text search for names, as it follows imports and knows scopes. " +
    "definition, references, implementations, hover (type and documentation), types (super and sub), calls (callers and " +
    "callees): of a symbol, by a file that uses it. outline: of a file. diagnostics: of a file or of all. find: symbols " +
    "of the project by a part of the name.",
  kind: "search",
  readOnly: true,
  basic: true,
  answersChange: ({ kind }) => kind === "diagnostics",
  needs: "languages",
  schema: z.object({
    kind: z.enum(NAMES),
    ...PLACE,
    path: PLACE.path.optional(),
  }),
  unshown: ["character"],
  title: (args) => isKind(args.kind) ? KINDS[args.kind].title(args) : `symbols ${titleText(args.kind)}`,

  async prepare({ kind: name, path, symbol, line, character }, { workspace, languages }) {
    const kind: Kind = KINDS[name];
    if (path === undefined && kind.isGlobal !== true) throw new ToolError(`symbols ${name} needs path.`);
    const target = path === undefined ? undefined : await workspace.resolveReadable(path);
    const question = { path: target?.path, symbol, line, character };
    return {
      access: target === undefined ? NOTHING : files(["read", target]),
      run: (signal) => kind.answer(question, { workspace, languages, signal }),
    };
  },
});
