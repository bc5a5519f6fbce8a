/** Reads the lists of a server, page by page: as many as are useful, whatever the server says. */
import * as z from "../../deps/zod.ts";
import { messageOf } from "../../shared/errors.ts";
import type { McpServerState } from "../../protocol/results/mcp.ts";
import { cleanLine, isPlainName } from "../../policy/clean.ts";
import { MOST_TOOLS } from "./tool_list.ts";

const MOST_PAGES = 50;
/** Rows of a list; one more shows that there are more. */
const MOST_ROWS = MOST_TOOLS + 1;
const LONGEST_NAME = 200;
const LONGEST_URI = 2_000;
const LONGEST_DESCRIPTION = 300;
const MOST_ARGUMENTS = 20;

type ListName = "tools" | "resources" | "resourceTemplates" | "prompts";

/** Name of a list → its request. */
export const LIST_METHODS = {
  tools: "tools/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
  prompts: "prompts/list",
} as const satisfies Readonly<Record<ListName, string>>;

const rows = z.array(z.unknown()).catch([]);
/** Each row is checked separately, so that one wrong row does not hide the others. */
export const Page = z.object({
  tools: rows,
  resources: rows,
  resourceTemplates: rows,
  prompts: rows,
  nextCursor: z.string().optional().catch(undefined),
});
type Page = z.infer<typeof Page>;

export interface ListRows {
  readonly rows: readonly unknown[];
  /** Why it is incomplete, one line. */
  readonly problem?: string;
}

/** Never rejects, unless the server has ended. @param ask requests one page */
export async function listRows(
  name: ListName,
  ask: (cursor: string | undefined) => Promise<Page>,
): Promise<ListRows> {
  const rows: unknown[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES && rows.length < MOST_ROWS; page++) {
    try {
      const answer = await ask(cursor);
      rows.push(...answer[name].slice(0, MOST_ROWS - rows.length));
      cursor = answer.nextCursor;
    } catch (error) {
      return {
        rows,
        problem: `Cannot list its ${name}: ${cleanLine(messageOf(error), LONGEST_DESCRIPTION)}`,
      };
    }
    if (cursor === undefined) return { rows };
    if (cursors.has(cursor)) return { rows, problem: `Its pages of ${name} do not end.` };
    cursors.add(cursor);
  }
  return rows.length >= MOST_ROWS ? { rows } : { rows, problem: `Its list of ${name} has too many pages.` };
}

const text = z.string().optional().catch(undefined);
const ResourceRow = z.object({ uri: text, uriTemplate: text, name: text, title: text });
const PromptRow = z.object({
  name: z.string(),
  description: text,
  arguments: z.array(z.object({ name: z.string(), required: z.boolean().optional().catch(undefined) })).catch(
    [],
  ),
});

/** A template is listed like a resource. */
export function resourcesOf(rows: readonly unknown[]): McpServerState["resources"] {
  return rows.flatMap((row) => {
    const { uri, uriTemplate = "", name, title } = ResourceRow.safeParse(row).data ?? {};
    const at = uri ?? uriTemplate;
    return isPlainName(at, LONGEST_URI)
      ? [{ uri: at, name: cleanLine(title ?? name ?? at, LONGEST_NAME) }]
      : [];
  });
}

export interface ServerPrompt {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[];
}

export function promptsOf(rows: readonly unknown[]): readonly ServerPrompt[] {
  return rows.flatMap((row) => {
    const prompt = PromptRow.safeParse(row).data;
    if (prompt === undefined || !isPlainName(prompt.name, LONGEST_NAME) || /\s/.test(prompt.name)) return [];
    return [{
      name: prompt.name,
      description: cleanLine(prompt.description ?? "", LONGEST_DESCRIPTION),
      arguments: prompt.arguments.filter(({ name }) => isPlainName(name, LONGEST_NAME)).slice(
        0,
        MOST_ARGUMENTS,
      )
        .map(({ name, required = false }) => ({ name, required })),
    }];
  });
}
