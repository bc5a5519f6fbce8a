/** Shows and changes the index for searches by meaning. */
import { defined } from "../../shared/records.ts";
import { oneLine } from "../screen/visible.ts";
import type { ActionContext, Handlers } from "./action.ts";

export function indexActions({ chats, push }: ActionContext): Handlers<"index"> {
  return {
    async index({ request, change, ...action }) {
      const { problem, ...state } = await chats.at(action).session.request(
        "index",
        (sessionId) => ({ sessionId, change }),
      );
      const line = problem === undefined ? undefined : oneLine(problem);
      push({ type: "index", request, index: { ...state, ...defined({ problem: line }) } });
    },
  };
}
