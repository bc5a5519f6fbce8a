/** ACP version 1 updates of any agent → updates for the screen. Pure. */
import type { SessionUpdate, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { basename, relative, sep } from "node:path";
import { z } from "zod";
import { isInside } from "../policy/path.ts";
import { ours, ToolMeta, TurnMeta } from "../protocol/extensions.ts";
import type { TurnFile } from "../protocol/requests.ts";
import type { FileDiff, ShownFile, ToolUpdate, Update } from "../protocol/ui.ts";
import { visible } from "./visible.ts";

const ThoughtMeta = z.object({ milliseconds: z.number() });

/** Names may hold anything; what is opened is the path itself. @param roots the project's folder first */
export function shownFiles(files: readonly TurnFile[], roots: readonly string[]): readonly ShownFile[] {
  const shown = (path: string): string => {
    const root = roots.find((one) => isInside(path, one)) ?? "";
    const name = relative(root, path).replaceAll(sep, "/");
    return visible(root === roots[0] ? name : `${basename(root)}/${name}`).replaceAll("\n", " ");
  };
  return files.map(({ path, from, kind, added, removed, opaque }) => ({
    ...{ path, shown: shown(path), kind, added, removed, opaque },
    ...(from === undefined ? {} : { from: shown(from) }),
  }));
}

export function screenUpdates(chat: number, update: SessionUpdate): readonly Update[] {
  switch (update.sessionUpdate) {
    case "agent_message_chunk": {
      const text = update.content.type === "text" ? visible(update.content.text) : `[${update.content.type}]`;
      return text === "" ? [] : [{ type: "text", chat, message: update.messageId ?? "", text }];
    }
    case "agent_thought_chunk": {
      const message = update.messageId ?? "";
      const done = ours(ThoughtMeta, update._meta);
      if (done !== undefined) {
        return [{ type: "thought_done", chat, message, milliseconds: done.milliseconds }];
      }
      const text = update.content.type === "text" ? visible(update.content.text) : "";
      return text === "" ? [] : [{ type: "thought", chat, message, text }];
    }
    case "tool_call":
    case "tool_call_update":
      return [toolUpdate(chat, update)];
    case "plan": {
      const steps = update.entries.map(({ content, status }) => ({
        step: oneLine(content),
        status,
      }));
      return [{ type: "plan", chat, steps }];
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
      return [{ type: "notice", chat, severity, text: visible(text) }];
    }
    case "session_info_update": {
      const turn = ours(TurnMeta, update._meta)?.turn;
      const title = typeof update.title === "string" ? oneLine(update.title) : undefined;
      return [
        ...turn === undefined ? [] : [{ type: "turn", chat, turn } as const],
        ...title === undefined ? [] : [{ type: "title", chat, title } as const],
      ];
    }
    default:
      // A message of the user's is on the screen before an agent says it.
      return [];
  }
}

function oneLine(text: string): string {
  return visible(text).replaceAll("\n", " ");
}

/** Agents may leave anything out, and may update a call that they never announced. */
export function toolUpdate(chat: number, call: ToolCallUpdate): ToolUpdate {
  const meta = ours(ToolMeta, call._meta) ?? {};
  const output = outputText(call.content ?? []);
  const path = call.locations?.[0]?.path;
  return {
    type: "tool",
    chat,
    id: call.toolCallId,
    ...(call.title ? { title: oneLine(call.title) } : {}),
    ...(call.status ? { status: call.status } : {}),
    ...(call.kind ? { kind: call.kind } : {}),
    ...(path === undefined ? {} : { path }),
    ...(output === "" ? {} : { output }),
    ...(meta.lines === undefined ? {} : { lines: meta.lines }),
    ...(meta.added === undefined ? {} : { added: meta.added }),
    ...(meta.removed === undefined ? {} : { removed: meta.removed }),
    ...(meta.summary === undefined ? {} : { summary: visible(meta.summary) }),
  };
}

function outputText(content: readonly ToolCallContent[]): string {
  return content.map((part) =>
    part.type === "content" && part.content.type === "text" ? visible(part.content.text) : ""
  )
    .filter((text) => text !== "").join("\n");
}

/** The diffs of a call, as an approval shows them: the first one's fields, and the others. */
export function diffOf(content: readonly ToolCallContent[] | null | undefined) {
  const [first, ...others] = (content ?? []).flatMap((part) => part.type === "diff" ? [fileDiff(part)] : []);
  return { ...first, ...(others.length === 0 ? {} : { others }) };
}

function fileDiff({ path, oldText, newText }: Extract<ToolCallContent, { type: "diff" }>): FileDiff {
  const before = oldText === null || oldText === undefined ? {} : { before: visible(oldText) };
  return { path, after: visible(newText), ...before };
}
