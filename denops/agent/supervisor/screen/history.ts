/** Converts a stored part of a session to the updates that the screen got when it was live. Pure. */
import type { SessionUpdate } from "../../deps/acp_sdk.ts";
import * as z from "../../deps/zod.ts";
import type { HistoryEntry } from "../../protocol/requests.ts";
import type { Update } from "../../protocol/ui.ts";
import { defined } from "../../shared/records.ts";
import { screenUpdates, shownFiles } from "./updates.ts";
import { LONGEST_NOTICE, oneLine } from "./visible.ts";

const content = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text"), text: z.string() }),
  z.looseObject({ type: z.enum(["image", "audio", "resource", "resource_link"]) }),
]);
const _meta = z.record(z.string(), z.unknown()).nullish();
const messageId = z.string().nullish();

/** The SDK checks live updates; this checks the fields that screenUpdates reads. */
const ShownUpdate = z.discriminatedUnion("sessionUpdate", [
  z.looseObject({
    sessionUpdate: z.enum(["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"]),
    content,
    messageId,
    _meta,
  }),
  z.looseObject({
    sessionUpdate: z.enum(["tool_call", "tool_call_update"]),
    toolCallId: z.string(),
    title: z.string().nullish(),
    status: z.enum(["pending", "in_progress", "completed", "failed"]).nullish(),
    kind: z.string().nullish(),
    locations: z.array(z.looseObject({ path: z.string(), line: z.number().nullish() })).nullish(),
    content: z.array(z.discriminatedUnion("type", [
      z.looseObject({ type: z.literal("content"), content }),
      z.looseObject({
        type: z.literal("diff"),
        path: z.string(),
        oldText: z.string().nullish(),
        newText: z.string(),
      }),
      z.looseObject({ type: z.literal("terminal") }),
    ])).nullish(),
    _meta,
  }),
  z.looseObject({
    sessionUpdate: z.literal("plan"),
    entries: z.array(
      z.looseObject({ content: z.string(), status: z.enum(["pending", "in_progress", "completed"]) }),
    ),
  }),
  z.looseObject({
    sessionUpdate: z.literal("usage_update"),
    used: z.number(),
    size: z.number(),
    cost: z.looseObject({ amount: z.number() }).nullish(),
  }),
  z.looseObject({
    sessionUpdate: z.literal("notice"),
    severity: z.string(),
    title: z.string(),
    description: z.string().nullish(),
  }),
]);

/** @param approvals how calls were approved, by their ids */
export function historyUpdates(
  chat: number,
  entries: readonly HistoryEntry[],
  roots: readonly string[],
  approvals: ReadonlyMap<string, readonly string[]> = new Map(),
): readonly Update[] {
  return entries.flatMap((entry): readonly Update[] => {
    switch (entry.type) {
      case "update":
        return entryUpdates(chat, entry.update).map((update) => {
          const known = update.type === "tool" ? approvals.get(update.id) : undefined;
          return known === undefined ? update : { ...update, approvals: known };
        });
      case "turn_files": {
        const { type, turn, files, undone } = entry;
        return [{ type, chat, turn, files: shownFiles(files, roots), ...defined({ undone }) }];
      }
      case "turn_done": {
        const error = entry.error === undefined ? {} : { error: oneLine(entry.error, LONGEST_NOTICE) };
        return [{ type: "turn_done", chat, reason: entry.reason, ...error }];
      }
      case "calls_undone":
        return [{ type: "undone", chat, calls: entry.calls }];
    }
  });
}

/** Unknown updates are dropped, as in a live session. */
function entryUpdates(chat: number, update: unknown): readonly Update[] {
  const parsed = ShownUpdate.safeParse(update);
  if (!parsed.success) return [];
  return screenUpdates(chat, parsed.data as SessionUpdate);
}
