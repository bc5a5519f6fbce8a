/** Nothing but the database grows with the number of turns: what a turn reads, writes and sends is counted. */
import assert from "node:assert/strict";
import { type RunningEngine, startEngine } from "../../../tests/support/engine_session.ts";
import { assertEachLinear } from "../../../tests/support/growth.ts";
import { DEFAULT_TIMEOUT } from "../../../tests/support/project.ts";
import { IS_FULL } from "../../../tests/support/sample.ts";
import { storeWork } from "../../../tests/support/stored_work.ts";
import { noEditor } from "./acp/editor.ts";
import { checkpointAnswers } from "./acp/checkpoints.ts";
import type { Session } from "./session/session.ts";
import { Reviews } from "./checkpoint/review/reviews.ts";
import { SessionCheckpoints } from "./checkpoint/session_checkpoints.ts";
import { Database } from "./store/database.ts";
import { StoredSessions } from "./store/sessions.ts";
import { SqliteStore } from "./store/sqlite.ts";
import { SqliteUsage } from "./store/usage.ts";

const EDIT = 'call read_file {"path": "a.txt"}\n---\n' +
  'call edit_file {"path": "a.txt", "old_str": "X", "new_str": "XX"}\n---\nsay Done.';

/** Of what one piece of work does with the database. */
interface Count {
  statements: number;
  /** Of what was read and written. */
  rows: number;
  characters: number;
}

async function engineAfter(turns: number): Promise<RunningEngine> {
  return await startEngine({
    script: `${EDIT}\n---\n${EDIT}`,
    files: { "a.txt": "X\n".padEnd(5_000, "line\n") },
    // So that not even the shorter one fits into it.
    config: { title: false, context_window: 2_000 },
    store(database) {
      const store: SqliteStore = new SqliteStore(database, (changes) => reviews.recorded(changes));
      const reviews = new Reviews(store.reviews, store.blobs, ["/project"]);
      const usage = new SqliteUsage(database);
      storeWork({ database, store, usage }, { id: "s1", root: "/project", turns, calls: 2 });
      return store;
    },
  });
}

/** Tables that have more rows the more turns there are. */
const GROWING =
  /^SCAN (turns|log|usage|checkpoints|checkpoint_files|blobs|payload_blobs|search_texts|approvals)\b/;

async function counted(database: Database, work: () => Promise<unknown> | unknown): Promise<Count> {
  const count: Count = { statements: 0, rows: 0, characters: 0 };
  const { all, get, run } = database;
  const note = (sql: string, values: readonly unknown[], rows: readonly unknown[]) => {
    const plan = all.call(database, `EXPLAIN QUERY PLAN ${sql}`, ...values as string[]);
    for (const { detail } of sql.startsWith("PRAGMA") ? [] : plan) {
      assert.doesNotMatch(String(detail), GROWING, sql);
    }
    count.statements += 1;
    count.rows += rows.length;
    count.characters += JSON.stringify([values, rows]).length;
  };
  database.all = (sql, ...values) => {
    const rows = all.call(database, sql, ...values);
    note(sql, values, rows);
    return rows;
  };
  database.get = (sql, ...values) => {
    const row = get.call(database, sql, ...values);
    note(sql, values, row === undefined ? [] : [row]);
    return row;
  };
  database.run = (sql, ...values) => {
    note(sql, values, []);
    return run.call(database, sql, ...values);
  };
  await work();
  Object.assign(database, { all, get, run });
  return count;
}

/** Numbers have more digits, and the content that is compressed is another. */
function assertNoMore(many: number, few: number, what: string): void {
  assert.ok(many <= few * 1.1 + 20, `${what}: ${few} with few turns, ${many} with many`);
}

/** Also after 160 turns, one more row for each is far more than {@link assertNoMore} allows. */
const MANY = IS_FULL ? 400 : 160;

Deno.test(`a turn, and a fork, cost the same after 40 turns and after ${MANY}`, async () => {
  await using few = await engineAfter(40);
  await using many = await engineAfter(MANY);
  const turns: Count[] = [];
  const forks: Count[] = [];
  for (const engine of [few, many]) {
    // The first one brings the window to its size.
    await engine.prompt("Edit it");
    turns.push(await counted(engine.database, () => engine.prompt("And again")));
    const sessions = new StoredSessions(engine.database);
    forks.push(await counted(engine.database, () => sessions.fork("s1")));
  }
  for (const [what, [short, long]] of [["turn", turns], ["fork", forks]] as const) {
    assert.ok(short !== undefined && long !== undefined && short.statements > 3);
    for (const key of ["statements", "rows", "characters"] as const) {
      assertNoMore(long[key], short[key], `${key} of a ${what}`);
    }
  }
  const sent = ({ server }: RunningEngine) => JSON.stringify(server.requests.at(-1)?.body).length;
  assertNoMore(sent(many), sent(few), "characters of a request");
  const [notice = ""] = many.events.flatMap((event) => event.type === "notice" ? [event.text] : []);
  const [, last] = /^The session is longer than the model's window: it no longer sees turns 1 to (\d+)\.$/
    .exec(notice) ?? [];
  assert.ok(Number(last) > MANY * 0.75 && Number(last) < MANY, notice);
});

const LISTS: Readonly<Record<string, (checkpoints: SessionCheckpoints) => Promise<unknown>>> = {
  "all pages of the turns": async (checkpoints) =>
    (await checkpoints.turns()).map(({ files }) => checkpoints.count(files)).toArray(),
  "what has changed in all": (checkpoints) => checkpoints.changed(),
  "a preview from the first turn on": (checkpoints) =>
    checkpoints.preview(1, AbortSignal.timeout(DEFAULT_TIMEOUT)),
};

Deno.test("lists of checkpoints cost time in proportion to the turns; a page reads no content", async () => {
  const session = (turns: number) => {
    const database = Database.inMemory();
    const store = new SqliteStore(database);
    storeWork({ database, store, usage: new SqliteUsage(database) }, {
      id: "s1",
      root: "/project",
      turns,
      calls: 3,
    });
    const checkpoints = new SessionCheckpoints({
      ...{ session: "s1", roots: ["/project"], store: store.checkpoints, journal: store.writes },
      ...{ editor: noEditor, turn: () => turns, makeLink: () => Promise.resolve(), notice: () => {} },
    });
    const page = checkpointAnswers(() => ({
      checkpoints,
      turnsBegun: (first: number, last: number) => store.turnsBegun("s1", first, last),
    } as Session)).checkpoints;
    return { database, checkpoints, page: () => page?.({ sessionId: "s1", before: 31 }, {} as never) };
  };
  const known = new Map([40, 160].map((turns) => [turns, session(turns)]));
  await assertEachLinear(Object.keys(LISTS), (name, turns) => {
    const { checkpoints } = known.get(turns) ?? session(turns);
    return () => LISTS[name]?.(checkpoints);
  }, 40);
  const { database, checkpoints, page: ofMany } = known.get(160) ?? session(160);
  const { database: small, page: ofFew } = known.get(40) ?? session(40);
  const [few, many] = [await counted(small, ofFew), await counted(database, ofMany)];
  for (const key of ["statements", "rows", "characters"] as const) {
    assertNoMore(many[key], few[key], `${key} of a page`);
  }
  database.run("DELETE FROM blobs");
  const page = (await checkpoints.turns()).take(50).map((
    { turn, files },
  ) => [turn, checkpoints.count(files)]);
  assert.deepEqual(page.toArray(), Array.from({ length: 50 }, (_, at) => [160 - at, 1]));
});

Deno.test("what costs the square of its input is found", async () => {
  const square = (_: string, size: number) => () => {
    let sum = 0;
    for (let row = 0; row < size; row++) {
      for (let column = 0; column < size; column++) sum = (sum + row * column) | 0;
    }
    return sum;
  };
  // A busy machine hides it once in four runs, so one of ten has to find it.
  const runs = Array.from({ length: 10 }, (_, at) => `square ${at}`);
  await assert.rejects(assertEachLinear(runs, square, 100), /times as much/);
});
