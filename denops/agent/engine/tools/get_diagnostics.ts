import { z } from "../../deps/zod.ts";
import type { LspResponse } from "../../protocol/lsp.ts";
import { defineTool, files, NOTHING, shown, type ToolResult } from "./define.ts";
import { AskedAbout } from "./files/asked_about.ts";
import type { Workspace } from "./files/workspace.ts";
import { askServers, nothing } from "./lsp/ask.ts";
import { counted, diagnosticLine, placed } from "./lsp/show.ts";
import { leftOutNote } from "./search/format.ts";

const MOST = 50;
const SEVERITIES = ["error", "warning", "info", "hint"] as const;

export const getDiagnostics = defineTool({
  name: "get_diagnostics",
  description: "Get the errors and warnings of a file from its language server and linters, errors first. " +
    "Without a path: all that the editor knows about the project's files at this moment.",
  kind: "read",
  readOnly: true,
  basic: true,
  answersChange: true,
  needs: "languages",
  schema: z.object({ path: z.string().optional().describe("file, relative to the project") }),
  title: (args) => `diagnostics${args.path === undefined ? "" : ` of ${shown(args.path)}`}`,

  async prepare({ path }, { workspace, languages }) {
    const target = path === undefined ? undefined : await workspace.resolveReadable(path);
    return {
      accesses: target === undefined ? NOTHING : files(["read", target]),
      async run(signal) {
        const where = target === undefined ? {} : { path: target.path };
        const answer = await askServers(languages, { op: "diagnostics", ...where }, ["diagnostics"], signal);
        return answer.kind === "nothing" ? nothing(answer.reason) : await show(answer, workspace);
      },
    };
  },
});

async function show(
  { files, said }: Extract<LspResponse, { kind: "diagnostics" }>,
  workspace: Workspace,
): Promise<ToolResult> {
  const found: { readonly severity: (typeof SEVERITIES)[number]; readonly text: string }[] = [];
  const asked = new AskedAbout();
  let cut = 0;
  for (const { path, diagnostics, total } of files) {
    const place = await placed(path, workspace);
    if (place.kind === "hidden") asked.note(path, place.decision);
    if (place.kind !== "inside") continue;
    cut += total - diagnostics.length;
    for (const diagnostic of diagnostics) {
      found.push({ severity: diagnostic.severity, text: diagnosticLine(place.name, diagnostic) });
    }
  }
  const unheard = said === "current"
    ? []
    : ["[the language server has not yet spoken about the present text]"];
  const notes = [...unheard, ...leftOutNote(asked)].map((note) => `\n${note}`).join("");
  if (found.length === 0) return { text: `No diagnostics.${notes}`, summary: "none" };
  found.sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
  const summary = SEVERITIES.flatMap((severity) => {
    const count = found.filter((one) => one.severity === severity).length;
    return count === 0 ? [] : [counted(count, severity)];
  }).join(", ");
  const left = found.length - MOST + cut;
  const lines = [...found.slice(0, MOST).map(({ text }) => text), ...(left > 0 ? [`[${left} more]`] : [])];
  return { text: `${summary}:\n${lines.join("\n")}${notes}`, summary };
}
