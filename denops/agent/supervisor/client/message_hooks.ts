/** The hooks of a session and its messages, which run before a message is sent. */
import type { ContentBlock } from "../../deps/acp_sdk.ts";
import type { HookInput } from "../../protocol/results/hooks.ts";
import { hookBlock } from "../project/attachments.ts";
import { hookRun } from "./answers/hooks.ts";
import type { ClientContext } from "./context.ts";
import { NO_CHAT } from "./permissions.ts";

interface MessageOfSession {
  readonly chat: number;
  readonly session: string;
  /** The session has no message yet. */
  readonly isNew: boolean;
  /** The user's words. */
  readonly text: string;
}

/**
 * @returns what the hooks say to the model
 * @throws {Error} one line, if a hook refuses the message: then it is not sent, and the user gets it back
 */
export async function messageHooks(
  client: ClientContext,
  { chat, session, isNew, text }: MessageOfSession,
  signal: AbortSignal,
): Promise<readonly ContentBlock[]> {
  const { hooks } = client;
  if (hooks.known.size === 0) return [];
  const run = async (input: HookInput) =>
    await hooks.run(input, hookRun(client, chat, session, input, signal));
  const isFirst = hooks.begin(session);
  try {
    const started = isFirst
      ? await run({ event: "SessionStart", source: isNew ? "startup" : "resume" })
      : undefined;
    const answer = await run({ event: "UserPromptSubmit", prompt: text });
    const reason = answer.decision === "deny" ? answer.reason ?? "it gave no reason" : answer.stop;
    if (reason !== undefined) throw new Error(`Not sent: a hook refuses the message: ${reason}`);
    return [...started?.context ?? [], ...answer.context].map(hookBlock);
  } catch (error) {
    // The next message is the first one.
    if (isFirst) hooks.end(session);
    throw error;
  }
}

/** The session is closed: its hooks run once, unasked, and only if they are approved. */
export async function endHooks(client: ClientContext, session: string): Promise<void> {
  const { hooks } = client;
  if (!hooks.end(session)) return;
  const input = { event: "SessionEnd", reason: "other" } as const;
  const run = hookRun(client, NO_CHAT, session, input, AbortSignal.timeout(MOST_END_MS));
  await hooks.run(input, { ...run, confirm: undefined }).catch(() => {});
}

/** Neovim may be about to exit. */
const MOST_END_MS = 1_500;

/** An approval waits for the user: their hooks for notifications run outside of any sandbox, if they are approved. */
export function notify(client: ClientContext, chat: number, session: string, title: string): void {
  const message = `Your approval is needed: ${title}`;
  const input = { event: "Notification", message, about: "permission_prompt" } as const;
  const run = hookRun(client, chat, session, input, AbortSignal.timeout(MOST_NOTIFY_MS));
  client.hooks.notify(input, run).catch(() => {});
}

const MOST_NOTIFY_MS = 600_000;
