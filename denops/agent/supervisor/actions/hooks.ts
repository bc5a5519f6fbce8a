/** Lists the hooks, and takes the user's word about one. */
import { hiddenFiles } from "../../policy/rules.ts";
import { OneByOne } from "../../shared/slots.ts";
import type { ActionContext, Handlers } from "./action.ts";

export function hookActions({ chats, push }: ActionContext): Handlers<"hooks"> {
  // A list that is asked for after a change has it.
  const requests = new OneByOne();
  return {
    hooks: ({ request, change, ...action }) =>
      requests.run(async () => {
        const { session } = chats.at(action);
        const { client: { hooks, permissions } } = await session.project();
        const denied = hiddenFiles(permissions.files(action.chat));
        if (change !== undefined) await hooks.decide(change.id, change.approved, denied);
        push({ type: "hooks", request, hooks: await hooks.list(denied) });
      }),
  };
}
