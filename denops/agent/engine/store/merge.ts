/** The pieces in which a text streamed in become one event when their turn has ended: nobody reads them apart. */
import type { LogEntry } from "../core/entries.ts";
import type { AgentEvent } from "../core/events.ts";

type Piece = Extract<AgentEvent, { type: "token" | "thought" }>;

/** Pieces that follow each other: the place of the first, the text of all, and the places of the others. */
export interface Run<Place> {
  readonly place: Place;
  readonly event: Piece;
  readonly others: readonly Place[];
}

/** The runs of more than one piece in a log, in order. */
export function runsOf<Place>(
  log: Iterable<{ readonly place: Place; readonly entry: LogEntry | undefined }>,
): Run<Place>[] {
  const runs: { place: Place; event: Piece; texts: string[]; others: Place[] }[] = [];
  let open: (typeof runs)[number] | undefined;
  for (const { place, entry: event } of log) {
    if (event?.type !== "token" && event?.type !== "thought") {
      open = undefined;
    } else if (open?.event.type === event.type && open.event.message === event.message) {
      open.texts.push(event.text);
      open.others.push(place);
    } else {
      open = { place, event, texts: [event.text], others: [] };
      runs.push(open);
    }
  }
  return runs.filter(({ others }) => others.length > 0)
    .map(({ place, event, texts, others }) => ({ place, event: { ...event, text: texts.join("") }, others }));
}
