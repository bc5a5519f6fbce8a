/** Keeps `sessions.json` beside the database up to date. */
import { join } from "node:path";
import {
  LARGEST_SESSIONS_FILE,
  LONGEST_SESSION_TITLE,
  MOST_SESSIONS,
  SESSIONS_FILE,
  type SessionsFile,
  type SessionState,
} from "../../protocol/sessions_file.ts";
import type { WriteJournal } from "../ports/store.ts";
import { writeAtomic } from "../files/write_atomic.ts";
import type { StoredSessions } from "./sessions.ts";

/** Written at once, then at most this often. */
const PAUSE_MS = 200;

export class SessionList {
  readonly #sessions: StoredSessions;
  readonly #journal: WriteJournal;
  readonly #folder: string | undefined;
  readonly #root: string;
  /** Session → number of unanswered questions to the user. */
  readonly #waiting = new Map<string, number>();
  #pause: ReturnType<typeof setTimeout> | undefined;
  #isNoted = false;
  #written: Promise<void> = Promise.resolve();

  /** @param folder of the database; undefined: nothing is written @param root real path of the project */
  constructor(sessions: StoredSessions, journal: WriteJournal, folder: string | undefined, root: string) {
    this.#sessions = sessions;
    this.#journal = journal;
    this.#folder = folder;
    this.#root = root;
  }

  /** Call it after a change. */
  note(): void {
    this.#isNoted = true;
    if (this.#pause !== undefined) return;
    void this.write();
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      if (this.#isNoted) this.note();
    }, PAUSE_MS);
    Deno.unrefTimer(this.#pause);
  }

  /** Marks the session as waiting for the user during `ask`. */
  async whileWaiting<Answer>(session: string, ask: () => Promise<Answer>): Promise<Answer> {
    this.#count(session, 1);
    try {
      return await ask();
    } finally {
      this.#count(session, -1);
    }
  }

  /** Writes pending changes. */
  async flush(): Promise<void> {
    if (this.#isNoted) await this.write();
    await this.#written;
  }

  /** Writes one version after another. A failed write only affects lists. */
  async write(): Promise<void> {
    this.#isNoted = false;
    this.#written = this.#written.then(() => this.#write()).catch(() => {});
    await this.#written;
  }

  async #write(): Promise<void> {
    if (this.#folder === undefined) return;
    const text = this.#text(MOST_SESSIONS);
    await writeAtomic(join(this.#folder, SESSIONS_FILE), text, 0o600, this.#journal, { isSynced: false });
  }

  /** As many sessions as fit. */
  #text(most: number): Uint8Array {
    const file: SessionsFile = {
      version: 1,
      root: this.#root,
      sessions: this.#sessions.newest(most).map((
        { id, title, created, updated, archived, turns, ended },
      ) => ({
        ...{ id, created, updated, archived, turns },
        title: title.slice(0, LONGEST_SESSION_TITLE).toWellFormed(),
        state: this.#state(id, ended),
      })),
    };
    const text = new TextEncoder().encode(JSON.stringify(file));
    return text.length > LARGEST_SESSIONS_FILE && most > 1 ? this.#text(most >> 1) : text;
  }

  /** For a session without an end, its lock tells whether it runs. */
  #state(id: string, ended: string | undefined): SessionState {
    if (ended === undefined) return this.#waiting.has(id) ? "waiting" : "running";
    if (ended === "failed") return "failed";
    return ended === "cancelled" ? "stopped" : "done";
  }

  #count(session: string, by: 1 | -1): void {
    const count = (this.#waiting.get(session) ?? 0) + by;
    if (count > 0) this.#waiting.set(session, count);
    else this.#waiting.delete(session);
    this.note();
  }
}
