/** Callers and callees, supertypes and subtypes as text. */
import type { LspRelated, LspResponse, LspSymbol } from "../../../protocol/lsp.ts";
import type { ToolResult } from "../define.ts";
import { AskedAbout } from "../files/asked_about.ts";
import type { Workspace } from "../files/workspace.ts";
import { leftOutNote } from "../search/format.ts";
import { nothing } from "./ask.ts";
import { lineRange, placed, symbolName } from "./show.ts";
import { plural } from "../../../shared/text/text.ts";

const MOST = 50;

type Relation = LspRelated["relation"];

/** One heading for each relation with its entries. */
export async function showHierarchy(
  answer: Extract<LspResponse, { kind: "hierarchy" }>,
  headings: readonly (readonly [relation: Relation, heading: string])[],
  workspace: Workspace,
): Promise<ToolResult> {
  const of: string[] = [];
  const leftOut = new AskedAbout();
  for (const symbol of answer.of) {
    const line = await symbolLine(symbol, [], workspace, leftOut);
    if (line !== undefined) of.push(line);
  }
  if (of.length === 0) {
    return nothing(
      ["The language server names no file that may be shown.", ...leftOutNote(leftOut)].join("\n"),
    );
  }
  const out = [...of];
  let count = 0;
  for (const [relation, heading] of headings) {
    const lines: string[] = [];
    for (const { symbol, calls } of answer.related.filter((related) => related.relation === relation)) {
      const line = await symbolLine(symbol, relation === "incoming" ? calls : [], workspace, leftOut);
      if (line !== undefined) lines.push(`  ${line}`);
    }
    count += lines.length;
    const more = lines.length > MOST ? [`  [${lines.length - MOST} more]`] : [];
    out.push(`${heading}:${lines.length === 0 ? " none" : ""}`, ...lines.slice(0, MOST), ...more);
  }
  out.push(...leftOutNote(leftOut));
  return { text: out.join("\n"), summary: plural(count, "entry", "entries") };
}

/** Undefined for a file that the model may not see. */
async function symbolLine(
  symbol: LspSymbol,
  calls: readonly number[],
  workspace: Workspace,
  leftOut: AskedAbout,
): Promise<string | undefined> {
  const place = await placed(symbol.location.path, workspace);
  if (place.kind === "hidden") {
    leftOut.note(symbol.location.path, place.decision);
    return undefined;
  }
  const called = calls.length === 0 ? "" : `, calls on line ${calls.slice(0, 10).join(", ")}`;
  const outside = place.kind === "outside" ? " (outside of the project)" : "";
  return `${place.name}:${lineRange(symbol.location)} ${symbolName(symbol)}${outside}${called}`;
}
