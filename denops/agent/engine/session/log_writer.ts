/** Writes a session's log, and retries failed entries later. */
import { trace } from "../../protocol/trace.ts";
import { hasHappened } from "../log/entry_kinds.ts";
import { TurnError } from "../../shared/errors.ts";
import type { Emit } from "../log/events.ts";
import type { Entries, Store } from "../ports/store.ts";

export class LogWriter {
  readonly #session: string;
  readonly #store: Pick<Store, "append">;
  readonly #publish: Emit;
  /** Entries that could not be stored yet, in order. */
  readonly #unsaved: Entries[] = [];

  /** @param session its id */
  constructor(session: string, store: Pick<Store, "append">, publish: Emit) {
    this.#session = session;
    this.#store = store;
    this.#publish = publish;
  }

  /**
   * Throws if the entries cannot be stored. Entries that report external changes are kept in memory instead,
   * and stored as soon as possible.
   * @throws {TurnError}
   */
  save(entries: Entries): void {
    try {
      this.saveUnsaved();
      const since = trace?.now();
      this.#store.append(this.#session, entries);
      trace?.span("append", since);
    } catch (error) {
      if (!(error instanceof TurnError) || !hasHappened(entries.entries)) throw error;
      if (this.#unsaved.length === 0) {
        const text =
          `${error.reason} What was done is kept in memory, and saved as soon as that is possible.`;
        this.#publish({ type: "notice", severity: "warning", text });
      }
      this.#unsaved.push(entries);
    }
  }

  /** @throws {TurnError} */
  saveUnsaved(): void {
    for (let next = this.#unsaved[0]; next !== undefined; next = this.#unsaved[0]) {
      this.#store.append(this.#session, next);
      this.#unsaved.shift();
    }
  }
}
