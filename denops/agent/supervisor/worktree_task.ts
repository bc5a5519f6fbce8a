/** What the user asks about worktrees; the answers are `result`s of an `engine_answer`. */
import type { Action } from "../protocol/ui.ts";
import { defined } from "../shared/records.ts";
import type { Worktrees } from "./branches/worktrees.ts";

export type WorktreeAction = Extract<Action, { type: "worktree" }>;

/** @param stop ends what runs in a folder @throws {Error} one line */
export async function worktreeTask(
  { task, name: wanted, consent }: Pick<WorktreeAction, "task" | "name" | "consent">,
  worktrees: Worktrees,
  stop: (root: string) => Promise<void>,
): Promise<Record<string, unknown>> {
  const { origin, here } = worktrees;
  switch (task) {
    case "new":
      return { ...await worktrees.make(wanted) };
    case "list":
      return { origin, ...defined({ here }), worktrees: await worktrees.list() };
    case "remove": {
      const name = await worktrees.name(wanted);
      const path = worktrees.path(name);
      return { name, path, origin, ...await worktrees.remove(name, consent, () => stop(path)) };
    }
  }
}
