/**
 * Answers of language servers as text for the model. Paths outside of the project are named but not read; unreadable
 * files are not mentioned.
 */
import type { LspDiagnostic, LspLocation, LspResponse, LspSymbol } from "../../../protocol/lsp.ts";
import type { FileDecision } from "../../../policy/file_access.ts";
import type { ResolvedPath } from "../../../policy/path.ts";
import { ToolError } from "../../../shared/errors.ts";
import { plural, splitLines } from "../../../shared/text/text.ts";
import type { FileLocation, SymbolDefinition } from "../../log/events.ts";
import type { ToolResult } from "../define.ts";
import { AskedAbout } from "../files/asked_about.ts";
import { shownPath } from "../files/text_file.ts";
import type { Workspace } from "../files/workspace.ts";
import { leftOutNote } from "../search/format.ts";

/** Lines shown before and after each location. */
const CONTEXT = 3;
export const LONGEST_LINE = 300;
const MOST_LOCATIONS = 30;

/** The place of a path that a server named. */
type Place =
  | { readonly kind: "inside"; readonly path: ResolvedPath; readonly name: string }
  | { readonly kind: "outside"; readonly name: string }
  | { readonly kind: "hidden"; readonly decision: FileDecision };

export async function placed(path: string, workspace: Workspace): Promise<Place> {
  try {
    const resolved = await workspace.resolve(path);
    const decision = workspace.mayRead(resolved);
    if (decision.verdict !== "allow") return { kind: "hidden", decision };
    return { kind: "inside", path: resolved, name: shownPath(resolved) };
  } catch (error) {
    if (error instanceof ToolError) return { kind: "outside", name: path };
    throw error;
  }
}

/** Grouped by file in order of appearance; `→` marks matching lines. @param noun for one location */
export async function showLocations(
  { locations, total, at }: Extract<LspResponse, { kind: "locations" }>,
  noun: string,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<ToolResult> {
  const files = Map.groupBy(locations, ({ path }) => path);
  const sections: string[] = [];
  const inside: FileLocation[] = [];
  const leftOut = new AskedAbout();
  let count = 0;
  let hidden = 0;
  for (const [path, all] of files) {
    const place = await placed(path, workspace);
    if (place.kind === "hidden") {
      hidden += all.length;
      leftOut.note(path, place.decision);
      continue;
    }
    const lines = all.slice(0, MOST_LOCATIONS - count).map(({ line }) => line);
    if (lines.length === 0) continue;
    count += lines.length;
    if (place.kind === "inside") inside.push(...lines.map((line) => ({ path: place.path.path, line })));
    sections.push(
      place.kind === "inside"
        ? `── ${place.name} ──\n${await excerpts(place.path, lines, workspace, signal)}`
        : `── ${place.name} (outside of the project) ──\n${lines.map((line) => `→ ${line}`).join("\n")}`,
    );
  }
  const left = total - count - hidden;
  if (left > 0) sections.push(`[${left} more]`);
  sections.push(...leftOutNote(leftOut));
  const text = sections.join("\n");
  const summary = plural(total - hidden, noun);
  if (total === hidden) {
    return { text: [`No ${noun} of ${at.text} may be shown.`, text].join("\n").trim(), summary: "nothing" };
  }
  return { text: `${summary} of ${at.text} (line ${at.line}):\n${text}`, summary, locations: inside };
}

/** The definitions that `showLocations` shows of the project. */
export async function definitionsIn(
  { locations, at }: Extract<LspResponse, { kind: "locations" }>,
  workspace: Workspace,
): Promise<readonly SymbolDefinition[]> {
  const found: SymbolDefinition[] = [];
  for (const { path, line } of locations.slice(0, MOST_LOCATIONS)) {
    const place = await placed(path, workspace);
    if (place.kind === "inside") found.push({ name: at.text, path: place.path.path, line });
  }
  return found;
}

async function excerpts(
  path: ResolvedPath,
  found: readonly number[],
  workspace: Workspace,
  signal: AbortSignal,
): Promise<string> {
  const lines = await textLines(path, workspace, signal);
  const marked = new Set(found);
  const wanted = new Set(
    found.flatMap((line) => Array.from({ length: 2 * CONTEXT + 1 }, (_, index) => line - CONTEXT + index)),
  );
  const out: string[] = [];
  let last: number | undefined;
  for (const line of [...wanted].sort((a, b) => a - b)) {
    const text = lines[line - 1];
    if (text === undefined && !marked.has(line)) continue;
    if (last !== undefined && line > last + 1) out.push("  …");
    out.push(`${marked.has(line) ? "→" : " "} ${line}: ${cut(text ?? "")}`.trimEnd());
    last = line;
  }
  return out.join("\n");
}

/** Empty if the file cannot be shown as text. */
async function textLines(
  path: ResolvedPath,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    return splitLines((await workspace.readText(path, signal))?.text ?? "");
  } catch (error) {
    if (error instanceof ToolError) return [];
    throw error;
  }
}

function cut(line: string): string {
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
}

/** "function greet(name: string)", with its container. */
export function symbolName({ kind, name, detail, container }: LspSymbol): string {
  const of = container === undefined ? "" : ` (in ${container})`;
  const more = detail === undefined ? "" : ` ${detail.replace(/\s+/g, " ")}`;
  return cut(`${kind} ${name}${more}${of}`);
}

/** "12-40", or "12" for one line. */
export function lineRange({ line, end_line }: LspLocation): string {
  return end_line > line ? `${line}-${end_line}` : `${line}`;
}

/** "src/a.ts:3:14 error Cannot find name 'x'. (typescript 2304)" */
export function diagnosticLine(name: string, diagnostic: LspDiagnostic): string {
  const { severity, line, character, message, source, code } = diagnostic;
  const origin = [source, code].filter((part) => part !== undefined).join(" ");
  const oneLine = message.replace(/\s*\n\s*/g, " ");
  return cut(`${name}:${line}:${character} ${severity} ${oneLine}`) + (origin === "" ? "" : ` (${origin})`);
}
