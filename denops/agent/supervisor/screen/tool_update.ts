/** Converts tool calls and their diffs to updates for the screen. Pure. */
import type { ToolCallContent, ToolCallLocation, ToolCallUpdate } from "../../deps/acp_sdk.ts";
import { basename, relative } from "node:path";
import { structuredPatch } from "../../deps/diff.ts";
import { WRITE_OF_SESSION } from "../../policy/decide_files.ts";
import { isInside } from "../../policy/path.ts";
import { ours } from "../../protocol/extensions.ts";
import { ParentMeta, ToolMeta } from "../../protocol/update_meta.ts";
import type { FileDiff, FileDiffs, ScreenLocation, TextDiff, ToolUpdate } from "../../protocol/ui.ts";
import { defined } from "../../shared/records.ts";
import { middleCut, oneLine, shownId, visible } from "./visible.ts";

/** Characters of one update's output or diff. */
const LONGEST_OUTPUT = 20_000;
/** Files with diffs in an approval, and the characters of all diffs. */
const MOST_DIFFS = 100;
const LARGEST_DIFFS = 500_000;
/** Timeout of one comparison. */
const LONGEST_DIFF_MS = 100;
const LONGEST_PATH = 4_096;
/** Files and lines of a call. */
const MOST_LOCATIONS = 100;

type DiffContent = Extract<ToolCallContent, { type: "diff" }>;

/** Agents may omit any field, and may update a call that they never announced. */
export function toolUpdate(chat: number, call: ToolCallUpdate): ToolUpdate {
  const meta = ours(ToolMeta, call._meta) ?? {};
  const diffs = (call.content ?? []).flatMap((part) => part.type === "diff" ? [part] : []);
  const diff = diffText(diffs);
  const output = diff === "" ? outputText(call.content ?? []) : diff;
  const status = meta.stopped === true ? "stopped" : call.status;
  const locations = locationsOf(call.locations ?? [], diffs);
  return {
    type: "tool",
    chat,
    id: shownId(call.toolCallId),
    ...defined({
      title: call.title ? oneLine(call.title) : undefined,
      kind: call.kind ?? undefined,
      locations: locations.length === 0 ? undefined : locations,
      diffs: diffs.length === 0 ? undefined : diffs.map(textDiff),
      lines: meta.lines,
      draft: meta.draft === undefined ? undefined : shortened(meta.draft),
      added: meta.added,
      removed: meta.removed,
      summary: meta.summary === undefined ? undefined : oneLine(meta.summary),
    }),
    ...(status ? { status } : {}),
    ...(output === "" ? {} : { output, is_diff: diff !== "" }),
    // The engine remembers which writes the user has allowed for the session; the gate knows the rest.
    ...(meta.rule === WRITE_OF_SESSION ? { approvals: ["allowed for this session"] } : {}),
    ...parentOf(call),
  };
}

/** The call of the sub-agent that an update belongs to. */
export function parentOf(
  { _meta }: { readonly _meta?: Readonly<Record<string, unknown>> | null },
): { readonly parent?: string } {
  const parent = ours(ParentMeta, _meta)?.parent;
  return parent === undefined ? {} : { parent: shownId(parent) };
}

function outputText(content: readonly ToolCallContent[]): string {
  const parts = content.map((part) =>
    part.type === "content" && part.content.type === "text" ? part.content.text : ""
  );
  return shortened(parts.filter((part) => part !== "").join("\n"));
}

function shortened(text: string): string {
  return visible(text.length > LONGEST_OUTPUT ? `${text.slice(0, LONGEST_OUTPUT)}\n[cut]` : text);
}

/** A location for each diff, in the same order; otherwise the agent's. */
function locationsOf(
  locations: readonly ToolCallLocation[],
  diffs: readonly DiffContent[],
): readonly ScreenLocation[] {
  const lines = new Map(locations.map(({ path, line }) => [path, line]));
  const files = diffs.length === 0 ? locations : diffs.map(({ path }) => ({ path, line: lines.get(path) }));
  return files.slice(0, MOST_LOCATIONS).filter(({ path }) => path.length <= LONGEST_PATH).map(
    ({ path, line }) =>
      typeof line === "number" && Number.isSafeInteger(line) && line > 0 ? { path, line } : { path },
  );
}

function textDiff({ path, oldText, newText }: DiffContent): TextDiff {
  return { path, after: newText, ...defined({ before: oldText ?? undefined }) };
}

/** The hunks of a call, under its name for each of several files. Empty without a diff. */
function diffText(diffs: readonly DiffContent[]): string {
  const texts = diffs.map(({ path, oldText, newText }) => {
    const name = diffs.length > 1 ? [`── ${middleCut(basename(path))} ──`] : [];
    return [...name, ...hunks(oldText ?? "", newText)].join("\n");
  });
  return shortened(texts.join("\n"));
}

function hunks(before: string, after: string): readonly string[] {
  if (before.length + after.length > LARGEST_DIFFS) return ["too large to show"];
  const patch = structuredPatch("", "", before, after, "", "", { context: 3, timeout: LONGEST_DIFF_MS });
  if (patch === undefined) return ["too large to show"];
  return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...lines.filter((line) => !line.startsWith("\\")),
  ]);
}

/** An empty range starts at the line before it. */
function range(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

/**
 * The diffs of a call for its approval, without those that Neovim cannot compare quickly.
 * @param root of the project; paths inside it become relative
 */
export function diffsOf(content: readonly ToolCallContent[] | null | undefined, root: string): FileDiffs {
  const diffs = (content ?? []).flatMap((part) => part.type === "diff" ? [part] : []);
  let size = 0;
  const fitting = diffs.slice(0, MOST_DIFFS).filter(({ oldText, newText }) => {
    size += (oldText?.length ?? 0) + newText.length;
    return size <= LARGEST_DIFFS;
  });
  return { files: fitting.map((diff) => fileDiff(diff, root)), left_out: diffs.length - fitting.length };
}

function fileDiff(
  { path, oldText, newText }: DiffContent,
  root: string,
): FileDiff {
  return {
    path: middleCut(isInside(path, root) ? relative(root, path) : path),
    after: visible(newText),
    ...defined({ before: typeof oldText === "string" ? visible(oldText) : undefined }),
  };
}
