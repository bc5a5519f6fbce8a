/** Requests to the editor's language servers, and shared arguments of their tools. */
import * as z from "../../../deps/zod.ts";
import type { LspRequest, LspResponse } from "../../../protocol/lsp.ts";
import { ToolError } from "../../../shared/errors.ts";
import type { LanguageServers } from "../../ports/editor.ts";
import { titleText, type ToolResult } from "../define.ts";

type Kind = LspResponse["kind"];
type Answer<Wanted extends Kind> = Extract<LspResponse, { kind: Wanted }>;

/** @throws {ToolError} if the answer has another kind */
export async function askServers<Wanted extends Kind>(
  languages: LanguageServers,
  request: LspRequest,
  kinds: readonly Wanted[],
  signal: AbortSignal,
): Promise<Answer<Wanted | "nothing">> {
  const answer = await languages.ask(request, signal, "tool");
  if (isOf<Wanted | "nothing">(answer, [...kinds, "nothing"])) return answer;
  throw new ToolError(`The editor answered ${request.op} with ${answer.kind}.`);
}

function isOf<Wanted extends Kind>(
  answer: LspResponse,
  kinds: readonly Wanted[],
): answer is Answer<Wanted> {
  return kinds.some((kind) => kind === answer.kind);
}

/** Without a server or an answer, the model gets the reason and continues. */
export function nothing(reason: string): ToolResult {
  return { text: reason, summary: "nothing" };
}

/** The arguments for a symbol's place. */
export const PLACE = {
  path: z.string().describe("file, relative to the project"),
  symbol: z.string().min(1).optional().describe(
    "its name in that file, such as greet or Circle.area",
  ),
  line: z.int().min(1).optional().describe("line of the symbol or near it, from 1"),
  character: z.int().min(1).optional().describe("column, from 1; only if no symbol is given"),
};

export interface PlaceArguments {
  readonly symbol?: string | undefined;
  readonly line?: number | undefined;
  readonly character?: number | undefined;
}

/** @param path absolute @throws {ToolError} without a symbol or a line */
export function placeOf(path: string, { symbol, line, character }: PlaceArguments) {
  if (symbol === undefined && line === undefined) throw new ToolError("Either symbol or line is needed.");
  return {
    path,
    ...(symbol === undefined ? {} : { symbol }),
    ...(line === undefined ? {} : { line }),
    ...(character === undefined ? {} : { character }),
  };
}

/** For titles: "greet in src/a.ts", "src/a.ts:12". */
export function placeTitle(args: Readonly<Record<string, unknown>>): string {
  const path = titleText(args.path);
  if (typeof args.symbol === "string" && args.symbol !== "") return `${titleText(args.symbol)} in ${path}`;
  return typeof args.line === "number" ? `${path}:${args.line}` : path;
}
