/** Writes a language server's edits like any other: policy and diff first, then all files. */
import { diffLines } from "../../../deps/diff.ts";
import type { LspEdit } from "../../../protocol/lsp.ts";
import { ToolError } from "../../../shared/errors.ts";
import type { Diff, FileChange } from "../../log/events.ts";
import { files, type PreparedCall, type ToolResult } from "../define.ts";
import { countsOf, lineDiff } from "../../log/line_diff.ts";
import { plural, splitLines } from "../../../shared/text/text.ts";
import { shownPath, type TextFile } from "../files/text_file.ts";
import type { Workspace } from "../files/workspace.ts";
import type { RootedPath } from "../../../policy/roots.ts";
import { LONGEST_LINE } from "./show.ts";

interface Write {
  readonly target: RootedPath;
  readonly before: TextFile | undefined;
  readonly after: string;
  readonly diff: Diff;
}

const BOM = "\ufeff";

/** Changed lines for the model, in all files together. */
const MOST_LINES = 60;

/**
 * @param title such as "Renamed greet to salute" @throws {ToolError} if a file is outside of the project, or differs
 * from the server's text
 */
export async function prepareWrites(
  title: string,
  edits: readonly LspEdit[],
  workspace: Workspace,
  signal: AbortSignal,
): Promise<PreparedCall> {
  const writes: Write[] = [];
  for (const edit of edits) writes.push(await prepareWrite(edit, workspace, signal));
  const [first, ...others] = writes.map(({ diff }) => diff);
  if (first === undefined) throw new ToolError(`${title}: the language server would change nothing.`);
  const diff: Diff = others.length === 0 ? first : { ...first, others };
  return {
    access: files(...writes.flatMap(({ target }) => [["read", target], ["write", target]] as const)),
    diff,
    run: (signal) => writeAll(title, writes, diff, workspace, signal),
  };
}

async function prepareWrite(edit: LspEdit, workspace: Workspace, signal: AbortSignal): Promise<Write> {
  const target = await workspace.resolve(edit.path);
  const before = await workspace.readText(target, signal);
  const bom = before?.text.startsWith(BOM) ? BOM : "";
  if (before?.text.slice(bom.length) !== edit.before) {
    throw new ToolError(
      `${shownPath(target)} has another text than the language server has seen. Try again in a moment.`,
    );
  }
  const after = bom + edit.after;
  return { target, before, after, diff: lineDiff(target.path, before?.text, after) };
}

/** The new lines of a text with their numbers. */
function newLines(before: string, after: string, most: number): readonly string[] {
  const out: string[] = [];
  let at = 1;
  for (const { added, removed, value, count } of diffLines(before, after, { timeout: 500 }) ?? []) {
    if (removed) continue;
    if (added) {
      out.push(...splitLines(value).map((line, index) => `→ ${at + index}: ${line}`.slice(0, LONGEST_LINE)));
    }
    at += count;
  }
  const left = out.length - Math.max(0, most);
  return left > 0 ? [...out.slice(0, Math.max(0, most)), `[${plural(left, "more line")}]`] : out;
}

/** Successful writes stay; failed files are reported beside them. */
async function writeAll(
  title: string,
  writes: readonly Write[],
  diff: Diff,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<ToolResult> {
  const changes: FileChange[] = [];
  const lines: string[] = [];
  let failed = 0;
  for (const { target, before, after, diff } of writes) {
    try {
      const change = await workspace.writeText(target, before, after, signal);
      changes.push(change);
      const where = change.onDisk ? "" : ", in the user's buffer with unsaved changes; not saved to disk";
      lines.push(`── ${shownPath(target)} (${countsOf(diff)}${where}) ──`);
      const count = lines.filter((line) => line.startsWith("→")).length;
      lines.push(...newLines(before?.text ?? "", after, MOST_LINES - count));
    } catch (error) {
      if (!(error instanceof ToolError) && !(signal.aborted && changes.length > 0)) throw error;
      failed += 1;
      lines.push(
        `${shownPath(target)}: NOT CHANGED: ${error instanceof ToolError ? error.message : "stopped"}`,
      );
    }
  }
  if (changes.length === 0) throw new ToolError(`${title}: nothing was changed.\n${lines.join("\n")}`);
  const left = failed === 0 ? "" : `, ${plural(failed, "file")} NOT changed`;
  const summary = `${plural(changes.length, "file")}${left}`;
  return { text: `${title} in ${summary}:\n${lines.join("\n")}`, summary, diff, changes };
}
