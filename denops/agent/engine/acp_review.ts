/** Answers what the screen asks about reviews; see protocol/requests.ts. */
import type { Answers } from "./acp_requests.ts";
import type { Reviews } from "./checkpoint/reviews.ts";
import { whoWrote } from "./checkpoint/why.ts";
import type { Contents } from "./core/checkpoints.ts";
import type { ReviewStore } from "./core/reviews.ts";
import type { Session } from "./session.ts";

export interface ReviewOptions {
  readonly reviews: Reviews;
  readonly store: ReviewStore;
  readonly contents: Contents;
  /** The session, or another that is open. @throws {ToolError} if there is none */
  sessionOf(id: string): Session | Promise<Session>;
}

/** Characters of a message that are told. */
const LONGEST = 200;

export function reviewAnswers({ reviews, store, contents, sessionOf }: ReviewOptions): Answers {
  return {
    async review({ path, texts }) {
      return { files: await reviews.list(path, texts) };
    },
    async review_update(update) {
      await reviews.update(update);
      return {};
    },
    async review_revert({ path }) {
      const { review, records } = reviews.changesOf(path);
      const session = await sessionOf(review.session);
      const { files } = await session.takeBack({ kind: "files", turn: review.turn, records });
      const file = files.find((one) => one.path === path || one.from === path) ?? files[0];
      return { file: file ?? { path, outcome: "unchanged" } };
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
          tool: tool !== "" || kind === "tool" ? tool : "run_terminal_command",
          time,
        },
      });
    },
  };
}
