import { z } from "../../deps/zod.ts";
import { messageOf, ToolError } from "../core/errors.ts";
import { counted, defineTool, files, shown } from "./define.ts";
import { AskedAbout } from "./files/asked_about.ts";
import { lookups } from "./files/disk.ts";
import { leftOutNote } from "./search/format.ts";
import { shownPath, type Workspace } from "./files/workspace.ts";
import type { ResolvedPath } from "../../policy/path.ts";

const MOST_ENTRIES = 500;

export const listDirectory = defineTool({
  name: "list_directory",
  description: "List the immediate children of a folder: folders first, then files with their sizes.",
  kind: "read",
  readOnly: true,
  basic: true,
  schema: z.object({ path: z.string().default(".").describe('relative to the project; "." is its root') }),
  title: (args) => `list ${shown(args.path, ".")}`,

  async prepare({ path }, { workspace }) {
    const target = await workspace.resolveListed(path === "" ? "." : path);
    return {
      accesses: files(["list", target]),
      async run(signal) {
        const info = workspace.info(target);
        if (info === undefined) throw new ToolError(`${shownPath(target)} does not exist.`);
        if (info.kind === "file") throw new ToolError(`${shownPath(target)} is a file. Use read_file.`);
        if (info.kind === "other") throw new ToolError(`${shownPath(target)} is not a folder.`);
        const asked = new AskedAbout();
        const entries = await folderEntries(workspace, target, asked, signal);
        const note = leftOutNote(asked);
        if (entries.length === 0) {
          const text = note.length === 0 ? `${shownPath(target)} is empty.` : note.join("\n");
          return { text, summary: note.length === 0 ? "empty" : "none" };
        }
        const listed = entries.slice(0, MOST_ENTRIES);
        const left = entries.length - listed.length;
        const summary = counted(entries.length, "entry", "entries");
        return { text: [...listed, ...(left > 0 ? [`[${left} more]`] : []), ...note].join("\n"), summary };
      },
    };
  },
});

/** Names of what may be seen in a folder, folders first; `asked` counts what rules ask about. @throws {ToolError} */
export async function folderEntries(
  workspace: Workspace,
  folder: ResolvedPath,
  asked: AskedAbout,
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
      asked.note(path.path, decision);
      if (decision.verdict !== "allow") continue;
      // A name may hold what looks like other lines.
      // deno-lint-ignore no-control-regex -- they are what is replaced
      const name = entry.name.replace(/[\u0000-\u001f\u007f]/g, "�");
      if (entry.isDirectory) folders.push(`${name}/`);
      else if (entry.isSymlink) files.push(`${name} (symbolic link)`);
      else files.push(`${name} (${size(workspace.info(path)?.size ?? 0)})`);
    }
    // The names are those of another folder if a link has taken its place.
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
