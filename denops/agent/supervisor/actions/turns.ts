/** Messages, side questions, and stopping. */
import { REQUESTS } from "../../protocol/requests.ts";
import { pageMentions } from "../../shared/text/message_words.ts";
import { UnableError } from "../agents/engine.ts";
import { rememberForAll } from "../client/own_rules.ts";
import { plainAnswer } from "../screen/visible.ts";
import { type ActionContext, type ActionOf, answer, type Handlers } from "./action.ts";

export function turnActions(
  context: ActionContext,
): Handlers<"open" | "open_session" | "prompt" | "steer" | "take_back" | "cancel" | "close" | "remember"> {
  const { chats, notice } = context;
  return {
    open: (action) => {
      chats.at({ ...action, session: undefined }).session.prepare(action.session, action.preloads);
    },
    async open_session(action) {
      await chats.at(action).session.open();
    },
    prompt: (action) => chats.at(action).send(action),
    steer: (action) => answer(context, action.request, steer(context, action)),
    take_back: ({ chat, text }) => chats.find(chat)?.takeBack(text),
    cancel: ({ chat }) => chats.find(chat)?.cancel(),
    close: ({ chat }) => chats.close(chat),
    /** Writes to the user's rules for all projects. An open session reads them again. */
    async remember(action) {
      const { session } = chats.at(action);
      const { client } = await session.project();
      const done = await rememberForAll(client, action.text, action.chat);
      const { id: sessionId, engine } = session;
      if (sessionId !== undefined) await engine?.request("reread_rules", { sessionId });
      notice(action.chat, "info", done);
    },
  };
}

async function steer({ chats }: ActionContext, action: ActionOf<"steer">): Promise<Record<string, unknown>> {
  const { chat, id, text, given: attachments, typed } = action;
  const { session } = chats.at(action);
  const { client } = await session.project();
  const { blocks: prompt, toolSet, hasSession } = await client.composer.message(chat, text, attachments);
  // It limits a turn or attaches a session or a page, so it begins the next one.
  const hasPages = typed && pageMentions(text).length > 0;
  if (toolSet !== undefined || hasSession || hasPages) return { end: "ended" };
  const params = (sessionId: string) => REQUESTS.steer.params.parse({ sessionId, id, prompt });
  return await session.request("steer", params).catch((error: unknown) => {
    // Agents that cannot be steered get it as the next message.
    if (error instanceof UnableError) return { end: "ended" };
    throw error;
  });
}

export function sideQuestionActions(context: ActionContext): Handlers<"aside" | "aside_stop"> {
  const { chats } = context;
  /** Questions that have not been sent to an engine yet. */
  const unsent = new Set<number>();
  const ask = async (action: ActionOf<"aside">): Promise<Record<string, unknown>> => {
    const { chat, request, text, staged } = action;
    const { session } = chats.at(action);
    unsent.add(request);
    const { client } = await session.project();
    const question = await client.composer.question(chat, text, staged);
    if (!unsent.delete(request)) return { text: "" };
    const id = String(request);
    const { text: reply } = await session.request("aside", (sessionId) => ({ sessionId, id, question }));
    return { text: plainAnswer(reply) };
  };
  return {
    aside: (action) => answer(context, action.request, ask(action)),
    async aside_stop({ chat, request }) {
      if (unsent.delete(request)) return;
      await chats.of(chat).session.request("aside", (sessionId) => ({ sessionId, id: String(request) }));
    },
  };
}
