import * as z from "../../deps/zod.ts";
import { ToolError } from "../../shared/errors.ts";
import { defineTool, files, titleText } from "./define.ts";
import { lineDiff } from "../log/line_diff.ts";
import { shownPath } from "./files/text_file.ts";

export const remove = defineTool({
  name: "delete",
  description: "Delete one file. No folders.",
  kind: "delete",
  readOnly: false,
  inPatch: true,
  schema: z.object({ path: z.string().describe("relative to the project") }),
  title: (args) => `delete ${titleText(args.path)}`,

  async prepare({ path }, { workspace }, signal) {
    const target = await workspace.resolve(path);
    const info = workspace.info(target);
    if (info === undefined) throw new ToolError(`${shownPath(target)} does not exist.`);
    if (info.kind === "directory") {
      throw new ToolError(`${shownPath(target)} is a folder; delete its files one by one.`);
    }
    const before = await workspace.readIfText(target, signal);
    if (target.link === target.path) await workspace.checkSaved(before, signal);
    const diff = before === undefined ? undefined : lineDiff(target.path, before.text, "");
    return {
      access: files(["write", target]),
      ...(diff === undefined ? {} : { diff }),
      async run(signal) {
        const change = await workspace.remove(target, before, signal);
        const counts = diff === undefined ? {} : { diff };
        return { text: `Deleted ${shownPath(target)}.`, summary: "deleted", changes: [change], ...counts };
      },
    };
  },
});
