/** An earlier session of the project as an attachment: its title and its outcome. */
import { foldsInForce } from "../../context/folding/folds.ts";
import type { Store, StoredSession } from "../../ports/store.ts";
import type { EarlierSession } from "./attachments.ts";

/** Sessions whose titles are searched, the newest first. */
const MOST_SESSIONS = 500;

interface Sessions {
  readonly store: Pick<Store, "folds" | "messages">;
  /** The newest first. */
  readonly sessions: { page(after: undefined, most: number): readonly StoredSession[] };
}

/** @param self the current session @param word part of the title; empty: the newest session */
export function earlierSession(
  { store, sessions }: Sessions,
  self: string,
  word: string,
): EarlierSession | undefined {
  const wanted = word.toLowerCase();
  const found = sessions.page(undefined, MOST_SESSIONS).find(({ id, title }) =>
    id !== self && title.toLowerCase().includes(wanted)
  );
  if (found === undefined) return undefined;
  const { id, title, turns } = found;
  const { compaction } = foldsInForce(store.folds(id));
  const answer = store.messages(id, { first: turns }).findLast((entry) =>
    entry.type === "assistant_message" && entry.text.trim() !== ""
  );
  const last = answer?.type === "assistant_message" ? answer.text : undefined;
  const text = [
    ...compaction === undefined ? [] : [compaction.summary],
    ...last === undefined ? [] : [`Its last answer:\n${last}`],
  ].join("\n\n");
  return { title, text: text === "" ? "It has no answer yet." : text };
}
