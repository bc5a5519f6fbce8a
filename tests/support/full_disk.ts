/**
 * Opens a store whose disk has no room for a copy of it, then once more when it has. Arguments: the database, a folder on
 * a small disk.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Database, DATABASE_FILE } from "../../denops/agent/engine/store/database.ts";
import { messageOf } from "../../denops/agent/shared/errors.ts";

const [source = "", state = ""] = Deno.args;
const path = join(state, DATABASE_FILE);
await Deno.copyFile(source, path);
const filler = join(state, "filler");
using file = await Deno.open(filler, { create: true, write: true });
const block = new Uint8Array(4096);
try {
  for (;;) await file.write(block);
} catch {
  // The disk is full. SQLite needs a little beside a copy.
  await file.truncate(Math.max(0, (await file.stat()).size - 200_000));
}
const tablesOf = () => {
  using database = new DatabaseSync(path);
  return database.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").all();
};
const before = JSON.stringify(tablesOf());
const error = await Database.openIn(state).then(() => "", messageOf);
const names = Array.from(Deno.readDirSync(state), ({ name }) => name).sort();
const isAsItWas = JSON.stringify(tablesOf()) === before;
await Deno.remove(filler);
await file.truncate(0);
using database = await Database.openIn(state);
const turns = Number(database.get("SELECT turns FROM sessions WHERE id = 's1'")?.turns);
console.log(JSON.stringify({ error, names, isAsItWas, turns }));
