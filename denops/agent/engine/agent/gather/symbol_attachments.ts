/** Finds symbols by name with running language servers. */
import type { LspLocation, LspSymbol } from "../../../protocol/lsp.ts";
import { ToolError } from "../../../shared/errors.ts";
import type { LanguageServers } from "../../ports/editor.ts";
import { lineRange, symbolName } from "../../tools/lsp/show.ts";

/** Milliseconds. A new server reads the project before it can search; outlines are optional. */
const LONGEST_SEARCH_MS = 15_000;
const LONGEST_OUTLINE_MS = 3_000;
const MOST_SYMBOLS = 200;

/**
 * Bodies of the symbols of this name, such as "greet" or "Circle.area", the likeliest first. @throws {ToolError} if no
 * server knows
 */
export async function* symbolBodies(
  name: string,
  languages: LanguageServers | undefined,
  signal: AbortSignal,
): AsyncGenerator<LspLocation> {
  const chain = name.split(".");
  const [query = name] = chain;
  const waiting = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_SEARCH_MS)]);
  const answer = await languages?.ask({ op: "workspace_symbols", query }, waiting).catch(() => {
    throw new ToolError("the language server does not answer");
  });
  if (answer?.kind !== "symbols") {
    throw new ToolError(answer?.kind === "nothing" ? answer.reason : "no language server runs");
  }
  for (const { name: own, location } of answer.symbols) {
    if (own !== query) continue;
    const inside = bodyOf(chain, location.line, await symbolsOf(location.path, languages, signal));
    // A search in the project may return the first line only.
    if (inside !== undefined || chain.length === 1) yield { ...location, ...inside };
  }
}

/** The symbols of a file with their lines; empty without an answer. */
export async function outlineOf(
  path: string,
  languages: LanguageServers | undefined,
  signal: AbortSignal,
): Promise<string> {
  return (await symbolsOf(path, languages, signal)).slice(0, MOST_SYMBOLS).map((symbol) =>
    `${"  ".repeat(symbol.depth)}${lineRange(symbol.location)} ${symbolName(symbol)}`
  ).join("\n");
}

async function symbolsOf(
  path: string,
  languages: LanguageServers | undefined,
  signal: AbortSignal,
): Promise<readonly LspSymbol[]> {
  const waiting = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_OUTLINE_MS)]);
  const answer = await languages?.ask({ op: "document_symbols", path }, waiting).catch(() => undefined);
  return answer?.kind === "symbols" ? answer.symbols : [];
}

/** Lines of the last name's symbol, each nested in the one before; the first is at `line`. */
function bodyOf(
  [first = "", ...rest]: readonly string[],
  line: number,
  symbols: readonly LspSymbol[],
): Pick<LspLocation, "line" | "end_line"> | undefined {
  let at = symbols.findIndex(({ name, location }) =>
    name === first && location.line <= line && line <= location.end_line
  );
  for (const next of rest) {
    const depth = symbols[at]?.depth ?? 0;
    const end = symbols.findIndex((symbol, index) => index > at && symbol.depth <= depth);
    const within = symbols.slice(at + 1, end < 0 ? undefined : end);
    const found = at < 0 ? -1 : within.findIndex(({ name }) => name === next);
    at = found < 0 ? -1 : at + 1 + found;
  }
  const { line: begin, end_line } = symbols[at]?.location ?? {};
  return begin === undefined || end_line === undefined ? undefined : { line: begin, end_line };
}
