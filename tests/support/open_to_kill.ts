/** Opens a project's store, and may die before a change of the disk. Arguments: state folder, when ("" for never). */
import { DatabaseSync } from "node:sqlite";
import { Database } from "../../denops/agent/engine/store/database.ts";
import { SqliteStore } from "../../denops/agent/engine/store/sqlite.ts";

const [state = "", when = ""] = Deno.args;
let left = when === "" ? Infinity : Number(when);
const dying = <Of, Args extends unknown[], Result>(act: (this: Of, ...args: Args) => Result) =>
  function (this: Of, ...args: Args): Result {
    if (left-- === 0) Deno.kill(Deno.pid, "SIGKILL");
    return act.apply(this, args);
  };
Deno.linkSync = dying(Deno.linkSync);
Deno.openSync = dying(Deno.openSync);
Deno.removeSync = dying(Deno.removeSync);
Deno.renameSync = dying(Deno.renameSync);
// A step of a migration, a transaction's begin and its end.
DatabaseSync.prototype.exec = dying(DatabaseSync.prototype.exec);

const database = await Database.openIn(state);
const sessions = database.all("SELECT id FROM sessions ORDER BY id").map(({ id }) => String(id));
const turns = sessions.map((id) => new SqliteStore(database).turn(id));
console.log(JSON.stringify({ notice: database.takeNotice(), turns }));
