/** Disk errors during a write. */
import { messageOf, TurnError } from "../../shared/errors.ts";

/** Turns a disk error into a failure for the user. @throws {TurnError} one line */
export function saving<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (/is back in an input/.test(messageOf(error))) {
      throw new TurnError("store", "This message is back in an input.", "Send it from there.");
    }
    const why = /full|readonly|disk I\/O|locked|unable to open/i.exec(messageOf(error));
    if (why === null) throw error;
    throw new TurnError(
      "store",
      `Cannot save the session: ${messageOf(error)}.`,
      "Free some space on the disk, or look whether its state folder can be written.",
    );
  }
}
