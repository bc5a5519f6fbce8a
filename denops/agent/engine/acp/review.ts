/** Answers the screen's requests about reviews; see protocol/requests.ts. */
import type { AgentContext } from "../../deps/acp_sdk.ts";
import { linkMaker } from "./checkpoints.ts";
import { Screen } from "./screen.ts";
import type { Answers } from "./requests.ts";
import type { Capabilities } from "./updates.ts";
import { Restorer } from "../checkpoint/restore/restorer.ts";
import type { Restored } from "../checkpoint/restore/planner.ts";
import { type Reviews, unreviewed } from "../checkpoint/review/reviews.ts";
import { whoWrote } from "../checkpoint/review/why.ts";
import type { Store } from "../ports/store.ts";
import type { Editor } from "../ports/editor.ts";
import type { NewCheckpoint } from "../log/checkpoints.ts";
import type { ReviewStore, StoredReview } from "../log/reviews.ts";

export interface ReviewOptions {
  /** Real paths. */
  readonly roots: readonly string[];
  readonly reviews: Reviews;
  readonly store: Store & { readonly reviews: ReviewStore };
  editorOf(client: AgentContext, sessionId: string): Editor;
  can(): Capabilities;
}

/** Characters of a message that are sent. */
const LONGEST = 200;

export function reviewAnswers(options: ReviewOptions): Answers {
  const { reviews } = options;
  const { reviews: store, checkpoints: { contents } } = options.store;
  return {
    async review({ path, texts }) {
      return { files: await reviews.list(path, texts) };
    },
    async review_update(update) {
      await reviews.update(update);
      return {};
    },
    async review_revert({ paths }, client) {
      const bySession = Map.groupBy(
        paths.flatMap((path) => reviews.get(path) ?? []),
        ({ session }) => session,
      );
      const done: Restored[] = [];
      for (const [session, found] of bySession) {
        const turn = options.store.turn(session);
        done.push(...await revert(restorerOf(client, session, options), found, { session, turn }));
      }
      const files: Restored[] = [];
      for (const path of paths) {
        const restored = done.find((one) => one.path === path || one.from === path);
        // A file that took the name of a moved one has no other baseline than none.
        if (restored?.outcome === "restored") await reviews.update({ path, settled: true });
        files.push(restored ?? { path, outcome: "unchanged" });
      }
      return { files };
    },
    why({ path, line, text }) {
      const versions = (name: string, before?: number) => store.versions(name, before);
      const version = whoWrote(path, line, text, { versions, contents });
      if (version === undefined) return Promise.resolve({});
      const { session: sessionId, turn, kind, toolCall, time } = version;
      const { title, message, tool } = store.namesOf(sessionId, turn, toolCall);
      const [first = ""] = message.trimStart().split("\n");
      return Promise.resolve({
        found: {
          sessionId,
          title,
          turn,
          message: first.slice(0, LONGEST),
          tool: tool !== "" || kind === "tool" ? tool : "command",
          time,
        },
      });
    },
  };
}

/** Reverts the changes of files of one session, as one undo. */
async function revert(
  restorer: Restorer,
  reviews: readonly StoredReview[],
  at: Pick<NewCheckpoint, "session" | "turn">,
): Promise<readonly Restored[]> {
  // A file may have taken the old name of a moved one.
  const [moved, others] = [true, false].map((isMoved) =>
    reviews.filter(({ renamedFrom }) => (renamedFrom !== undefined) === isMoved)
  );
  const changes = [...moved ?? [], ...others ?? []].map(unreviewed);
  // Never cancelled: half of an undo helps nobody.
  const { signal } = new AbortController();
  const plan = await restorer.plan(changes, signal);
  const target = Math.min(...reviews.map(({ turn }) => turn));
  const { files } = await restorer.carryOut(plan, { ...at, kind: "undo", target }, signal);
  return files;
}

/** The session need not be open: its changes can be reviewed after its process has ended. */
function restorerOf(client: AgentContext, session: string, options: ReviewOptions): Restorer {
  const { roots, store, can } = options;
  const editor = options.editorOf(client, session);
  const { writes: journal, checkpoints } = store;
  return new Restorer({
    roots,
    editor,
    journal,
    store: checkpoints,
    makeLink: linkMaker(new Screen(client, session, can().extensions)),
  });
}
