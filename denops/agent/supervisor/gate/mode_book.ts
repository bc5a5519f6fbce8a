/**
 * Which mode each session is in, by what the user has chosen: what an engine says of it widens nothing.
 */
import { z } from "../../deps/zod.ts";
import { MODE_ACCESSES } from "../../protocol/modes.ts";
import { SessionBook } from "./session_book.ts";

/** `access`: what the mode could change when it was chosen. */
const Choice = z.object({ mode: z.string(), access: z.enum(MODE_ACCESSES) });
export type Choice = z.infer<typeof Choice>;

export class ModeBook extends SessionBook<Choice> {
  constructor(stateDir: string) {
    super(stateDir, "modes", Choice);
  }
}
