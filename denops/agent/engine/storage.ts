/** Opens the engine's storage: sessions, usage, reviews and facts about models. */
import { messageOf } from "../shared/errors.ts";
import { LazyIndex } from "./index/lazy.ts";
import { EditQuality } from "./checkpoint/edit_quality.ts";
import { Reviews } from "./checkpoint/review/reviews.ts";
import { Database } from "./store/database.ts";
import { SessionLocks } from "./store/locks.ts";
import { SqliteModelFacts } from "./store/model_facts.ts";
import { SessionList } from "./store/session_list.ts";
import { StoredSessions } from "./store/sessions.ts";
import { SqliteStore } from "./store/sqlite.ts";
import { SqliteUsage } from "./store/usage.ts";

/**
 * @param state the folder; undefined: nothing is stored beyond the process @param roots real paths, the
 * project first
 */
export async function openStorage(state: string | undefined, roots: readonly string[]) {
  const database = await openDatabase(state);
  const store: SqliteStore = new SqliteStore(database, (changes) => reviews.recorded(changes));
  const usage = new SqliteUsage(database);
  const quality = new EditQuality(store.reviews, store.blobs, usage.edits);
  const reviews = new Reviews(store.reviews, store.blobs, roots, quality);
  await store.writes.sweep();
  const sessions = new StoredSessions(database);
  const list = new SessionList(sessions, store.writes, state, roots[0] ?? "");
  list.note();
  const archive = { store, sessions, locks: new SessionLocks(state), list };
  const index = new LazyIndex(state, roots);
  return { database, archive, usage, reviews, index, facts: new SqliteModelFacts(database) };
}

/** Sessions and usage that end with it. */
export function storageInMemory() {
  const database = Database.inMemory();
  return {
    store: new SqliteStore(database),
    usage: new SqliteUsage(database),
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}

/** Users repair the state folder themselves: print one line and exit. */
async function openDatabase(state: string | undefined): Promise<Database> {
  try {
    return state === undefined ? Database.inMemory() : await Database.openIn(state);
  } catch (error) {
    console.error(messageOf(error));
    Deno.exit(1);
  }
}
