/** The engine is killed while it keeps what a command has changed. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { noEditor } from "../acp/editor.ts";
import { copyOf } from "../../../../tests/support/effects.ts";
import { asked } from "../../../../tests/support/entries.ts";
import { DEFAULT_TIMEOUT, scratch } from "../../../../tests/support/project.ts";
import { treeOf } from "../../../../tests/support/trees.ts";
import { Database } from "../store/database.ts";
import { SqliteStore } from "../store/sqlite.ts";
import { SessionCheckpoints } from "./session_checkpoints.ts";

const KEEPING = fileURLToPath(new URL("../../../../tests/support/keep_to_kill.ts", import.meta.url));

/** In one of these numbers of changes of the disk. */
const MOMENTS = 39;

Deno.test("killed at any moment: no file is half there, nothing is left over, and undo takes back what was done", async () => {
  const moments = [0, 1, 2, 3, 4].map((part) => Math.floor((part + Math.random()) * MOMENTS / 5));
  await Promise.all(moments.map(killedAt));
});

async function killedAt(moment: number): Promise<void> {
  await using project = await scratch({
    "a": "1\n",
    "b": "1\n",
    "moved": "moves\n",
    "whole/x": "1",
    "whole/y/z": "2",
    "kind": "a file\n",
    "folder/f": "f",
    "other": "a file\n",
  });
  await using state = await scratch();
  await using copy = await copyOf(project.root);
  const before = treeOf(copy.root);
  await copy.run(
    "echo 2 > a; chmod 600 b; mkdir -p n/m; echo n > n/m/1; echo n > n/2; echo n > 3; mv moved n/here; rm -r whole;" +
      "rm kind; mkdir kind; echo k > kind/k; rm -r folder; echo f > folder; ln -s a link; ln -sf a other",
  );
  const target = treeOf(copy.root);
  {
    using database = await Database.openIn(state.root);
    const store = new SqliteStore(database);
    store.createSession({ id: "s1", root: project.root, model: "scripted" });
    store.append("s1", { entries: [asked("Go")] });
  }
  const args = [
    "run",
    "-A",
    "--no-check",
    "--quiet",
    KEEPING,
    project.root,
    copy.root,
    state.root,
    `${moment}`,
  ];
  const { signal, stderr } = await new Deno.Command(Deno.execPath(), { args, stdout: "null" }).output();
  const why = `at ${moment}: ${new TextDecoder().decode(stderr)}`;
  assert.ok(signal === "SIGKILL" || moment > MOMENTS / 2, why);
  using database = await Database.openIn(state.root);
  const store = new SqliteStore(database);
  await store.writes.sweep();
  const checkpoints = new SessionCheckpoints({
    session: "s1",
    roots: [project.root],
    store: store.checkpoints,
    editor: noEditor,
    journal: store.writes,
    turn: () => store.turn("s1"),
    makeLink: (path, to) => Deno.symlink(to, path),
    notice: () => {},
  });
  await checkpoints.recover();
  for (const [path, text] of treeOf(project.root)) {
    // A folder is made first and closed then.
    if (text.startsWith("folder")) continue;
    assert.ok([before.get(path), target.get(path)].includes(text), `${path}: ${text} ${why}`);
  }
  const [turn] = await checkpoints.turns();
  if (turn !== undefined) {
    await checkpoints.takeBack({ kind: "undo", turn: undefined }, AbortSignal.timeout(DEFAULT_TIMEOUT));
  }
  assert.deepEqual(treeOf(project.root), before, why);
  const left = Array.from(Deno.readDirSync(state.root), ({ name }) => name).filter((name) =>
    !/^agent\.db/.test(name)
  );
  assert.deepEqual(left, [], why);
}
