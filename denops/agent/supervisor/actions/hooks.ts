/** Lists the hooks, and takes the user's word about one. */
import { hiddenFiles } from "../../policy/rules.ts";
import type { ActionContext, Handlers } from "./action.ts";

export function hookActions({ chats, push }: ActionContext): Handlers<"hooks"> {
  return {
    async hooks({ request, change, ...action }) {
      const { session } = chats.at(action);
      const { client: { hooks, permissions } } = await session.project();
      const denied = hiddenFiles(permissions.files(action.chat));
      if (change !== undefined) await hooks.decide(change.id, change.approved, denied);
      push({ type: "hooks", request, hooks: await hooks.list(denied) });
    },
  };
}
