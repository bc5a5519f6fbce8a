import { z } from "../../deps/zod.ts";
import { messageOf } from "../core/errors.ts";
import { counted, defineTool, filesOf, NOTHING, shown, type ToolResult } from "./define.ts";
import { readFile } from "./read_file.ts";

const MOST_FILES = 20;

type Section = Pick<ToolResult, "text" | "images">;

export const readFiles = defineTool({
  name: "read_files",
  description: "Read several files at once, as read_file does, one section each.",
  kind: "read",
  readOnly: true,
  schema: z.object({ paths: z.array(z.string()).min(1).max(MOST_FILES) }),
  title: (args) => {
    const paths = Array.isArray(args.paths) ? args.paths.filter((path) => typeof path === "string") : [];
    return paths.length === 0 ? "read files" : `read ${shown(paths.join(", "))}`;
  },

  async prepare({ paths }, context, signal) {
    // One that cannot be read does not keep the others from it.
    const prepared = await Promise.all(
      paths.map((path) =>
        readFile.prepare({ path }, context, signal).catch((error: unknown) => messageOf(error))
      ),
    );
    const read = prepared.flatMap((call) => typeof call === "string" ? [] : filesOf(call.accesses));
    return {
      accesses: read.length === 0 ? NOTHING : { kind: "file", files: read },
      async run(signal) {
        const results = await Promise.all(prepared.map(async (call): Promise<Section> => {
          if (typeof call === "string") return { text: call };
          return await call.run(signal, {}).catch((error: unknown) => ({ text: messageOf(error) }));
        }));
        const sections = results.map(({ text }, index) => `── ${paths[index]} ──\n${text}`);
        const images = results.flatMap((result) => result.images ?? []);
        return {
          text: sections.join("\n\n"),
          summary: counted(paths.length, "file"),
          ...(images.length === 0 ? {} : { images }),
        };
      },
    };
  },
});
