/** The books of sessions that have read what strangers may have written. No engine can change them. */
import * as z from "../../deps/zod.ts";
import { FOREIGN_SOURCES } from "../../policy/foreign.ts";
import { SessionBook } from "./session_book.ts";

/** Where a session has read foreign text. */
const ForeignText = z.object({
  source: z.enum(FOREIGN_SOURCES),
  /** Its first turn that may have read it; 0 if that is unknown. */
  turn: z.int().min(0),
});
export type ForeignText = z.infer<typeof ForeignText>;

/** A forgotten session would be trusted again. */
const MOST_FOREIGN = 10_000;

/** The sessions that have used the network. */
export class NetworkBook extends SessionBook<boolean> {
  constructor(stateDir: string) {
    super(stateDir, "network", z.boolean());
  }
}

/** The sessions that have read foreign text. */
export class ForeignBook extends SessionBook<ForeignText> {
  constructor(stateDir: string) {
    super(stateDir, "foreign", ForeignText, MOST_FOREIGN);
  }
}

/** The number of turns that the supervisor has seen of each session: never more than it has. */
export class TurnBook extends SessionBook<number> {
  constructor(stateDir: string) {
    super(stateDir, "turns", z.int().min(0));
  }
}
