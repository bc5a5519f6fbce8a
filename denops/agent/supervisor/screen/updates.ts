/** Converts ACP version 1 updates of any agent to updates for the screen. Pure. */
import type { ContentBlock, SessionUpdate } from "../../deps/acp_sdk.ts";
import { basename, relative, sep } from "node:path";
import { isInside } from "../../policy/path.ts";
import { ours, TurnMeta } from "../../protocol/extensions.ts";
import { RetoldMeta, ThoughtMeta } from "../../protocol/update_meta.ts";
import type { TurnFile } from "../../protocol/requests.ts";
import type { ShownFile, Update } from "../../protocol/ui.ts";
import { defined } from "../../shared/records.ts";
import { parentOf, toolUpdate } from "./tool_update.ts";
import { LONGEST_NOTICE, middleCut, oneLine, prose, sessionTitle } from "./visible.ts";

/** Steps of a plan on screen. */
const MOST_STEPS = 100;
/** Commands and options of an agent. */
const MOST_LISTED = 200;
/** Names of a message's attachments. */
const MOST_ATTACHMENTS = 50;

/** `shown` is a safe name; Neovim opens `path`. @param roots the project's folder first */
export function shownFiles(files: readonly TurnFile[], roots: readonly string[]): readonly ShownFile[] {
  const labelOf = (path: string): string => {
    const root = roots.find((one) => isInside(path, one)) ?? "";
    const name = relative(root, path).replaceAll(sep, "/");
    return middleCut(root === roots[0] ? name : `${basename(root)}/${name}`);
  };
  return files.map(({ path, from, kind, added, removed, opaque, count, undone }) => ({
    path,
    shown: labelOf(path) + (count === undefined ? "" : "/"),
    kind,
    added,
    removed,
    opaque,
    ...defined({ count, undone, from: from === undefined ? undefined : labelOf(from) }),
  }));
}

type Kind = SessionUpdate["sessionUpdate"];
type UpdateOf<Name extends Kind> = Extract<SessionUpdate, { sessionUpdate: Name }>;

const SCREEN_UPDATES: {
  readonly [Name in Kind]: (chat: number, update: UpdateOf<Name>) => readonly Update[];
} = {
  agent_message_chunk(chat, update) {
    const text = contentText(update.content);
    const message = update.messageId ?? "";
    return text === "" ? [] : [{ type: "text", chat, message, text, ...parentOf(update) }];
  },
  agent_thought_chunk: thoughtUpdates,
  tool_call: (chat, update) => [toolUpdate(chat, update)],
  tool_call_update: (chat, update) => [toolUpdate(chat, update)],
  plan(chat, { entries }) {
    const steps = entries.slice(0, MOST_STEPS)
      .map(({ content, status }) => ({ step: oneLine(content), status }));
    const left = entries.length - steps.length;
    const more = left > 0 ? [{ step: `${left} more`, status: "pending" as const }] : [];
    return [{ type: "plan", chat, steps: [...steps, ...more] }];
  },
  usage_update: (chat, { used, size, cost }) => [
    { type: "usage", chat, used, size, ...defined({ cost: cost?.amount }) },
  ],
  notice(chat, update) {
    const severity = update.severity === "error" || update.severity === "warning" ? update.severity : "info";
    const text = [update.title, update.description ?? ""].filter((part) => part !== "").join(" ");
    return [{ type: "notice", chat, severity, text: oneLine(text, LONGEST_NOTICE) }];
  },
  session_info_update(chat, update) {
    const began = ours(TurnMeta, update._meta);
    const title = typeof update.title === "string" ? sessionTitle(update.title) : undefined;
    return [
      ...began === undefined
        ? []
        : [{ type: "turn", chat, turn: began.turn, ...attachments(began) } as const],
      ...title === undefined ? [] : [{ type: "title", chat, title } as const],
    ];
  },
  user_message_chunk(chat, update) {
    // A message in the middle of a turn has no number.
    const { turn, ...began } = ours(TurnMeta.partial(), update._meta) ?? {};
    const text = contentText(update.content);
    return text === "" ? [] : [{ type: "user", chat, text, ...defined({ turn }), ...attachments(began) }];
  },
  current_mode_update: (chat, { currentModeId }) => [
    { type: "agent_state", chat, mode: oneLine(currentModeId) },
  ],
  available_commands_update(chat, { availableCommands }) {
    const commands = availableCommands.slice(0, MOST_LISTED)
      .map(({ name, description }) => ({ name: oneLine(name), description: oneLine(description) }));
    return [{ type: "agent_state", chat, commands }];
  },
  config_option_update(chat, { configOptions }) {
    const options = configOptions.slice(0, MOST_LISTED).map(({ id, name, currentValue: value }) => ({
      id: oneLine(id),
      name: oneLine(name),
      value: oneLine(String(value)),
    }));
    return [{ type: "agent_state", chat, options }];
  },
  // Compaction changes the model's view of a session, not the user's.
  compaction_update: () => [],
  compaction_summary_chunk: () => [],
};

export function screenUpdates(chat: number, update: SessionUpdate): readonly Update[] {
  // The table's type says that each function takes its own kind.
  const updates = SCREEN_UPDATES[update.sessionUpdate] as (
    chat: number,
    update: SessionUpdate,
  ) => readonly Update[];
  return updates(chat, update);
}

function thoughtUpdates(chat: number, update: UpdateOf<"agent_thought_chunk">): readonly Update[] {
  const message = update.messageId ?? "";
  const parent = parentOf(update);
  const done = ours(ThoughtMeta, update._meta);
  if (done !== undefined) {
    return [{ type: "thought_done", chat, message, milliseconds: done.milliseconds, ...parent }];
  }
  const retold = ours(RetoldMeta, update._meta);
  if (retold !== undefined) return [{ type: "retold", chat, message, was: retold.was, ...parent }];
  const text = update.content.type === "text" ? prose(update.content.text) : "";
  return text === "" ? [] : [{ type: "thought", chat, message, text, ...parent }];
}

function contentText(content: ContentBlock): string {
  return content.type === "text" ? prose(content.text) : `[${content.type}]`;
}

function attachments(
  { given: labels = [] }: Pick<TurnMeta, "given">,
): { readonly given?: readonly string[] } {
  return labels.length === 0
    ? {}
    : { given: labels.slice(0, MOST_ATTACHMENTS).map((label) => middleCut(label)) };
}
