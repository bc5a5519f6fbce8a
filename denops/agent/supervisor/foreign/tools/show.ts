/** Answers of language servers as lines for an agent. Unreadable files are left out. */
import { isCurrent, type LspResponse, type LspSymbol } from "../../../protocol/lsp.ts";
import type { Readable } from "./readable.ts";

type Answer<Kind extends LspResponse["kind"]> = Extract<LspResponse, { readonly kind: Kind }>;

/** Characters. */
const LONGEST_LINE = 500;

export function oneLine(text: string): string {
  const line = text.replace(/\s*[\r\n\u2028\u2029]+\s*/g, " ");
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
}

/** "src/a.ts:12: the line"; of files outside of the project only the place. */
export async function locationLines(
  { locations, total }: Answer<"locations">,
  files: Readable,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { path, line } of locations) {
    const found = await files.nameOf(path);
    if (found === undefined) continue;
    const text = found.isInside ? await files.lineOf(path, line) : OUTSIDE;
    lines.push(oneLine(`${found.name}:${line}: ${text}`).trimEnd());
  }
  return [...lines, ...more(total - locations.length)];
}

/** @param isOutline of one file, by levels */
export async function symbolLines(
  { symbols, total }: Answer<"symbols">,
  files: Readable,
  isOutline: boolean,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const symbol of symbols) {
    const found = await files.nameOf(symbol.location.path);
    // Servers know thousands of symbols of libraries.
    if (!found?.isInside) continue;
    const { line, end_line } = symbol.location;
    lines.push(
      isOutline
        ? `${"  ".repeat(symbol.depth)}${line}-${end_line} ${symbolName(symbol)}`
        : `${oneLine(found.name)}:${line} ${symbolName(symbol)}`,
    );
  }
  return [...lines, ...more(total - symbols.length)];
}

export async function hierarchyLines(
  { of, related }: Answer<"hierarchy">,
  files: Readable,
): Promise<readonly string[]> {
  const lineOf = async (symbol: LspSymbol, calls: readonly number[]) => {
    const found = await files.nameOf(symbol.location.path);
    if (found === undefined) return [];
    const called = calls.length === 0 ? "" : `, calls on line ${calls.slice(0, 10).join(", ")}`;
    const outside = found.isInside ? "" : ` ${OUTSIDE}`;
    return [`${oneLine(found.name)}:${symbol.location.line} ${symbolName(symbol)}${outside}${called}`];
  };
  const symbols = (await Promise.all(of.map((symbol) => lineOf(symbol, [])))).flat();
  if (symbols.length === 0) return [];
  const callers = (await Promise.all(related.map(({ symbol, calls }) => lineOf(symbol, calls)))).flat();
  return [...symbols, `Called by:${callers.length === 0 ? " none" : ""}`, ...callers];
}

const SEVERITIES = ["error", "warning", "info", "hint"] as const;

/** "src/a.ts:3:14 error Cannot find name 'x'. (typescript 2304)", errors first. */
export async function diagnosticLines(
  answer: Answer<"diagnostics">,
  files: Readable,
): Promise<readonly string[]> {
  const found: { readonly severity: (typeof SEVERITIES)[number]; readonly text: string }[] = [];
  let cut = 0;
  for (const { path, diagnostics, total } of answer.files) {
    const place = await files.nameOf(path);
    if (!place?.isInside) continue;
    cut += total - diagnostics.length;
    for (const { severity, line, character, message, source, code } of diagnostics) {
      const origin = [source, code].filter((part) => part !== undefined).join(" ");
      const text = `${place.name}:${line}:${character} ${severity} ${message}`;
      found.push({ severity, text: oneLine(text) + (origin === "" ? "" : ` (${oneLine(origin)})`) });
    }
  }
  found.sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
  const lines = found.length === 0 ? ["No diagnostics."] : found.map(({ text }) => text);
  const late = isCurrent(answer) ? [] : ["[The language server has not yet checked the present text.]"];
  return [...lines, ...more(cut), ...late];
}

const OUTSIDE = "(outside of the project)";

function symbolName({ kind, name, detail, container }: LspSymbol): string {
  const of = container === undefined ? "" : ` (in ${container})`;
  return oneLine(`${kind} ${name}${detail === undefined ? "" : ` ${detail}`}${of}`);
}

function more(count: number): readonly string[] {
  return count > 0 ? [`[${count} more in the project or outside]`] : [];
}
