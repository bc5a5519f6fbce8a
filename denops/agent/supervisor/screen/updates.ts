/** ACP version 1 updates of any agent → updates for the screen. Pure. */
import type { SessionUpdate, ToolCallContent, ToolCallUpdate } from "../../deps/acp_sdk.ts";
import { basename, relative, sep } from "node:path";
import { structuredPatch } from "../../deps/diff.ts";
import { isInside } from "../../policy/path.ts";
import { ours, ParentMeta, RetoldMeta, ThoughtMeta, ToolMeta, TurnMeta } from "../../protocol/extensions.ts";
import type { TurnFile } from "../../protocol/requests.ts";
import type { FileDiff, FileDiffs, ShownFile, ToolUpdate, Update } from "../../protocol/ui.ts";
import { defined } from "../../shared/records.ts";
import { LONGEST_NOTICE, middleCut, oneLine, prose, sessionTitle, visible } from "./visible.ts";

/** What one update may put on the screen. */
const MOST_STEPS = 100;
const LONGEST_OUTPUT = 20_000;
/** Commands, and options, of an agent. */
const MOST_LISTED = 200;
/** Names of what was handed over with a message. */
const MOST_GIVEN = 50;
/** Files whose diffs an approval shows, and the characters of them all. */
const MOST_DIFFS = 100;
const LARGEST_DIFFS = 500_000;
/** A comparison that takes longer is given up. */
const LONGEST_DIFF_MS = 100;
/** What one update may make Lua remember. */
const LONGEST_ID = 200;
const LONGEST_PATH = 4_096;

/** Names may hold anything; what is opened is the path itself. @param roots the project's folder first */
export function shownFiles(files: readonly TurnFile[], roots: readonly string[]): readonly ShownFile[] {
  const shown = (path: string): string => {
    const root = roots.find((one) => isInside(path, one)) ?? "";
    const name = relative(root, path).replaceAll(sep, "/");
    return middleCut(root === roots[0] ? name : `${basename(root)}/${name}`);
  };
  return files.map(({ path, from, kind, added, removed, opaque, count }) => ({
    ...{ path, shown: shown(path) + (count === undefined ? "" : "/"), kind, added, removed, opaque },
    ...defined({ count }),
    ...(from === undefined ? {} : { from: shown(from) }),
  }));
}

export function screenUpdates(chat: number, update: SessionUpdate): readonly Update[] {
  switch (update.sessionUpdate) {
    case "agent_message_chunk": {
      const text = update.content.type === "text" ? prose(update.content.text) : `[${update.content.type}]`;
      const message = update.messageId ?? "";
      return text === "" ? [] : [{ type: "text", chat, message, text, ...parentOf(update) }];
    }
    case "agent_thought_chunk": {
      const message = update.messageId ?? "";
      const done = ours(ThoughtMeta, update._meta);
      if (done !== undefined) {
        return [{
          type: "thought_done",
          chat,
          message,
          milliseconds: done.milliseconds,
          ...parentOf(update),
        }];
      }
      const retold = ours(RetoldMeta, update._meta);
      if (retold !== undefined) {
        return [{ type: "retold", chat, message, was: retold.was, ...parentOf(update) }];
      }
      const text = update.content.type === "text" ? prose(update.content.text) : "";
      return text === "" ? [] : [{ type: "thought", chat, message, text, ...parentOf(update) }];
    }
    case "tool_call":
    case "tool_call_update":
      return [toolUpdate(chat, update)];
    case "plan": {
      const steps = update.entries.slice(0, MOST_STEPS)
        .map(({ content, status }) => ({ step: oneLine(content), status }));
      const left = update.entries.length - steps.length;
      const more = left > 0 ? [{ step: `${left} more`, status: "pending" as const }] : [];
      return [{ type: "plan", chat, steps: [...steps, ...more] }];
    }
    case "usage_update": {
      const cost = update.cost ? { cost: update.cost.amount } : {};
      return [{ type: "usage", chat, used: update.used, size: update.size, ...cost }];
    }
    case "notice": {
      const severity = update.severity === "error" || update.severity === "warning"
        ? update.severity
        : "info";
      const text = [update.title, update.description ?? ""].filter((part) => part !== "").join(" ");
      return [{ type: "notice", chat, severity, text: oneLine(text, LONGEST_NOTICE) }];
    }
    case "session_info_update": {
      const began = ours(TurnMeta, update._meta);
      const title = typeof update.title === "string" ? sessionTitle(update.title) : undefined;
      return [
        ...began === undefined
          ? []
          : [{ type: "turn", chat, turn: began.turn, ...handedOver(began) } as const],
        ...title === undefined ? [] : [{ type: "title", chat, title } as const],
      ];
    }
    case "user_message_chunk": {
      // In the middle of a turn there is no number.
      const { turn, ...began } = ours(TurnMeta.partial(), update._meta) ?? {};
      const text = update.content.type === "text" ? prose(update.content.text) : `[${update.content.type}]`;
      if (text === "") return [];
      const of = defined({ turn });
      return [{ type: "user", chat, text, ...of, ...handedOver(began) }];
    }
    case "current_mode_update":
      return [{ type: "agent_state", chat, mode: oneLine(update.currentModeId) }];
    case "available_commands_update": {
      const commands = update.availableCommands.slice(0, MOST_LISTED)
        .map(({ name, description }) => ({ name: oneLine(name), description: oneLine(description) }));
      return [{ type: "agent_state", chat, commands }];
    }
    case "config_option_update": {
      const options = update.configOptions.slice(0, MOST_LISTED)
        .map(({ id, name, currentValue: value }) => ({
          id: oneLine(id),
          name: oneLine(name),
          value: oneLine(String(value)),
        }));
      return [{ type: "agent_state", chat, options }];
    }
    case "compaction_update":
    case "compaction_summary_chunk":
      // What a session is to its model changes nothing of what it is to its user.
      return [];
  }
}

function handedOver({ given = [] }: Pick<TurnMeta, "given">): { readonly given?: readonly string[] } {
  return given.length === 0 ? {} : { given: given.slice(0, MOST_GIVEN).map((label) => middleCut(label)) };
}

/** Agents may leave anything out, and may update a call that they never announced. */
export function toolUpdate(chat: number, call: ToolCallUpdate): ToolUpdate {
  const meta = ours(ToolMeta, call._meta) ?? {};
  const diff = diffText(call.content ?? []);
  const output = diff === "" ? outputText(call.content ?? []) : diff;
  const status = meta.stopped === true ? "stopped" : call.status;
  const path = call.locations?.[0]?.path;
  return {
    type: "tool",
    chat,
    id: call.toolCallId.slice(0, LONGEST_ID),
    ...(call.title ? { title: oneLine(call.title) } : {}),
    ...(status ? { status } : {}),
    ...(call.kind ? { kind: call.kind } : {}),
    ...(path === undefined || path.length > LONGEST_PATH ? {} : { path }),
    ...(output === "" ? {} : { output, is_diff: diff !== "" }),
    ...defined({ lines: meta.lines }),
    ...(meta.draft === undefined ? {} : { draft: shortened(meta.draft) }),
    ...defined({ added: meta.added, removed: meta.removed }),
    ...(meta.summary === undefined ? {} : { summary: oneLine(meta.summary) }),
    ...parentOf(call),
  };
}

function parentOf(
  { _meta }: { readonly _meta?: Readonly<Record<string, unknown>> | null },
): { readonly parent?: string } {
  const parent = ours(ParentMeta, _meta)?.parent;
  return parent === undefined ? {} : { parent: parent.slice(0, LONGEST_ID) };
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

/** What a call changes in files, as hunks; of several files each under its name. Empty if it has no diff. */
function diffText(content: readonly ToolCallContent[]): string {
  const diffs = content.flatMap((part) => part.type === "diff" ? [part] : []);
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

/** No lines stand behind the one before them. */
function range(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

/**
 * The diffs of a call, as an approval shows them. More than Neovim can compare while somebody types is left out.
 * @param root of the project: paths are shown relative to it
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
  { path, oldText, newText }: Extract<ToolCallContent, { type: "diff" }>,
  root: string,
): FileDiff {
  const before = oldText === null || oldText === undefined ? {} : { before: visible(oldText) };
  return {
    path: middleCut(isInside(path, root) ? relative(root, path) : path),
    after: visible(newText),
    ...before,
  };
}
