import { z } from "zod";
import { messageOf } from "../core/errors.ts";
import { counted, defineTool } from "./define.ts";
import { readFile } from "./read_file.ts";

const MOST_FILES = 20;

export const readFiles = defineTool({
  name: "read_files",
  description: "Read several text files at once, as read_file does, one section each.",
  kind: "read",
  readOnly: true,
  schema: z.object({ paths: z.array(z.string()).min(1).max(MOST_FILES) }),
  title: (args) => {
    const paths = Array.isArray(args.paths) ? args.paths.filter((path) => typeof path === "string") : [];
    return paths.length === 0 ? "read files" : `read ${paths.join(", ").slice(0, 120)}`;
  },

  async prepare({ paths }, context, signal) {
    // One that cannot be read does not keep the others from it.
    const prepared = await Promise.all(
      paths.map((path) =>
        readFile.prepare({ path }, context, signal).catch((error: unknown) => messageOf(error))
      ),
    );
    const calls = prepared.flatMap((call) => typeof call === "string" ? [] : [call]);
    return {
      touches: calls.flatMap(({ touches }) => touches),
      async run(signal) {
        const sections = await Promise.all(prepared.map(async (call, index) => {
          const text = typeof call === "string"
            ? call
            : await call.run(signal).then((result) => result.text, (error: unknown) => messageOf(error));
          return `── ${paths[index]} ──\n${text}`;
        }));
        return { text: sections.join("\n\n"), summary: counted(paths.length, "file") };
      },
    };
  },
});
