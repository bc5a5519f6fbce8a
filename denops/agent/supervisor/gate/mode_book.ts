/** The mode that the user chose for each session; an engine cannot widen it. */
import * as z from "../../deps/zod.ts";
import { MODE_ACCESSES } from "../../protocol/modes.ts";
import { SessionBook } from "./session_book.ts";

/** `access`: the mode's access when the user chose it. */
const ModeChoice = z.object({ mode: z.string(), access: z.enum(MODE_ACCESSES) });
export type ModeChoice = z.infer<typeof ModeChoice>;

export class ModeBook extends SessionBook<ModeChoice> {
  constructor(stateDir: string) {
    super(stateDir, "modes", ModeChoice);
  }
}
