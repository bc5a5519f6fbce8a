/** How well a model edits: its calls by form, and what the user has made of their hunks. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { END_TURN, startEngine } from "../../../../tests/support/engine_session.ts";
import { scratch } from "../../../../tests/support/project.ts";
import { EditQuality } from "../checkpoint/edit_quality.ts";
import { Reviews } from "../checkpoint/review/reviews.ts";
import { Database, DATABASE_FILE } from "./database.ts";
import { SqliteEdits } from "./edits.ts";
import { MIGRATIONS } from "./upgrade/migrations.ts";
import { SqliteStore } from "./sqlite.ts";
import { SqliteUsage } from "./usage.ts";

const LINES = ["a", "b", "c", "d", "e", "f", "g"].join("\n") + "\n";

function call(name: string, args: Readonly<Record<string, unknown>>): string {
  return `call ${name} ${JSON.stringify(args)}`;
}

function replace(old_str: string, new_str: string): string {
  return call("edit_file", { path: "a.txt", old_str, new_str });
}

async function reviewed(...steps: readonly string[]) {
  let reviews: Reviews | undefined;
  const engine = await startEngine({
    files: { "a.txt": LINES, "b.txt": "x\n" },
    config: { title: false, model: "model-1" },
    script: [call("read_files", { paths: ["a.txt", "b.txt"] }), ...steps].join("\n---\n"),
    store(database) {
      const store: SqliteStore = new SqliteStore(database, (changes) => reviews?.recorded(changes));
      const quality = new EditQuality(store.reviews, store.blobs, new SqliteEdits(database));
      reviews = new Reviews(store.reviews, store.blobs, [], quality);
      return store;
    },
  });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  assert.ok(reviews);
  return { engine, reviews };
}

Deno.test("edits are counted by form, written or not, and the hunks of a file when it is gone through", async () => {
  const { engine, reviews } = await reviewed(
    replace("b", "B"),
    replace("zz", "y"),
    call("edit_file", { patch: "*** Begin Patch\n*** Update File: a.txt\n-d\n+D\n*** End Patch" }),
    call("write_file", { path: "b.txt", content: "y\n" }),
    `${replace("f", "F")}\n${call("read_file", { path: "none" })}`,
    "say Done.",
  );
  await using _ = engine;
  const { project, usage } = engine;
  const path = project.path("a.txt");
  const told = () =>
    usage.edits.report().map(({ model, form, tried, failed, kept, changed, undone }) =>
      `${model} ${form} ${tried} ${failed}: ${kept} ${changed} ${undone}`
    );
  const model = "test/model-1";
  assert.deepEqual(told(), [
    `${model} replace 3 1: 0 0 0`,
    `${model} write 1 0: 0 0 0`,
    `${model} patch 1 0: 0 0 0`,
  ]);
  // The user keeps B, changes D, takes F back and writes a line of their own.
  const mine = "mine\na\nB\nc\nD, or so\ne\nf\ng\n";
  await project.write("a.txt", mine);
  await reviews.update({ path, baseline: "mine\na\nb\nc\nD, or so\ne\nf\ng\n", settled: false });
  assert.equal(told()[0], `${model} replace 3 1: 0 0 0`, "it is not gone through");
  await reviews.update({ path, baseline: mine, settled: true });
  await reviews.update({ path, baseline: mine, settled: true });
  const after = [
    `${model} replace 3 1: 1 0 1`,
    `${model} write 1 0: 0 0 0`,
    `${model} patch 1 0: 0 1 0`,
  ];
  assert.deepEqual(told(), after);
  const { turns, edits } = usage.report("s1");
  assert.deepEqual(turns[0]?.edits, { tried: 5, failed: 1, kept: 1, changed: 1, undone: 1 });
  assert.equal(edits.length, 3);
  assert.deepEqual(usage.report(undefined).languages, [
    { extension: "txt", files: 2, edits: 4, added: 4, removed: 4 },
  ]);
  // To take back the turn is to take back what was not gone through.
  await engine.session.takeBack({ kind: "undo", turn: undefined });
  assert.deepEqual(told(), [after[0], `${model} write 1 0: 0 0 1`, after[2]]);
});

Deno.test("files that were written, by the end of their names: most changed lines first", () => {
  using database = Database.inMemory();
  const edits = new SqliteEdits(database);
  const files = (...paths: readonly string[]) => paths.map((path) => ({ path, added: 2, removed: 1 }));
  const edit = { call: "c", provider: "p", model: "m", form: "patch", written: true };
  edits.tried("s", 1, { ...edit, files: files("/p/a.TS", "/p/b.d.ts", "/p/Makefile", "/p/.bashrc") });
  edits.tried("s", 2, { ...edit, files: files("/p/a.TS", "/p/src.d/Makefile") });
  edits.tried("s", 2, { ...edit, written: false, files: [] });
  assert.deepEqual(edits.languages(), [
    { extension: "ts", files: 2, edits: 3, added: 6, removed: 3 },
    { extension: "makefile", files: 2, edits: 2, added: 4, removed: 2 },
    { extension: ".bashrc", files: 1, edits: 1, added: 2, removed: 1 },
  ]);
});

Deno.test("a database from before edits were counted is brought up to date, and its rows stay", async () => {
  await using folder = await scratch();
  const first = MIGRATIONS.findIndex((step) => step.includes("CREATE TABLE edits"));
  const old = new DatabaseSync(folder.path(DATABASE_FILE));
  for (const step of MIGRATIONS.slice(0, first)) old.exec(step);
  old.exec(`PRAGMA user_version = ${first};
    INSERT INTO usage (session, turn, purpose, provider, model, reported, input, output, cached_read, cached_write,
      all_ms, time) VALUES ('a', 1, 'agent', 'p', 'm', 1, 7, 1, 0, 0, 9, 1)`);
  old.close();
  using database = await Database.openIn(folder.root);
  const { turns: [row], edits } = new SqliteUsage(database).report("a");
  assert.deepEqual([row?.input, row?.prompt, row?.messages, row?.offered, row?.edits], [
    7,
    undefined,
    0,
    0,
    undefined,
  ]);
  assert.deepEqual(edits, []);
});
