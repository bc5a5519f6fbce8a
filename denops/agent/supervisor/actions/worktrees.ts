/** Worktrees of the project at the user's location, regardless of the chat's session. */
import { defined } from "../../shared/records.ts";
import { type ActionContext, type ActionOf, answer, type Handlers } from "./action.ts";

export function worktreeActions(context: ActionContext): Handlers<"worktree"> {
  return { worktree: (action) => answer(context, action.request, worktreeTask(context, action)) };
}

async function worktreeTask(
  { chats }: ActionContext,
  action: ActionOf<"worktree">,
): Promise<Record<string, unknown>> {
  const { client } = await chats.projects.of(action, action.chat);
  const worktrees = await client.worktrees();
  const { origin, here } = worktrees;
  switch (action.task) {
    case "new":
      return { ...await worktrees.make(action.name) };
    case "list":
      return { origin, ...defined({ here }), worktrees: await worktrees.list() };
    case "remove": {
      const name = await worktrees.name(action.name);
      const path = worktrees.path(name);
      const close = async () => {
        if (chats.all.some(({ worksIn }) => worksIn === path)) {
          throw new Error("Cannot remove the worktree: a turn is running there. Stop it first.");
        }
        await chats.projects.dropAt(path);
      };
      return { name, path, origin, ...await worktrees.remove(name, action.consent, close) };
    }
  }
}
