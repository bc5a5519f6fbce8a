/** Records temporary files, so that none outlives a crash for long. */
import type { WriteJournal } from "../ports/store.ts";
import type { Database } from "./database.ts";

/** A write without a file after this time will never happen. */
const ABANDONED_MS = 60_000;

export class UnfinishedWrites implements WriteJournal {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  begin(...temporaries: readonly string[]): void {
    this.#database.run(
      "INSERT OR REPLACE INTO unfinished_writes (path, time) SELECT value, ? FROM json_each(?)",
      Date.now(),
      JSON.stringify(temporaries),
    );
  }

  end(...temporaries: readonly string[]): void {
    this.#database.run(
      "DELETE FROM unfinished_writes WHERE path IN (SELECT value FROM json_each(?))",
      JSON.stringify(temporaries),
    );
  }

  /** Removes what a crash left behind; a file that another engine is writing is locked, and stays. */
  async sweep(): Promise<void> {
    for (const { path, time } of this.#database.all("SELECT path, time FROM unfinished_writes")) {
      const found = await removeUnlessLocked(String(path));
      if (found === "locked" || (found === "nothing" && Date.now() - Number(time) < ABANDONED_MS)) continue;
      this.end(String(path));
    }
  }
}

async function removeUnlessLocked(path: string): Promise<"removed" | "locked" | "nothing"> {
  try {
    if (Deno.lstatSync(path).isSymlink) {
      await Deno.remove(path);
      return "removed";
    }
    using file = await Deno.open(path, { read: true, write: true });
    if (!await file.tryLock(true)) return "locked";
    await Deno.remove(path);
    return "removed";
  } catch {
    // Missing, or no longer ours to remove.
    return "nothing";
  }
}
