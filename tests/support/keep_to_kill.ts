/** Keeps what a copy of a project has changed, and dies before a change of the disk. Arguments: project, copy, state, when. */
import { noEditor } from "../../denops/agent/engine/acp/editor.ts";
import { SessionCheckpoints } from "../../denops/agent/engine/checkpoint/session_checkpoints.ts";
import { Database } from "../../denops/agent/engine/store/database.ts";
import { SqliteStore } from "../../denops/agent/engine/store/sqlite.ts";
import { effectsOf } from "./effects.ts";

const [root = "", copy = "", state = "", when = ""] = Deno.args;
const store = new SqliteStore(await Database.openIn(state));
const checkpoints = new SessionCheckpoints({
  session: "s1",
  roots: [root],
  store: store.checkpoints,
  editor: noEditor,
  journal: store.writes,
  state,
  turn: () => 1,
  makeLink: (path, target) => Deno.symlink(target, path),
  notice: () => {},
});
const effects = await effectsOf(root, copy, { page: 1_000_000 });
let left = Number(when);
const dying = <Args extends unknown[], Result>(act: (...args: Args) => Result) => (...args: Args) => {
  if (left-- === 0) Deno.kill(Deno.pid, "SIGKILL");
  return act(...args);
};
Deno.rename = dying(Deno.rename);
Deno.remove = dying(Deno.remove);
Deno.mkdir = dying(Deno.mkdir);
Deno.symlink = dying(Deno.symlink);
Deno.linkSync = dying(Deno.linkSync);
Deno.renameSync = dying(Deno.renameSync);
Deno.openSync = dying(Deno.openSync);
Deno.removeSync = dying(Deno.removeSync);
await checkpoints.keep(effects, "call", new AbortController().signal);
