/** Merges the pieces of a streamed text into one event at the end of the turn. */
import type { LogEntry } from "../../log/entries.ts";
import type { AgentEvent } from "../../log/events.ts";

type Piece = Extract<AgentEvent, { type: "token" | "thought" }>;

/** Consecutive pieces: the first one's place, the whole text, and the other places. */
interface Run<Place> {
  readonly place: Place;
  readonly event: Piece;
  readonly others: readonly Place[];
}

/** Runs of several pieces in a log, in order. Pieces under one call do not interrupt others. */
export function runsOf<Place>(
  log: Iterable<{ readonly place: Place; readonly entry: LogEntry | undefined }>,
): Run<Place>[] {
  const runs: { place: Place; event: Piece; texts: string[]; others: Place[] }[] = [];
  const open = new Map<string | undefined, (typeof runs)[number]>();
  for (const { place, entry: event } of log) {
    const parent = event !== undefined && "parent" in event ? event.parent : undefined;
    const run = open.get(parent);
    if (event?.type !== "token" && event?.type !== "thought") {
      open.delete(parent);
    } else if (run?.event.type === event.type && run.event.message === event.message) {
      run.texts.push(event.text);
      run.others.push(place);
    } else {
      const begun = { place, event, texts: [event.text], others: [] };
      open.set(parent, begun);
      runs.push(begun);
    }
  }
  return runs.filter(({ others }) => others.length > 0)
    .map(({ place, event, texts, others }) => ({ place, event: { ...event, text: texts.join("") }, others }));
}
