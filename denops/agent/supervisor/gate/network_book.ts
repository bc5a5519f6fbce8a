/** The sessions that have used the network; an engine cannot make the supervisor forget them. */
import { z } from "../../deps/zod.ts";
import { SessionBook } from "./session_book.ts";

export class NetworkBook extends SessionBook<boolean> {
  constructor(stateDir: string) {
    super(stateDir, "network", z.boolean());
  }
}
