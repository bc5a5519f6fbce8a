import * as z from "../../deps/zod.ts";
import { defineTool, files, titleText } from "./define.ts";
import { countsOf, lineDiff } from "../log/line_diff.ts";
import { lineEnding, withEnding } from "../../shared/text/text.ts";
import { shownPath } from "./files/text_file.ts";
import { outcomeOf } from "./files/workspace.ts";

export const write = defineTool({
  name: "write",
  description: "Write a whole file: create it, with its folders, or replace all of its content. " +
    "To change a part of an existing file use edit.",
  kind: "edit",
  readOnly: false,
  inPatch: true,
  basic: true,
  least: "docs",
  schema: z.object({
    path: z.string().describe("relative to the project"),
    content: z.string().describe("the whole new content"),
  }),
  streamed: "content",
  title: (args) => `write ${titleText(args.path)}`,

  async prepare({ path, content }, { workspace }, signal) {
    const target = await workspace.resolve(path);
    const before = await workspace.readText(target, signal);
    const seen = before !== undefined && workspace.mayShow(target) ? await workspace.seen(before) : undefined;
    // Models write "\n"; a file keeps its own line endings.
    const ending = before === undefined ? undefined : lineEnding(before.text);
    const own = ending === undefined ? content : withEnding(content, ending);
    const after = before === undefined || seen === undefined ? own : workspace.merged(before, seen, own);
    const diff = lineDiff(target.path, before?.text, after);
    return {
      access: files(["write", target]),
      diff,
      async run(signal) {
        const change = await workspace.writeText(target, before, after, signal, own);
        const done = before === undefined ? "Created" : "Replaced";
        return {
          text: `${done} ${shownPath(target)} (${countsOf(diff)})${outcomeOf(change, own)}`,
          summary: countsOf(diff),
          diff,
          changes: [change],
        };
      },
    };
  },
});
