import * as z from "../../deps/zod.ts";
import type { AccessPath } from "../../protocol/access.ts";
import { ToolError } from "../../shared/errors.ts";
import type { ClientAbilities } from "../ports/abilities.ts";
import { defineTool, files, type PreparedCall, titleText } from "./define.ts";
import type { Workspace } from "./files/workspace.ts";
import { askServers, nothing, PLACE, type PlaceArguments, placeOf, placeTitle } from "./lsp/ask.ts";
import { prepareWrites } from "./lsp/writes.ts";
import { plural } from "../../shared/text/text.ts";

interface Ports {
  readonly workspace: Workspace;
  readonly languages: ClientAbilities["languages"];
}

export const refactor = defineTool({
  name: "refactor",
  description:
    "Change code through the language server. rename: a symbol in all of the project, with its imports and uses. fix: " +
    "apply a fix or refactoring that the server offers at a place, such as adding an import; if it offers several, " +
    "nothing is done and their titles come back: call again with one.",
  kind: "edit",
  readOnly: false,
  needs: "languages",
  schema: z.object({
    action: z.enum(["rename", "fix"]),
    ...PLACE,
    new_name: z.string().min(1).optional().describe("for rename"),
    kind: z.string().min(1).optional().describe(
      "for fix: quickfix, refactor.extract, source.organizeImports",
    ),
    title: z.string().min(1).optional().describe("for fix: the one to apply"),
  }),
  unshown: ["character"],
  title: (args) =>
    args.action === "rename" || args.new_name !== undefined
      ? `rename ${titleText(args.symbol, "symbol")} to ${titleText(args.new_name)}`
      : `code action at ${placeTitle(args)}`,

  async prepare({ action, path, new_name, kind, title, ...place }, ports, signal) {
    const target = await ports.workspace.resolveReadable(path);
    if (action === "fix") return await fix(target, place, { kind, title }, ports, signal);
    if (new_name === undefined) throw new ToolError("refactor needs new_name to rename a symbol.");
    return await rename(target, place, new_name, ports, signal);
  },
});

async function rename(
  target: AccessPath,
  place: PlaceArguments,
  newName: string,
  { workspace, languages }: Ports,
  signal: AbortSignal,
): Promise<PreparedCall> {
  const request = { op: "rename", ...placeOf(target.path, place), new_name: newName } as const;
  const answer = await askServers(languages, request, ["edits"], signal);
  if (answer.kind === "nothing") return readOnly(target, nothing(answer.reason));
  const title = `Renamed ${place.symbol ?? "the symbol"} to ${newName}`;
  return await prepareWrites(title, answer.files, workspace, signal);
}

async function fix(
  target: AccessPath,
  place: PlaceArguments,
  { kind, title }: { readonly kind: string | undefined; readonly title: string | undefined },
  { workspace, languages }: Ports,
  signal: AbortSignal,
): Promise<PreparedCall> {
  const choice = { ...(kind === undefined ? {} : { kind }), ...(title === undefined ? {} : { title }) };
  const request = { op: "code_action", ...placeOf(target.path, place), ...choice } as const;
  const answer = await askServers(languages, request, ["edits", "actions"], signal);
  if (answer.kind === "edits") {
    return await prepareWrites(`Applied ${answer.title}`, answer.files, workspace, signal);
  }
  if (answer.kind === "nothing") return readOnly(target, nothing(answer.reason));
  const titles = answer.actions.map((action) =>
    `${action.title}${action.kind === "" ? "" : ` (${action.kind})`}`
  );
  const text = `Nothing was changed. Offered here; call again with the title of one:\n${titles.join("\n")}`;
  return readOnly(target, { text, summary: plural(titles.length, "action") });
}

function readOnly(target: AccessPath, result: Awaited<ReturnType<PreparedCall["run"]>>): PreparedCall {
  return { access: files(["read", target]), run: () => Promise.resolve(result) };
}
