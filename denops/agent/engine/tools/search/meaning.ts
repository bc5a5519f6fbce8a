/** Searches by meaning, and their results as text for the model. */
import { globMatcher } from "../../../policy/glob.ts";
import { messageOf, ToolError } from "../../../shared/errors.ts";
import { plural } from "../../../shared/text/text.ts";
import type { RootedPath } from "../../../policy/roots.ts";
import type { CodeIndex, MeaningAnswer, MeaningHit } from "../../ports/code_index.ts";
import type { ToolResult } from "../define.ts";
import type { Workspace } from "../files/workspace.ts";
import { leftOutNote, rowsOf } from "./format.ts";

/** Files of an answer. */
const MOST_FILES = 10;

interface MeaningSearch {
  readonly question: string;
  /** The folder or file to search in. */
  readonly target: RootedPath;
  readonly glob: string | undefined;
}

/** @throws {ToolError} */
export async function searchByMeaning(
  { question, target, glob }: MeaningSearch,
  index: CodeIndex | undefined,
  { workspace, progress }: { readonly workspace: Workspace; progress?(line: string): void },
  signal: AbortSignal,
): Promise<ToolResult> {
  if (index === undefined) throw new ToolError("This editor lists no files for an index: search for text.");
  const answer = await index.ask({
    question,
    most: MOST_FILES,
    accepts: accepted(target.relative, glob),
    pathOf: (name) => pathOf(name, workspace),
    progress,
  }, signal);
  const { hits } = answer;
  const files = new Set(hits.map(({ path }) => path)).size;
  const locations = hits.flatMap(({ path, lines }) =>
    lines.filter(({ isMatch }) => isMatch).slice(0, 1).map(({ line }) => ({ path, line }))
  );
  return {
    text: meaningText(answer),
    summary: hits.length === 0
      ? "nothing found"
      : `${plural(hits.length, "place")} in ${plural(files, "file")}`,
    ...(locations.length === 0 ? {} : { locations }),
  };
}

function meaningText({ hits, notes, leftOut }: MeaningAnswer): string {
  const found = hits.length === 0
    ? ["Nothing was found. Use other words, or search for text."]
    : ["The best places first, with their best lines:", ...hits.map(sectionOf)];
  return [...found, ...notes.map((note) => `[${note}]`), ...leftOutNote(leftOut)].join("\n\n");
}

function sectionOf({ name, first, last, lines }: MeaningHit): string {
  return `── ${name}:${first}-${last} ──\n${rowsOf(lines)}`;
}

/** The real path of a file that the model may see without a question. */
async function pathOf(name: string, workspace: Workspace): Promise<string | undefined> {
  const path = await workspace.resolve(name).catch(() => undefined);
  return path?.exists === true && workspace.mayShow(path) ? path.path : undefined;
}

/** @param within relative to the project @param glob as ripgrep reads it @throws {ToolError} */
function accepted(within: string, glob: string | undefined): ((name: string) => boolean) | undefined {
  const isInside = (name: string) => within === "" || name === within || name.startsWith(`${within}/`);
  if (glob === undefined || glob === "") return within === "" ? undefined : isInside;
  const matches = globOf(glob.replace(/^!/, ""));
  return (name) => isInside(name) && matches(name) !== glob.startsWith("!");
}

/** A glob without a slash matches names in all folders, and that of a folder all of its files. */
function globOf(glob: string): (name: string) => boolean {
  const path = glob.replace(/^\.?\//, "").replace(/\/+$/, "");
  const anywhere = glob.replace(/\/+$/, "").includes("/") ? path : `**/${path}`;
  try {
    return globMatcher([anywhere, `${anywhere}/**`]);
  } catch (error) {
    throw new ToolError(`Cannot read the glob ${glob}: ${messageOf(error)}.`);
  }
}
