/**
 * Opens a database of every schema that ever landed, and compares it with what its own commit's engine read in it.
 * make_schemas.ts makes both.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { MODES } from "../../denops/agent/engine/context/modes.ts";
import { CALL_INTERRUPTED, view } from "../../denops/agent/engine/context/view.ts";
import type { Snapshot } from "../../denops/agent/engine/log/checkpoints.ts";
import { type LogEntry, wordsOf } from "../../denops/agent/engine/log/entries.ts";
import { Database, DATABASE_FILE } from "../../denops/agent/engine/store/database.ts";
import { MIGRATIONS } from "../../denops/agent/engine/store/upgrade/migrations.ts";
import { schemaOf, SCHEMAS } from "../../denops/agent/engine/store/upgrade/schema.ts";
import { StoredSessions } from "../../denops/agent/engine/store/sessions.ts";
import { SqliteStore } from "../../denops/agent/engine/store/sqlite.ts";
import { SqliteUsage } from "../../denops/agent/engine/store/usage.ts";
import { scratch } from "../support/project.ts";
import { sample } from "../support/sample.ts";
import { COMMITS } from "./make_schemas.ts";

const FOLDER = join(import.meta.dirname ?? "", "schemas");

/** SHA-256 of each step: one that was released is never changed, a new one is added here. */
const STEPS: readonly string[] = [
  "33596e0375cefd9e",
  "45f42313e69daf07",
  "35f92db0c9ec4660",
  "e75f6df5a8bdc998",
  "cac15628d90d9ac6",
  "df6f23deed8474a4",
  "3628b821a91b92e1",
];

Deno.test("steps are only added, and each schema that they make is known", () => {
  const hashes = MIGRATIONS.map((step) => createHash("sha256").update(step).digest("hex").slice(0, 16));
  assert.deepEqual(hashes, STEPS);
  using database = Database.inMemory();
  assert.equal(schemaOf(database), SCHEMAS.at(-1));
  assert.equal(SCHEMAS.length, MIGRATIONS.length);
});

interface OldEvent {
  readonly type: string;
  readonly message?: string;
  readonly text?: string;
  /** It was told by one engine only. */
  readonly used?: number;
}

interface Found {
  readonly sessions: readonly { readonly id: string }[];
  readonly messages: Readonly<Record<string, readonly ({ role: string } | LogEntry)[]>>;
  readonly events: Readonly<Record<string, readonly OldEvent[]>>;
  readonly checkpoints: unknown;
  readonly reviews: unknown;
  readonly tools: Readonly<Record<string, unknown>>;
  readonly usage: { readonly requests: number; readonly input: number };
  readonly approvals: number;
}

for (const commit of COMMITS) {
  Deno.test(`a database of commit ${commit} opens with everything in it`, async () => {
    await using kept = await keptOf(commit);
    const { expected, state } = kept;
    using database = await Database.openIn(state.root);
    assert.equal(database.takeNotice(), undefined);
    const store = new SqliteStore(database);
    assert.deepEqual(foundIn(database, store, expected), expected);
    assert.equal(schemaOf(database), SCHEMAS.at(-1));
    assert.deepEqual(database.all("PRAGMA foreign_key_check"), []);
    assert.equal(database.get("PRAGMA integrity_check")?.integrity_check, "ok");

    // They are found, and work goes on in them.
    const sessions = new StoredSessions(database);
    assert.ok(sessions.search("second line", 9).some(({ sessionId }) => sessionId === "s1"));
    assert.equal(new SqliteUsage(database).report("s1").turns.length > 0, expected.usage.requests > 0);
    const asked = { type: "user_message", origin: "user", parts: [{ type: "text", text: "Next" }] } as const;
    store.append("s1", { entries: [asked, { type: "turn_done", reason: "end_turn" }] });
    assert.deepEqual(store.messages("s1").at(-1), asked);

    // What it was like is kept, and the next start has nothing to do.
    if (commit === COMMITS.at(-1)) return;
    const names = Array.from(Deno.readDirSync(state.root), ({ name }) => name).sort();
    assert.deepEqual(names, ["", "-shm", "-wal", ".backup"].map((suffix) => DATABASE_FILE + suffix));
    const backup = await Deno.readFile(state.path(`${DATABASE_FILE}.backup`));
    assert.ok(backup.length > 0);
    using again = await Database.openIn(state.root);
    assert.equal(new SqliteStore(again).turn("s1"), 6);
    assert.deepEqual(await Deno.readFile(state.path(`${DATABASE_FILE}.backup`)), backup);
  });
}

Deno.test("a database that later steps were put onto, whatever it was before, opens with everything in it", async () => {
  for (const [commit, version] of [["ac199bf0", 1], ["fee16a18", 4]] as const) {
    await using kept = await keptOf(commit);
    const old = new DatabaseSync(kept.state.path(DATABASE_FILE));
    for (const step of MIGRATIONS.slice(version)) old.exec(step);
    old.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    old.close();
    using database = await Database.openIn(kept.state.root);
    assert.deepEqual(foundIn(database, new SqliteStore(database), kept.expected), kept.expected);
    assert.equal(schemaOf(database), SCHEMAS.at(-1));
  }
});

const OPEN = fileURLToPath(new URL("../support/open_to_kill.ts", import.meta.url));
const FULL_DISK = fileURLToPath(new URL("../support/full_disk.ts", import.meta.url));

async function deno(...args: readonly string[]) {
  const run = { args: ["run", "-A", "--no-check", "--quiet", ...args] };
  const { signal, stdout, stderr } = await new Deno.Command(Deno.execPath(), run).output();
  return {
    signal,
    out: new TextDecoder().decode(stdout).trim(),
    error: new TextDecoder().decode(stderr).trim(),
  };
}

/** Locked out by the version before: its first step was another one under the same number. */
const LOCKED_OUT = "39559bc7";

/** Changes of the disk while it is opened. */
const MOMENTS = 30;

Deno.test("killed at any moment of an upgrade: nothing is lost, and the next start does it", async () => {
  const moments = sample(Array.from({ length: MOMENTS }, (_, moment) => moment), 4);
  const signals = await Promise.all(moments.map(async (moment) => {
    await using kept = await keptOf(LOCKED_OUT);
    const { signal } = await deno(OPEN, kept.state.root, `${moment}`);
    using database = await Database.openIn(kept.state.root);
    assert.deepEqual(foundIn(database, new SqliteStore(database), kept.expected), kept.expected);
    assert.equal(database.takeNotice(), undefined);
    return signal;
  }));
  assert.ok(signals.filter((signal) => signal === "SIGKILL").length >= moments.length / 2, `${signals}`);
});

Deno.test("two engines that upgrade the same database at once: both have all of it", async () => {
  await using kept = await keptOf(LOCKED_OUT);
  const ends = await Promise.all([deno(OPEN, kept.state.root), deno(OPEN, kept.state.root)]);
  assert.deepEqual(ends.map(({ out, error }) => [out, error]), [['{"turns":[1,5]}', ""], [
    '{"turns":[1,5]}',
    "",
  ]]);
  using database = await Database.openIn(kept.state.root);
  assert.deepEqual(foundIn(database, new SqliteStore(database), kept.expected), kept.expected);
});

Deno.test({
  name:
    "a disk that is full while the copy is written: one line says so, nothing is changed, the next start works",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using kept = await keptOf(LOCKED_OUT);
    await using disk = await scratch({});
    const command = new Deno.Command("bwrap", {
      args: ["--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--size", "2000000", "--tmpfs", disk.root]
        .concat([Deno.execPath(), "run", "-A", "--no-check", "--quiet", FULL_DISK])
        .concat([kept.state.path(DATABASE_FILE), disk.root]),
    });
    const { stdout, stderr } = await command.output();
    const { error, names, isAsItWas, turns } = JSON.parse(new TextDecoder().decode(stdout) || "{}");
    assert.match(
      error,
      /^Cannot open .*agent\.db: it needs an upgrade, .* Free some space on the disk\.$/,
      new TextDecoder().decode(stderr),
    );
    assert.deepEqual([isAsItWas, turns, names], [true, 5, [DATABASE_FILE, "filler"]]);
  },
});

/** The database of this commit, and what its own engine found in it. */
async function keptOf(commit: string) {
  const read = async (suffix: string) => gunzipSync(await Deno.readFile(join(FOLDER, `${commit}${suffix}`)));
  const found: Found = JSON.parse(new TextDecoder().decode(await read(".json.gz")));
  const events = Object.entries(found.events).map(([id, events]) => [id, joined(events)]);
  const state = await scratch({ [DATABASE_FILE]: new Uint8Array(await read(".db.gz")) });
  return {
    expected: { ...found, events: Object.fromEntries(events) } as Found,
    state,
    [Symbol.asyncDispose]: () => state[Symbol.asyncDispose](),
  };
}

/** The pieces of a text are one event when their turn has ended, which not every engine did. */
function joined(events: readonly OldEvent[]): readonly OldEvent[] {
  return events.reduce<readonly OldEvent[]>((done, { used: _, ...event }) => {
    const last = done.at(-1);
    const isPiece = event.type === "token" || event.type === "thought";
    if (!isPiece || last?.type !== event.type || last.message !== event.message) return [...done, event];
    return [...done.slice(0, -1), { ...last, text: `${last.text}${event.text}` }];
  }, []);
}

/** In the shape in which the earlier engine's readers told it. */
function foundIn(database: Database, store: SqliteStore, expected: Found): Found {
  const ids = expected.sessions.map(({ id }) => id);
  const each = <Value>(read: (id: string) => Value) => Object.fromEntries(ids.map((id) => [id, read(id)]));
  const text = (snapshot: Snapshot) =>
    snapshot.type === "file" ? new TextDecoder().decode(store.blobs.get(snapshot.blob)) : snapshot.type;
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
  return {
    sessions: database.all("SELECT * FROM sessions ORDER BY created, id").map((row) => (
      Object.fromEntries(Object.keys(expected.sessions[0] ?? {}).map((name) => [name, row[name]])) as {
        id: string;
      }
    )),
    messages: each((id) => {
      const stored = store.messages(id);
      if (expected.messages[id]?.some((message) => "role" in message) !== true) return plain(stored);
      const { messages } = view(stored, MODES.agent, { environment: { roots: [], os: "" }, tools: [] });
      // What a view adds for a call that has not ended.
      return plain(messages.filter(({ text }) => text !== CALL_INTERRUPTED));
    }),
    events: each((id) => {
      const isOld = expected.events[id]?.some(({ type }) => type === "turn_started");
      return joined(
        plain(
          store.events(id).map(({ entry }) =>
            isOld && entry.type === "user_message" ? { type: "turn_started", text: wordsOf(entry) } : entry
          ),
        ),
      );
    }),
    checkpoints: each((id) =>
      plain(
        store.checkpoints.list(id).map(({ files, alive: _, time: __, ...checkpoint }) => ({
          ...checkpoint,
          files: files.map(({ path, before, after, undoneBy }) => ({
            path,
            before: text(before),
            after: text(after),
            undoneBy,
          })),
        })),
      )
    ),
    reviews: store.reviews.list().map(({ path, session, turn, before, after }) => ({
      ...{ path, session, turn },
      before: text(before),
      after: text(after),
    })),
    tools: each((id) =>
      Object.fromEntries(
        store.remembered(id).filter(({ topic }) => topic === "tool").map(({ name, value }) => [name, value]),
      )
    ),
    usage: {
      requests: Number(database.get("SELECT count(*) AS count FROM usage")?.count),
      input: Number(database.get("SELECT total(input) AS input FROM usage")?.input),
    },
    approvals: Number(database.get("SELECT count(*) AS count FROM approvals")?.count),
  };
}
