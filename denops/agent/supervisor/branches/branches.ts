/** The branches of sessions, and the user's messages about them. */
import { basename } from "node:path";
import { branchName, checkedOut, makeBranch } from "./git.ts";
import type { BranchOptions } from "./repository.ts";
import { visible } from "../screen/visible.ts";

type Tell = (severity: "info" | "warning", text: string) => void;

export class Branches {
  /** Serialises the switches of branches. */
  #order: Promise<unknown> = Promise.resolve();

  /**
   * Creates and checks out the branch of a new session; undefined if that is not possible. Never throws.
   * @param isShared whether another session is working in the project
   */
  begin(
    request: { readonly prefix: string; readonly text: string; readonly options: BranchOptions },
    isShared: () => boolean,
    tell: Tell,
  ): Promise<string | undefined> {
    const made = this.#order.then(() => this.#begin(request, isShared, tell));
    this.#order = made;
    return made;
  }

  async #begin(
    { prefix, text, options }: Parameters<Branches["begin"]>[0],
    isShared: () => boolean,
    tell: Tell,
  ): Promise<string | undefined> {
    const name = branchName(prefix, text, new Date(), crypto.randomUUID().slice(0, 4));
    const made = isShared()
      ? { type: "refused", why: "another session is at work in this project" } as const
      : await makeBranch(name, options);
    switch (made.type) {
      case "made": {
        const [root = "", ...others] = options.roots;
        const only = others.length === 0
          ? ""
          : `, in ${basename(root)} only: the other roots stay as they are`;
        tell("info", `On branch ${made.branch}${only}`);
        return made.branch;
      }
      case "refused":
        tell("warning", `No branch was made for this session: ${made.why}.`);
        return undefined;
      case "no_repository":
        return undefined;
    }
  }

  /** Warns if a session continues while another branch is checked out. Never throws. */
  async resumed(branch: string, options: BranchOptions, tell: Tell): Promise<void> {
    const now = await checkedOut(options);
    if (now === branch) return;
    const instead = now === undefined ? "no branch is checked out now" : `now ${now} is checked out`;
    tell(
      "warning",
      `This session was on branch ${visible(branch)}; ${instead}. The session continues without switching.`,
    );
  }
}
