/** Errors and warnings as text for the model. */
import type { LspResponse } from "../../../protocol/lsp.ts";
import type { FileLocation } from "../../log/events.ts";
import type { ToolResult } from "../define.ts";
import { AskedAbout } from "../files/asked_about.ts";
import type { Workspace } from "../files/workspace.ts";
import { leftOutNote } from "../search/format.ts";
import { diagnosticLine, placed } from "./show.ts";
import { plural } from "../../../shared/text/text.ts";

const MOST = 50;
const SEVERITIES = ["error", "warning", "info", "hint"] as const;

interface FoundDiagnostic {
  readonly severity: (typeof SEVERITIES)[number];
  readonly text: string;
  readonly location: FileLocation;
}

export async function showDiagnostics(
  { files, said: state }: Extract<LspResponse, { kind: "diagnostics" }>,
  workspace: Workspace,
): Promise<ToolResult> {
  const found: FoundDiagnostic[] = [];
  const leftOut = new AskedAbout();
  let cut = 0;
  for (const { path, diagnostics, total } of files) {
    const place = await placed(path, workspace);
    if (place.kind === "hidden") leftOut.note(path, place.decision);
    if (place.kind !== "inside") continue;
    cut += total - diagnostics.length;
    for (const diagnostic of diagnostics) {
      const { severity, line } = diagnostic;
      const text = diagnosticLine(place.name, diagnostic);
      found.push({ severity, text, location: { path: place.path.path, line } });
    }
  }
  const unheard = state === "current"
    ? []
    : ["[the language server has not yet spoken about the present text]"];
  const notes = [...unheard, ...leftOutNote(leftOut)].map((note) => `\n${note}`).join("");
  if (found.length === 0) return { text: `No diagnostics.${notes}`, summary: "none" };
  found.sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
  const summary = SEVERITIES.flatMap((severity) => {
    const count = found.filter((one) => one.severity === severity).length;
    return count === 0 ? [] : [plural(count, severity)];
  }).join(", ");
  const left = found.length - MOST + cut;
  const lines = [...found.slice(0, MOST).map(({ text }) => text), ...(left > 0 ? [`[${left} more]`] : [])];
  const locations = found.map(({ location }) => location);
  return { text: `${summary}:\n${lines.join("\n")}${notes}`, summary, locations };
}
