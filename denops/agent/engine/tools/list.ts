import * as z from "../../deps/zod.ts";
import { ANY_FILE } from "../calls/old_names.ts";
import { messageOf, ToolError } from "../../shared/errors.ts";
import type { ClientAbilities } from "../ports/abilities.ts";
import { defineTool, files, titleText, type ToolResult } from "./define.ts";
import { AskedAbout } from "./files/asked_about.ts";
import { lookups } from "./files/disk.ts";
import { fuzzyPaths, leftOutNote } from "./search/format.ts";
import { shownPath } from "./files/text_file.ts";
import type { Workspace } from "./files/workspace.ts";
import type { ResolvedPath } from "../../policy/path.ts";
import { plural } from "../../shared/text/text.ts";

const MOST_ENTRIES = 500;
const MOST_FILES = 1_000;
const MOST_LOOKED_AT = 100_000;

export const list = defineTool({
  name: "list",
  description:
    "List a folder: its folders, then its files with their sizes. With glob or depth: the files below it, without " +
    "ignored ones.",
  kind: "read",
  readOnly: true,
  basic: true,
  uses: "search",
  schema: z.object({
    path: z.string().optional().describe("the project's root unless told"),
    glob: z.string().optional().describe(
      'such as "*.ts", or words of the path such as "user model" (fuzzy, best first)',
    ),
    depth: z.int().min(1).optional().describe("levels of folders"),
  }),
  title: ({ path, glob, depth }) => {
    if (glob === undefined && depth === undefined) return `list ${titleText(path, ".")}`;
    const isAll = glob === undefined || glob === ANY_FILE;
    return isAll
      ? `list files ${titleText(path, ".")}`
      : `find ${titleText(glob)}${path ? ` in ${titleText(path)}` : ""}`;
  },

  async prepare({ path, glob, depth }, { workspace, search }) {
    const target = await workspace.resolveListed(path || ".");
    const isFolder = glob === undefined && depth === undefined;
    return {
      access: files(["list", target]),
      run: (signal) =>
        isFolder
          ? listFolder(target, workspace, signal)
          : listFiles(target, { glob: glob === ANY_FILE ? undefined : glob, depth }, search, signal),
    };
  },
});

async function listFolder(
  folder: ResolvedPath,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<ToolResult> {
  const info = workspace.info(folder);
  if (info === undefined) throw new ToolError(`${shownPath(folder)} does not exist.`);
  if (info.kind === "file") throw new ToolError(`${shownPath(folder)} is a file. Use read.`);
  if (info.kind === "other") throw new ToolError(`${shownPath(folder)} is not a folder.`);
  const leftOut = new AskedAbout();
  const entries = await folderEntries(workspace, folder, leftOut, signal);
  const note = leftOutNote(leftOut);
  if (entries.length === 0) {
    const text = note.length === 0 ? `${shownPath(folder)} is empty.` : note.join("\n");
    return { text, summary: note.length === 0 ? "empty" : "none" };
  }
  const listed = entries.slice(0, MOST_ENTRIES);
  const left = entries.length - listed.length;
  const summary = plural(entries.length, "entry", "entries");
  return { text: [...listed, ...(left > 0 ? [`[${left} more]`] : []), ...note].join("\n"), summary };
}

async function listFiles(
  folder: ResolvedPath,
  { glob, depth }: { readonly glob: string | undefined; readonly depth: number | undefined },
  search: ClientAbilities["search"] | undefined,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (search === undefined) throw new ToolError("This editor finds no files by glob or depth: list folders.");
  const isWords = glob !== undefined && !/[*?[{]/.test(glob);
  const { paths, more, leftOut } = await search.files({
    path: folder.path,
    most: isWords ? MOST_LOOKED_AT : MOST_FILES,
    ...(glob === undefined || isWords ? {} : { glob }),
    ...(depth === undefined ? {} : { depth }),
  }, signal);
  const found = isWords ? fuzzyPaths(paths, glob) : paths;
  const leftOutNotes = leftOutNote(leftOut);
  if (found.length === 0) {
    return { text: ["No file was found.", ...leftOutNotes].join("\n"), summary: "none" };
  }
  const most = isWords ? MOST_FUZZY : MOST_FILES;
  const left = found.length - most;
  const note = left > 0 ? [`[${left} more]`] : more ? [`[more than ${most}; narrow with path or glob]`] : [];
  return {
    text: [...found.slice(0, most), ...note, ...leftOutNotes].join("\n"),
    summary: `${more && !isWords ? "more than " : ""}${plural(found.length, "file")}`,
  };
}

/** The best fuzzy matches are enough. */
const MOST_FUZZY = 50;

/** The entries of a folder that may be read without a question, one a line. @throws {ToolError} */
export async function entriesOf(
  folder: ResolvedPath,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<string> {
  return (await folderEntries(workspace, folder, new AskedAbout(), signal)).join("\n");
}

/** Visible names in a folder, folders first; `leftOut` counts files that rules ask about. @throws {ToolError} */
async function folderEntries(
  workspace: Workspace,
  folder: ResolvedPath,
  leftOut: AskedAbout,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const folders: string[] = [];
  const files: string[] = [];
  try {
    for await (const entry of Deno.readDir(folder.path)) {
      signal.throwIfAborted();
      const inside = (name: string) => name === "" ? entry.name : `${name}/${entry.name}`;
      const path = {
        path: `${folder.path}/${entry.name}`,
        relative: inside(folder.relative),
        named: inside(folder.named),
        exists: true,
      };
      const decision = workspace.mayRead(path);
      leftOut.note(path.path, decision);
      if (decision.verdict !== "allow") continue;
      // A name may hold what looks like other lines.
      // deno-lint-ignore no-control-regex -- they are what is replaced
      const name = entry.name.replace(/[\u0000-\u001f\u007f]/g, "�");
      if (entry.isDirectory) folders.push(`${name}/`);
      else if (entry.isSymlink) files.push(`${name} (symbolic link)`);
      else files.push(`${name} (${size(workspace.info(path)?.size ?? 0)})`);
    }
    // If a link has replaced the folder, the names are another folder's.
    if (await lookups.realPath(folder.path) !== folder.path) {
      throw new Error("it was replaced at this moment");
    }
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ToolError(`Cannot list ${shownPath(folder)}: ${messageOf(error)}`);
  }
  return [...folders.sort(), ...files.sort()];
}

function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
