/** The store's own parts, on real files. */
import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { ANY_CHARACTER } from "../../../../tests/support/any_character.ts";
import { scratch } from "../../../../tests/support/project.ts";
import { runs } from "../../../../tests/support/runs.ts";
import { Blobs } from "./blobs.ts";
import { Database, DATABASE_FILE } from "./database.ts";
import { MIGRATIONS } from "./upgrade/migrations.ts";
import { decodeValue, encodePayload } from "./log/payload.ts";
import { UnfinishedWrites } from "./writes.ts";

async function names(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name } of Deno.readDir(folder)) found.push(name);
  return found.sort();
}

Deno.test("a file that is no database is set aside and named, and a new one begun", async () => {
  await using state = await scratch({
    [DATABASE_FILE]: "this is no database, whatever its name says".repeat(99),
  });
  using database = await Database.openIn(state.root);
  const notice = database.takeNotice();
  assert.deepEqual(database.all("SELECT id FROM sessions"), []);
  const aside = (await names(state.root)).find((name) => name.includes(".corrupt-"));
  assert.ok(aside !== undefined);
  assert.ok(notice?.includes(aside), notice);
  assert.match(await state.read(aside), /^this is no database/);
});

Deno.test("a database of a newer version is refused, and not changed", async () => {
  await using state = await scratch();
  const path = join(state.root, DATABASE_FILE);
  {
    using database = await Database.openIn(state.root);
    database.run(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  const before = await Deno.readFile(path);
  await assert.rejects(
    () => Database.openIn(state.root),
    /^Error: Cannot open .*: a newer agent.nvim has written it/,
  );
  assert.deepEqual(await Deno.readFile(path), before);
});

/** Another engine that opens the same database. It lets go soon after it says that it has the lock. */
const OTHER_ENGINE = `
  import { DatabaseSync } from "node:sqlite";
  self.onmessage = ({ data }) => {
    const database = new DatabaseSync(data);
    database.exec("PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE");
    setTimeout(() => {
      database.exec("COMMIT");
      database.close();
    }, 200);
    postMessage("locked");
  };`;

Deno.test("a database opens while another engine changes its journal", async () => {
  await using folder = await scratch({});
  const { resolve, promise } = Promise.withResolvers<void>();
  (await Database.openIn(folder.root))[Symbol.dispose]();
  const other = new Worker(`data:text/javascript,${encodeURIComponent(OTHER_ENGINE)}`, { type: "module" });
  try {
    other.onmessage = () => resolve();
    other.postMessage(join(folder.root, DATABASE_FILE));
    await promise;
    using database = await Database.openIn(folder.root);
    assert.equal(database.all("PRAGMA journal_mode")[0]?.journal_mode, "wal");
  } finally {
    other.terminate();
  }
});

Deno.test("a transaction that fails leaves nothing, and the next one works", () => {
  using database = Database.inMemory();
  const insert = (path: string) =>
    database.run("INSERT INTO unfinished_writes (path, time) VALUES (?, 0)", path);
  assert.throws(() =>
    database.transaction(() => {
      insert("a");
      database.transaction(() => insert("b"));
      throw new Error("no");
    }), /no/);
  assert.deepEqual(database.all("SELECT path FROM unfinished_writes"), []);
  database.transaction(() => insert("c"));
  assert.equal(database.all("SELECT path FROM unfinished_writes").length, 1);
});

Deno.test("any value comes back as it was, long texts through blobs", () => {
  using database = Database.inMemory();
  const blobs = new Blobs(database);
  const long = fc.string({ unit: ANY_CHARACTER }).map((text) =>
    text.repeat(Math.ceil(9_000 / (text.length + 1)))
  );
  const key = fc.constantFrom("$blob", "$json", "text", "a");
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string({ unit: ANY_CHARACTER }),
      long,
      fc.constant("\ud800".repeat(9_000)),
      fc.integer(),
      fc.boolean(),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(value, (given) => {
      assert.deepEqual(decodeValue(JSON.parse(encodePayload(given, blobs)), blobs), given);
    }),
    { seed: 11, ...runs(400) },
  );
  assert.ok(encodePayload({ text: "x".repeat(100_000) }, blobs).length < 100);
});

Deno.test("what a crash left of a write is removed; a file that is being written stays", async () => {
  await using folder = await scratch({ ".left.tmp": "half", ".going-on.tmp": "half", "a.txt": "whole" });
  using database = Database.inMemory();
  const writes = new UnfinishedWrites(database);
  for (const name of [".left.tmp", ".going-on.tmp", ".never-made.tmp"]) writes.begin(folder.path(name));
  {
    // The lock of another process counts as this one does.
    using file = await Deno.open(folder.path(".going-on.tmp"), { write: true });
    await file.lock(true);
    await writes.sweep();
    assert.deepEqual(await names(folder.root), [".going-on.tmp", "a.txt"]);
  }
  await writes.sweep();
  assert.deepEqual(await names(folder.root), ["a.txt"]);
  // One that was only just begun may belong to another engine, which is about to make the file.
  const left = database.all("SELECT path FROM unfinished_writes").map(({ path }) => path);
  assert.deepEqual(left, [folder.path(".never-made.tmp")]);
});
