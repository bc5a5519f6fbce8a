/** Modes, effort, and what sessions may do unasked. */
import { oneLine } from "../screen/visible.ts";
import type { ActionContext, Handlers } from "./action.ts";

export function modeActions(
  { chats, push, notice }: ActionContext,
): Handlers<"modes" | "mode" | "effort" | "permission"> {
  return {
    async modes(action) {
      const { request, chat } = action;
      const { modes, current } = await chats.at(action).session.modes();
      const list = modes.all.map(({ name, title, description, access }) => ({
        name,
        title: oneLine(title),
        description: oneLine(description),
        access,
      }));
      push({ type: "modes", request, modes: list, current });
      for (const problem of modes.problems) notice(chat, "warning", problem);
    },
    mode: (action) => chats.at(action).session.chooseMode(action.mode),
    permission: (action) => chats.at(action).session.choosePermission(action.permission),
    effort: (action) => chats.at(action).session.chooseEffort(action.effort),
  };
}
