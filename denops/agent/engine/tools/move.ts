import * as z from "../../deps/zod.ts";
import { ToolError } from "../../shared/errors.ts";
import { defineTool, files, titleText } from "./define.ts";
import { shownPath } from "./files/text_file.ts";

export const move = defineTool({
  name: "move",
  description: "Move or rename one file. Nothing is overwritten.",
  kind: "move",
  readOnly: false,
  inPatch: true,
  schema: z.object({
    from: z.string().describe("relative to the project"),
    to: z.string().describe("the new path, with the file's name"),
  }),
  title: (args) => `move ${titleText(args.from)} to ${titleText(args.to)}`,

  async prepare({ from, to }, { workspace }, signal) {
    // Its new name might be readable.
    const source = await workspace.resolveReadable(from);
    const target = await workspace.resolve(to);
    const info = workspace.info(source);
    if (info === undefined) throw new ToolError(`${shownPath(source)} does not exist.`);
    if (info.kind !== "file") throw new ToolError(`${shownPath(source)} is not a file.`);
    if (target.exists) {
      throw new ToolError(`${shownPath(target)} exists already. Choose another name or delete it first.`);
    }
    await workspace.checkFree(target, signal);
    const before = await workspace.readIfText(source, signal);
    await workspace.checkSaved(before, signal);
    return {
      access: files(["read", source], ["write", source], ["write", target]),
      async run(signal) {
        const change = await workspace.move(source, target, before, signal);
        return {
          text: `Moved ${shownPath(source)} to ${shownPath(target)}.`,
          summary: "moved",
          changes: [change],
        };
      },
    };
  },
});
