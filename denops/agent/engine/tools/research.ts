import * as z from "../../deps/zod.ts";
import { messageOf } from "../../shared/errors.ts";
import { defineTool, NOTHING, type Tool, type ToolContext, type ToolResult } from "./define.ts";
import { changes } from "./changes.ts";
import { list } from "./list.ts";
import { read } from "./read.ts";
import { search } from "./search.ts";
import { plural } from "../../shared/text/text.ts";

/** Only read-only tools; each has its own arguments. */
export const OPERATIONS: Readonly<Record<string, Tool>> = {
  search,
  find_files: list,
  list,
  read,
  git: changes,
};
const MOST_OPERATIONS = 10;
const LONGEST_SECTION = 8_000;

export const research = defineTool({
  name: "research",
  description:
    "Do several look-ups at the same time and get one report. Each operation is search (query, is_regex, " +
    "path, glob), find_files (query), list (path, glob), read (path, offset, limit) or git (path, since, query).",
  kind: "search",
  readOnly: true,
  needs: "search",
  special: true,
  schema: z.object({
    operations: z.array(z.looseObject({ type: z.enum(["search", "find_files", "list", "read", "git"]) }))
      .min(1).max(MOST_OPERATIONS),
  }),
  title: (args) =>
    `research ${Array.isArray(args.operations) ? plural(args.operations.length, "look-up") : "…"}`,

  prepare({ operations }, context) {
    return {
      access: NOTHING,
      async run(signal) {
        const sections = await Promise.all(
          operations.map(({ type, ...args }) => section(type, args, context, signal)),
        );
        const images = sections.flatMap((section) => section.images ?? []);
        return {
          text: sections.map(({ text }) => text).join("\n\n"),
          summary: plural(operations.length, "look-up"),
          ...(images.length === 0 ? {} : { images }),
        };
      },
    };
  },
});

async function section(
  type: string,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
  signal: AbortSignal,
): Promise<Pick<ToolResult, "text" | "images">> {
  const tool = OPERATIONS[type];
  const title = tool?.title(args) ?? type;
  try {
    // Preparing a call checks its permissions as usual.
    const prepared = await tool?.prepare(args, context, signal);
    const { text = "", images = [] } = await prepared?.run(signal, {}) ?? {};
    const cut = text.length > LONGEST_SECTION ? `${text.slice(0, LONGEST_SECTION)}\n[cut]` : text;
    return { text: `══ ${title} ══\n${cut}`, images };
  } catch (error) {
    if (signal.aborted) throw error;
    return { text: `══ ${title} ══\n${messageOf(error)}` };
  }
}
