/** A database that is damaged, wherever: it is set aside, what can be read is there, and work goes on. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { answered, asked } from "../../../../../tests/support/entries.ts";
import { type Scratch, scratch } from "../../../../../tests/support/project.ts";
import { IS_FULL, sample } from "../../../../../tests/support/sample.ts";
import { storeWork } from "../../../../../tests/support/stored_work.ts";
import { Database, DATABASE_FILE } from "../database.ts";
import { indexOthers } from "../search/search_index.ts";
import { StoredSessions } from "../sessions.ts";
import { SqliteStore } from "../sqlite.ts";
import { SqliteUsage } from "../usage.ts";

const SESSIONS = ["s1", "s2", "s3"];
const TURNS = 6;
const END = { type: "turn_done", reason: "end_turn" } as const;

/** Some sessions, as one file. */
async function stored(): Promise<Uint8Array> {
  await using state = await scratch();
  {
    using database = await Database.openIn(state.root);
    const store = new SqliteStore(database);
    const usage = new SqliteUsage(database);
    for (const id of SESSIONS) {
      storeWork({ database, store, usage }, { id, root: "/p", turns: TURNS, calls: 8 });
    }
  }
  return await Deno.readFile(state.path(DATABASE_FILE));
}

const whole = await stored();
const PAGE = 8192;
const pages = whole.length / PAGE;

interface Page {
  readonly table: string;
  readonly type: string;
  /** Rows that are in it. */
  readonly cells: number;
}

/** Every page of a tree, by its number. */
async function pagesOf(bytes: Uint8Array): Promise<ReadonlyMap<number, Page>> {
  await using folder = await scratch({ [DATABASE_FILE]: bytes });
  using database = new DatabaseSync(folder.path(DATABASE_FILE), { readOnly: true });
  const rows = database.prepare("SELECT name, pageno, pagetype, ncell FROM dbstat").all();
  return new Map(rows.map(({ name, pageno, pagetype, ncell }) => [
    Number(pageno),
    { table: String(name), type: String(pagetype), cells: Number(ncell) },
  ]));
}

const trees = await pagesOf(whole);

type Damage = "random" | "zeros" | "half";

function damaged(numbers: readonly number[], damage: Damage): Uint8Array {
  const bytes = new Uint8Array(whole);
  for (const number of numbers) {
    const page = bytes.subarray((number - 1) * PAGE, number * PAGE);
    if (damage === "zeros") page.fill(0);
    else crypto.getRandomValues(damage === "half" ? page.subarray(PAGE / 2) : page);
  }
  return bytes;
}

interface Left {
  readonly notices: readonly string[];
  readonly sessions: readonly string[];
  readonly turns: number;
  readonly checkpoints: number;
  /** Sessions that have what was said last. */
  readonly found: readonly string[];
}

/** All that a user may do with what is stored, as the engine does it. */
async function used(state: Scratch): Promise<Left> {
  using database = await Database.openIn(state.root);
  const store = new SqliteStore(database);
  const sessions = new StoredSessions(database);
  const notices: string[] = [];
  const look = () => {
    const notice = database.takeNotice();
    if (notice !== undefined) notices.push(notice);
  };
  look();
  for (const { id } of sessions.list(false)) {
    store.entries(id);
    store.remembered(id);
    store.checkpoints.list(id);
    sessions.fork(id);
  }
  sessions.search("parser", 9);
  new SqliteUsage(database).report("s1");
  store.reviews.list();
  store.createSession({ id: "new", root: "/p", model: "m" });
  store.append("new", { entries: [asked("Hello"), answered("Here I am"), END] });
  for (const { id } of sessions.list(false)) {
    store.append(id, { entries: [asked("On"), answered("Yes"), END] });
  }
  look();
  assert.deepEqual(store.messages("new").at(1), answered("Here I am"));
  const own = sessions.list(false).filter(({ id }) => SESSIONS.includes(id));
  return {
    notices,
    sessions: own.map(({ id }) => id).sort(),
    turns: Number(database.get("SELECT count(*) AS count FROM turns WHERE asked LIKE 'Turn %'")?.count),
    checkpoints: Number(database.get("SELECT count(*) AS count FROM checkpoint_files")?.count),
    found: sessions.search("am", 9).map(({ sessionId }) => sessionId),
  };
}

Deno.test("pages that are damaged cost the rows in them, and no others", async () => {
  const before = await used(await scratch({ [DATABASE_FILE]: whole }));
  assert.deepEqual(before.notices, []);
  assert.equal(before.turns, TURNS * SESSIONS.length);
  const number = fc.integer({ min: 1, max: pages });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(number, { minLength: 1, maxLength: 4 }),
      fc.constantFrom<Damage>("random", "zeros", "half"),
      async (numbers, damage) => {
        await using state = await scratch({ [DATABASE_FILE]: damaged(numbers, damage) });
        const left = await used(state);
        assert.ok(left.notices.length <= 1, left.notices.join("\n"));
        const most = (table: string) =>
          numbers.reduce((sum, number) => {
            const page = trees.get(number);
            if (page?.table !== table) return sum;
            return sum + (page.type === "overflow" ? 1 : page.cells);
          }, 0);
        // Without the map of pages what is below a damaged page is not found.
        if (numbers.includes(2)) return;
        assert.ok(before.turns - left.turns <= most("turns"), `${left.turns} turns of ${before.turns}`);
        const lost = before.checkpoints - left.checkpoints;
        const mostLost = most("checkpoint_files") + 99 * most("checkpoints") + 99 * most("sessions");
        assert.ok(lost <= mostLost, `${left.checkpoints} of ${before.checkpoints}`);
        // What SQLite takes for the search's rows may be others than those that were there.
        if (left.notices.length > 0 || most("search_texts") === 0) assert.deepEqual(left.found, ["new"]);
        if (most("turns") === 0) assert.deepEqual(left.sessions, SESSIONS);
      },
    ),
    { numRuns: IS_FULL ? 400 : 6 },
  );
});

Deno.test("a file that ends too early, or is no database, costs what is missing", async () => {
  const before = TURNS * SESSIONS.length;
  for (const length of [0, 50, 5_000, PAGE * 3 + 100, PAGE * Math.floor(pages / 2)]) {
    await using state = await scratch({ [DATABASE_FILE]: whole.slice(0, length) });
    const left = await used(state);
    // An empty file is a new database.
    assert.equal(left.notices.length, length === 0 ? 0 : 1, `${length}`);
    assert.deepEqual(left.found, ["new"]);
    const lost = trees.entries().filter(([number, { table }]) => table === "turns" && number * PAGE > length)
      .reduce((sum, [, { type, cells }]) => sum + (type === "overflow" ? 1 : cells), 0);
    if (length > PAGE * 3) assert.ok(left.turns >= before - lost, `${length}: ${left.turns}`);
  }
});

/** As a kill leaves it: "late" is in the log beside the file alone. */
async function killed(): Promise<Readonly<Record<string, Uint8Array>>> {
  await using state = await scratch({ [DATABASE_FILE]: whole });
  using database = await Database.openIn(state.root);
  const store = new SqliteStore(database);
  store.createSession({ id: "late", root: "/p", model: "m" });
  store.append("late", { entries: [asked("Turn late"), answered("Late"), END] });
  const names = ["", "-wal"].map((suffix) => DATABASE_FILE + suffix);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await Deno.readFile(state.path(name))] as const)),
  );
}

Deno.test("what a kill has left in the log beside a damaged file is read, and garbage in it costs no more", async () => {
  const files = await killed();
  const wal = files[`${DATABASE_FILE}-wal`] ?? new Uint8Array();
  const leaf = [...trees].find(([, { table, type }]) => table === "turns" && type === "leaf")?.[0] ?? 0;
  const turnsIn = async (main: Uint8Array, wal: Uint8Array) => {
    await using state = await scratch({ [DATABASE_FILE]: main, [`${DATABASE_FILE}-wal`]: wal });
    const { turns, notices } = await used(state);
    using database = await Database.openIn(state.root);
    return { turns, notices: notices.length, late: new SqliteStore(database).messages("late").length };
  };
  const all = TURNS * SESSIONS.length + 1;
  assert.deepEqual(await turnsIn(files[DATABASE_FILE] ?? wal, wal), { turns: all, notices: 0, late: 4 });
  const most = trees.get(leaf)?.cells ?? 0;
  const read = await turnsIn(damaged([leaf], "random"), wal);
  assert.ok(read.turns >= all - most && read.notices === 1 && read.late === 4, JSON.stringify(read));
  const broken = new Uint8Array(wal);
  crypto.getRandomValues(broken.subarray(wal.length / 2, wal.length / 2 + 20_000));
  const garbage = await turnsIn(damaged([1], "random"), broken);
  assert.ok(garbage.turns >= all - 1 && garbage.notices === 1, JSON.stringify(garbage));
});

Deno.test("a page that is damaged while engines run: one line is told, and all of them go on in the new file", async () => {
  await using state = await scratch({ [DATABASE_FILE]: whole });
  using first = await Database.openIn(state.root);
  using second = await Database.openIn(state.root);
  const [one, two] = [new SqliteStore(first), new SqliteStore(second)];
  two.createSession({ id: "two", root: "/p", model: "m" });
  two.append("two", { entries: [asked("Turn two")] });
  first.run("PRAGMA wal_checkpoint(TRUNCATE)");
  {
    using file = await Deno.open(state.path(DATABASE_FILE), { write: true });
    for (const [number, { table }] of trees) {
      if (table !== "turns") continue;
      await file.seek((number - 1) * PAGE, Deno.SeekMode.Start);
      await file.write(new Uint8Array(PAGE).fill(7));
      break;
    }
  }
  const words = one.turnsBegun("s1").map(({ text }) => text);
  assert.ok(words.length > 0);
  two.append("two", { entries: [answered("Still here"), END] });
  one.append("s1", { entries: [asked("Once more"), answered("Yes"), END] });
  const notices = [first, second].map((database) => database.takeNotice());
  assert.equal(notices.filter((notice) => notice !== undefined).length, 1, notices.join("\n"));
  using later = await Database.openIn(state.root);
  const store = new SqliteStore(later);
  assert.deepEqual(store.messages("two"), [asked("Turn two"), answered("Still here")]);
  assert.deepEqual(store.messages("s1").slice(-2), [asked("Once more"), answered("Yes")]);
  assert.equal(later.takeNotice(), undefined);
});

const OPEN = fileURLToPath(new URL("../../../../../tests/support/open_to_kill.ts", import.meta.url));

async function opened(state: Scratch, when = "") {
  const args = ["run", "-A", "--no-check", "--quiet", OPEN, state.root, when];
  const { signal, stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "inherit" }).output();
  const out = new TextDecoder().decode(stdout);
  return { signal, notice: out === "" ? undefined : JSON.parse(out).notice };
}

/** Changes of the disk while a damaged file is replaced. */
const MOMENTS = 24;

Deno.test("killed at any moment of it: the next start has all that could be read", async () => {
  const moments = sample(Array.from({ length: MOMENTS }, (_, moment) => moment), 4);
  const signals = await Promise.all(moments.map(async (moment) => {
    await using state = await scratch({ [DATABASE_FILE]: damaged([1], "random") });
    const { signal } = await opened(state, `${moment}`);
    const left = await used(state);
    assert.deepEqual([left.sessions, left.turns, left.found], [SESSIONS, TURNS * SESSIONS.length, ["new"]]);
    const names = Array.from(Deno.readDirSync(state.root), ({ name }) => name);
    assert.ok(names.some((name) => name.includes(".corrupt-")), names.join(" "));
    return signal;
  }));
  assert.ok(signals.filter((signal) => signal === "SIGKILL").length >= moments.length / 2, `${signals}`);
});

Deno.test("two engines that meet the same damage at once: one of them makes a new file, both use it", async () => {
  await using state = await scratch({ [DATABASE_FILE]: damaged([1], "zeros") });
  const ends = await Promise.all([opened(state), opened(state)]);
  assert.equal(ends.filter(({ notice }) => notice !== undefined).length, 1);
  const names = Array.from(Deno.readDirSync(state.root), ({ name }) => name);
  assert.equal(names.filter((name) => name.includes(".corrupt-")).length, 1, names.join(" "));
  const { sessions, turns } = await used(state);
  assert.deepEqual([sessions, turns], [SESSIONS, TURNS * SESSIONS.length]);
});

Deno.test("turns that the search knows nothing of are found when it has been idle", async () => {
  using database = Database.inMemory();
  const store = new SqliteStore(database);
  const sessions = new StoredSessions(database);
  storeWork({ database, store, usage: new SqliteUsage(database) }, {
    id: "s1",
    root: "/p",
    turns: 25,
    calls: 2,
  });
  const found = () => sessions.search("turn", 99).map(({ turn, text }) => `${turn} ${text}`).sort();
  const before = found();
  assert.ok(before.length >= 25);
  database.run("DELETE FROM search_texts WHERE turn IN (SELECT id FROM turns WHERE turn <> 7)");
  assert.ok(found().length < before.length);
  await indexOthers(database, () => Promise.resolve());
  assert.deepEqual(found(), before);
});
