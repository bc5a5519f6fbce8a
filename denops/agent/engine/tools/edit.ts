import * as z from "../../deps/zod.ts";
import { ToolError } from "../../shared/errors.ts";
import type { EditForm } from "../../protocol/options/efforts.ts";
import { countsOf, lineDiff } from "../log/line_diff.ts";
import { lineEnding, plural, withEnding } from "../../shared/text/text.ts";
import { defineTool, files, titleText } from "./define.ts";
import { applyEdits } from "./files/edit_match.ts";
import { PATCH_GRAMMAR, pathsOfPatch } from "./files/patch.ts";
import { preparePatch } from "./files/patch_writes.ts";
import { placeholderIn } from "./files/placeholder.ts";
import { shownPath } from "./files/text_file.ts";
import { outcomeOf } from "./files/workspace.ts";

const Edit = z.object({
  old_str: z.string().describe("text to replace; must occur exactly once, so include enough lines around it"),
  new_str: z.string().describe("text to put in its place"),
  replace_all: z.boolean().optional().describe("replace every occurrence"),
});

const path = z.string().describe("relative to the project");

/** The offered forms; any form is accepted. */
const FORMS = {
  replace: {
    description:
      "Replace text in an existing file. old_str must be copied from the file exactly, without the line " +
      "numbers that read shows. Several edits of one file go into edits; all are applied or none.",
    shape: {
      path,
      old_str: Edit.shape.old_str.optional(),
      new_str: Edit.shape.new_str.optional(),
      replace_all: Edit.shape.replace_all,
      edits: z.array(Edit).optional().describe("several edits, applied in this order"),
    },
  },
  whole: {
    description: "Change an existing file: content is its whole new text, with every line that stays.",
    shape: { path, content: z.string().describe("the whole new text") },
  },
  patch: {
    name: "apply_patch",
    description:
      "Create, change, rename and delete files by a patch: all of it is applied or nothing. *** Begin Patch, then for " +
      "each file *** Update File: path (after it *** Move to: path, to rename), *** Add File: path or *** Delete File: " +
      "path, then *** End Patch; hunks after @@, lines marked by space, - or +. Paths are relative to the project.",
    shape: { input: z.string().describe("the patch") },
    grammar: PATCH_GRAMMAR,
  },
} as const;

const schema = z.object({ ...FORMS.replace.shape, ...FORMS.whole.shape, patch: z.string() }).partial();
type Args = z.infer<typeof schema>;

function formOf({ patch, content }: Readonly<Record<string, unknown>>): EditForm {
  return patch !== undefined ? "patch" : content !== undefined ? "whole" : "replace";
}

export const edit = defineTool({
  name: "edit",
  description: FORMS.replace.description,
  kind: "edit",
  readOnly: false,
  basic: true,
  least: "docs",
  schema,
  forms: { of: formOf, specs: FORMS },
  streamed: "new_str",
  title({ path, patch }) {
    const [first, ...others] = typeof patch === "string" ? pathsOfPatch(patch) : [];
    const more = others.length === 0 ? "" : ` and ${plural(others.length, "other file")}`;
    return `edit ${titleText(first ?? path)}${more}`;
  },

  async prepare(args, { workspace }, signal) {
    if (args.patch !== undefined) return await preparePatch(args.patch, workspace, signal);
    if (args.path === undefined) throw new ToolError("edit needs path.");
    const target = await workspace.resolveReadable(args.path);
    const before = await workspace.readText(target, signal);
    if (before === undefined) {
      throw new ToolError(`${shownPath(target)} does not exist. Use write to create it.`);
    }
    const seen = await workspace.seen(before);
    const own = edited(seen, args, shownPath(target));
    const after = workspace.merged(before, seen, own);
    const diff = lineDiff(target.path, before.text, after);
    return {
      access: files(["read", target], ["write", target]),
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

/** The new text, based on the version that the model knows. @throws {ToolError} */
function edited(seen: string, { content, old_str, new_str, replace_all, edits }: Args, path: string): string {
  if (old_str !== undefined && new_str === undefined) {
    throw new ToolError('edit needs new_str. To delete the text, give new_str as "".');
  }
  const single = old_str === undefined || new_str === undefined ? [] : [{ old_str, new_str, replace_all }];
  const wanted = [...single, ...(edits ?? [])];
  if (wanted.length > 0) {
    if (content === undefined) return applyEdits(seen, wanted, path);
    throw new ToolError("edit takes content or old_str and new_str, not both.");
  }
  if (content === undefined) throw new ToolError("edit needs old_str and new_str, or edits.");
  const placeholder = placeholderIn(content, seen);
  if (placeholder !== undefined) {
    throw new ToolError(
      `Nothing was written: "${placeholder}" stands for lines of ${path} that would be lost. Give the whole text, or use old_str and new_str.`,
    );
  }
  // Models write "\n"; a file keeps its own line endings.
  return withEnding(content, lineEnding(seen) ?? "\n");
}
