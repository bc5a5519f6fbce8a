/** Outlines of files and found symbols, as text for the model. */
import type { LspResponse, LspSymbol } from "../../../protocol/lsp.ts";
import type { ToolResult } from "../define.ts";
import { AskedAbout } from "../files/asked_about.ts";
import type { Workspace } from "../files/workspace.ts";
import { leftOutNote } from "../search/format.ts";
import { nothing } from "./ask.ts";
import { lineRange, placed, symbolName } from "./show.ts";
import { plural } from "../../../shared/text/text.ts";

type Symbols = Extract<LspResponse, { kind: "symbols" }>;

const MOST_FOUND = 50;

export function showOutline({ symbols, total }: Symbols): ToolResult {
  const lines = symbols.map((symbol) =>
    `${"  ".repeat(symbol.depth)}${lineRange(symbol.location)} ${symbolName(symbol)}`
  );
  const left = total - symbols.length;
  if (left > 0) lines.push(`[${left} more]`);
  return { text: lines.join("\n"), summary: plural(total, "symbol") };
}

export async function showFound(
  { symbols, total }: Symbols,
  query: string,
  workspace: Workspace,
): Promise<ToolResult> {
  const leftOut = new AskedAbout();
  const found = await inProject(symbols, workspace, leftOut);
  const note = leftOutNote(leftOut);
  if (found.length === 0) {
    return nothing([`No symbol like "${query}" in the project.`, ...note].join("\n"));
  }
  const left = found.length - MOST_FOUND + (total - symbols.length);
  const more = [...(left > 0 ? [`[${left} more]`] : []), ...note];
  return {
    text: [...found.slice(0, MOST_FOUND).map(({ text }) => text), ...more].join("\n"),
    summary: plural(found.length, "symbol"),
    locations: found.map(({ path, line }) => ({ path, line })),
  };
}

interface FoundSymbol {
  /** Absolute. */
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** Only the project's, because servers know thousands from libraries. */
async function inProject(
  symbols: readonly LspSymbol[],
  workspace: Workspace,
  leftOut: AskedAbout,
): Promise<readonly FoundSymbol[]> {
  const found: FoundSymbol[] = [];
  for (const symbol of symbols) {
    const place = await placed(symbol.location.path, workspace);
    if (place.kind === "hidden") leftOut.note(symbol.location.path, place.decision);
    if (place.kind !== "inside") continue;
    const { line } = symbol.location;
    found.push({ path: place.path.path, line, text: `${place.name}:${line} ${symbolName(symbol)}` });
  }
  return found;
}
