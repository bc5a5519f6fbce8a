/** What a message wants, from the model itself: one small request, so that a question runs without what writes. */
import { z } from "../../deps/zod.ts";
import { CHOSEN, type Mode, MODES } from "../context/modes.ts";
import { view } from "../context/view.ts";
import { wordsOf } from "../core/entries.ts";
import type { UserMessage } from "../core/events.ts";
import { ask } from "./ask.ts";
import type { TitlePorts } from "./title.ts";

/** Characters of the message, and of the model's last words before it, that the model gets. */
const MOST_TEXT = 4_000;
const MOST_BEFORE = 1_000;

const Intent = z.object({
  intent: z.enum(["analyze", "modify", "create", "mixed"]),
  needs_write: z.boolean(),
});

/** The row that a turn in mode auto runs in. An answer that is not clear is one that writes. @param before the model's last words */
export async function settle(
  asked: UserMessage,
  before: string,
  { model, environment, count }: TitlePorts,
  signal: AbortSignal,
): Promise<Mode> {
  const mode = MODES.intent;
  const said = before === "" ? "" : `<agent>\n${before.slice(-MOST_BEFORE)}\n</agent>\n`;
  const text = `${said}<user>\n${wordsOf(asked).slice(0, MOST_TEXT)}\n</user>`;
  const messages = [{ type: "user_message", origin: "engine", parts: [{ type: "text", text }] }] as const;
  const step = { model, tools: [], emit: () => {}, newCallId: (id: string) => id, count };
  const end = await ask(mode, view(messages, mode, { environment, tools: [] }), step, signal);
  const answer = end.type === "answered" ? Intent.safeParse(jsonIn(end.message.text)) : undefined;
  const writes = answer?.data === undefined || answer.data.needs_write || answer.data.intent !== "analyze";
  return writes ? CHOSEN.agent : CHOSEN.ask;
}

/** Models like to put it into a fence, or words before it. */
function jsonIn(text: string): unknown {
  const [found] = /\{[^{}]*\}/.exec(text) ?? [];
  try {
    return found === undefined ? undefined : JSON.parse(found);
  } catch {
    return undefined;
  }
}
