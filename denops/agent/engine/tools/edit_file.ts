import { z } from "../../deps/zod.ts";
import { ToolError } from "../core/errors.ts";
import { defineTool, files, shown } from "./define.ts";
import { applyEdits } from "./files/edit_match.ts";
import { countsOf, lineDiff } from "../core/line_diff.ts";
import { outcomeOf, shownPath } from "./files/workspace.ts";

const Edit = z.object({
  old_str: z.string().describe("text to replace; must occur exactly once, so include enough lines around it"),
  new_str: z.string().describe("text to put in its place"),
  replace_all: z.boolean().optional().describe("replace every occurrence"),
});

export const editFile = defineTool({
  name: "edit_file",
  description:
    "Replace text in an existing file. old_str must be copied from the file exactly, without the line " +
    "numbers that read_file shows. Several edits of one file go into edits; all are applied or none.",
  kind: "edit",
  readOnly: false,
  least: "docs",
  schema: z.object({
    path: z.string().describe("relative to the project"),
    old_str: Edit.shape.old_str.optional(),
    new_str: Edit.shape.new_str.optional(),
    replace_all: Edit.shape.replace_all,
    edits: z.array(Edit).optional().describe("several edits, applied in this order"),
  }),
  streamed: "new_str",
  title: (args) => `edit ${shown(args.path)}`,

  async prepare({ path, edits, old_str, new_str, replace_all }, { workspace }, signal) {
    const target = await workspace.resolveReadable(path);
    const before = await workspace.readText(target, signal);
    if (before === undefined) {
      throw new ToolError(`${shownPath(target)} does not exist. Use write_file to create it.`);
    }
    const seen = await workspace.seen(before);
    if (old_str !== undefined && new_str === undefined) {
      throw new ToolError('edit_file needs new_str. To delete the text, give new_str as "".');
    }
    const single = old_str === undefined || new_str === undefined ? [] : [{ old_str, new_str, replace_all }];
    const wanted = [...single, ...(edits ?? [])];
    if (wanted.length === 0) throw new ToolError("edit_file needs old_str and new_str, or edits.");
    const own = applyEdits(seen, wanted, shownPath(target));
    const after = workspace.merged(before, seen, own);
    const diff = lineDiff(target.path, before.text, after);
    return {
      accesses: files(["read", target], ["write", target]),
      diff,
      async run(signal) {
        const change = await workspace.writeText(target, before, after, signal, own);
        return {
          text: `Edited ${shownPath(target)} (${countsOf(diff)})${outcomeOf(change, own)}`,
          summary: countsOf(diff),
          diff,
          changes: [change],
        };
      },
    };
  },
});
