import { z } from "../../deps/zod.ts";
import { ToolError } from "../core/errors.ts";
import { counted, defineTool, files, shown, type ToolResult } from "./define.ts";
import { readImage } from "./files/disk.ts";
import { imageInfo, measures } from "./files/image.ts";
import { type ImageRoom, LARGEST_IMAGE } from "./files/image_room.ts";
import { readLines, splitWindow } from "./files/line_window.ts";
import { shownPath } from "./files/workspace.ts";

export const readFile = defineTool({
  name: "read_file",
  description:
    "Read a text file; its lines come numbered as `12\\ttext`, and the numbers are no part of it. " +
    "At most 2000 lines or 100 kB at once: use offset and limit for more. " +
    "An image (PNG, JPEG, GIF or WebP) is shown as one, if you can see images.",
  kind: "read",
  readOnly: true,
  basic: true,
  schema: z.object({
    path: z.string().describe("relative to the project"),
    offset: z.int().min(1).optional().describe("first line to read, from 1"),
    limit: z.int().min(1).optional().describe("number of lines"),
  }),
  title: ({ path, offset, limit }) => {
    const first = typeof offset === "number" ? offset : 1;
    const last = typeof limit === "number" ? `${first}–${first + limit - 1}` : `from ${first}`;
    return `read ${shown(path)}${first === 1 && typeof limit !== "number" ? "" : ` ${last}`}`;
  },

  async prepare({ path, offset = 1, limit }, { workspace, images }, signal) {
    const target = await workspace.resolveReadable(path);
    const name = shownPath(target);
    return {
      accesses: files(["read", target]),
      async run(): Promise<ToolResult> {
        const file = await workspace.read(target, signal);
        const info = workspace.info(target);
        if (file === undefined && info === undefined) throw new ToolError(`${name} does not exist.`);
        if (info?.kind === "directory") throw new ToolError(`${name} is a folder. Use list_directory.`);
        if (info?.kind === "other") throw new ToolError(`${name} is not a regular file.`);
        const image = file === undefined ? showImage(target.path, name, images) : undefined;
        if (image !== undefined) return image;
        const window = file === undefined
          ? await readLines(target.path, offset, limit, signal)
          : splitWindow(file.text, offset, limit);
        if (window === undefined) throw new ToolError(`${name} is a binary file (${info?.size ?? 0} bytes).`);
        const { lines, more } = window;
        if (lines.length === 0) {
          return offset === 1
            ? { text: `${name} is empty.`, summary: "empty" }
            : { text: `${name} has no line ${offset}.`, summary: "no such line" };
        }
        const numbered = lines.map((line, index) => `${offset + index}\t${line}`);
        const last = offset + lines.length - 1;
        if (more !== undefined) numbered.push(`[${more}; read on with offset ${last + 1}]`);
        const note = file?.unsaved !== true
          ? ""
          : `[${name} as in the user's editor, with unsaved changes]\n`;
        const summary = counted(lines.length, "line");
        return { text: note + numbered.join("\n"), summary };
      },
    };
  },
});

/** Undefined for what is no image. @throws {ToolError} for one that cannot be shown */
function showImage(path: string, name: string, room: ImageRoom): ToolResult | undefined {
  const file = readImage(path, LARGEST_IMAGE);
  const info = file === undefined ? undefined : imageInfo(file.bytes);
  if (file === undefined || info === undefined) return undefined;
  const { bytes, size } = file;
  const summary = `${info.format} image, ${measures(info, size)}`;
  const what = `${name} is a ${info.format} image (${measures(info, size)})`;
  if (!room.sees) return { text: `${what}; this model cannot see images.`, summary };
  return { text: `${what}; it is attached.`, summary, images: [room.take(name, info, bytes, size)] };
}
