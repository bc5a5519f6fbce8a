/** What must hold of a database after a crash. */
import type { DatabaseSync } from "node:sqlite";
import { inflateRawSync } from "node:zlib";

/** An update as Lua was given it, see protocol/ui.ts. */
export interface Shown {
  readonly type: string;
  readonly id?: string;
  readonly message?: string;
  readonly text?: string;
  readonly status?: string;
  readonly path?: string;
  readonly reason?: string;
}

interface StoredEvent {
  readonly type: string;
  readonly id?: string;
  readonly message?: string;
  readonly text?: string | { readonly $blob: string };
  readonly status?: string;
  readonly change?: { readonly path: string };
}

export function checkDatabase(database: DatabaseSync): readonly string[] {
  const integrity = database.prepare("PRAGMA integrity_check").all().map((row) =>
    String(row.integrity_check)
  );
  const foreign = database.prepare("PRAGMA foreign_key_check").all().map((row) => JSON.stringify(row));
  return [...integrity.filter((line) => line !== "ok"), ...foreign];
}

/** Of turns that have ended, and of the last one. */
function storedEvents(database: DatabaseSync): readonly StoredEvent[] {
  const ended = database.prepare("SELECT log FROM turns WHERE log IS NOT NULL ORDER BY session, turn").all()
    .flatMap(({ log }): [number, number, string, number, StoredEvent][] =>
      log instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(inflateRawSync(log))) : []
    ).map(([, , , , event]) => event);
  const rows = database.prepare("SELECT payload FROM log ORDER BY session, turn, seq").all()
    .map(({ payload }): StoredEvent => JSON.parse(String(payload)));
  return [...ended, ...rows];
}

/** Updates that were shown and of which the database knows nothing. */
export function lostUpdates(shown: readonly Shown[], database: DatabaseSync): readonly string[] {
  const events = storedEvents(database);
  const texts = joined(events.map((event) => ({ ...event, text: whole(event.text, database) })));
  const lost: string[] = [];
  for (const [key, text] of joined(shown)) {
    // Empty lines at the beginning are not shown.
    if (!(texts.get(key) ?? "").trimStart().startsWith(text.trimStart())) {
      lost.push(`text: ${text.slice(-60)}`);
    }
  }
  for (const update of shown) {
    if (update.type === "tool" && (update.status === "completed" || update.status === "failed")) {
      const stored = events.some(({ type, id, status }) =>
        type === "tool_done" && id === update.id && status === update.status
      );
      if (!stored) lost.push(`${update.status} call ${update.id}`);
    }
    if (update.type === "tool" && update.status === "in_progress") {
      if (!events.some(({ type, id }) => type === "tool_running" && id === update.id)) {
        lost.push(`running call ${update.id}`);
      }
    }
    if (update.type === "file_modified") {
      if (!events.some(({ change }) => change?.path === update.path)) lost.push(`change of ${update.path}`);
    }
    if (update.type === "turn_done" && update.reason === "end_turn") {
      if (!events.some(({ type }) => type === "turn_done")) lost.push("the turn's end");
    }
  }
  return lost;
}

/** Texts and thoughts by message. */
function joined(
  pieces: readonly { readonly type: string; readonly message?: string; readonly text?: string }[],
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { type, message, text } of pieces) {
    if (message === undefined || text === undefined) continue;
    const key = `${type === "thought" ? "thought" : "text"} ${message}`;
    texts.set(key, (texts.get(key) ?? "") + text);
  }
  return texts;
}

function whole(text: StoredEvent["text"], database: DatabaseSync): string {
  if (text === undefined || typeof text === "string") return text ?? "";
  const row = database.prepare("SELECT deflated, bytes FROM blobs WHERE sha256 = ?").get(text.$blob);
  if (!(row?.bytes instanceof Uint8Array)) return "";
  return new TextDecoder().decode(row.deflated === 1 ? inflateRawSync(row.bytes) : row.bytes);
}
