/** A trial with the real engine, which is killed in the middle of a turn or of an undo, and started again. */
import { messageOf } from "../../../denops/agent/shared/errors.ts";
import { ALLOW, type EngineClient, startEngine } from "../../support/acp.ts";
import { pause } from "../../support/project.ts";
import type { Random } from "./random.ts";
import { differences, marksOf, treeOf } from "./tree.ts";

/** More than a user needs to find a file again after a crash, see `aliveMs`. */
const AFTER_MS = 1_100;

/** @returns one line for each thing that was lost or is wrong */
export async function runKilled(random: Random): Promise<readonly string[]> {
  const files = Object.fromEntries(
    Array.from(
      { length: random.int(4, 60) },
      (_, at) => [`dir/${at % 5}/${at}`, `file ${at}\n`.repeat(at + 1)],
    ),
  );
  const during = random.choose({ turn: 1, undo: 2 });
  const permission = () => Promise.resolve(ALLOW);
  await using engine = await startEngine({
    script: scriptFor(Object.keys(files), random),
    project: files,
    permission,
  });
  const { root } = engine.project;
  const before = treeOf(root);
  const session = await engine.open();
  const turn = engine.prompt(session, "go");
  if (during === "turn") await Promise.race([turn.catch(() => {}), pause(random.int(0, 250))]);
  else {
    await turn;
    const undo = engine.ask("undo", { sessionId: session, turn: 1 });
    await Promise.race([undo.then(() => {}, () => {}), pause(random.int(0, 150))]);
  }
  await engine.kill();
  const half = treeOf(root);
  if (during === "turn") await pause(AFTER_MS);
  await Deno.writeTextFile(`${root}/mine-1`, "user-1\n");
  await using again = await startEngine({ script: "say Nothing.", beside: engine, permission });
  const wrong: string[] = [];
  // Killed before the first message was stored there is no session.
  const resumed = await again.resume(session).then(() => true, () => false);
  if (!resumed && during === "undo") wrong.push("the session is gone");
  if (resumed) await undoAll(again, session);
  const after = treeOf(root);
  if (!marksOf(after).has("user-1")) wrong.push("the user's file is gone");
  const found = new Map([...after].filter(([path]) => path !== "mine-1"));
  wrong.push(...differences(before, found));
  const said = [
    `  the engine was killed in the middle of the ${during}, with ${half.size} paths on the disk`,
  ];
  return wrong.length === 0 ? [] : [...wrong, ...said];
}

async function undoAll(engine: EngineClient, session: string): Promise<void> {
  for (let left = 5; left > 0; left--) {
    const problem = await engine.ask("undo", { sessionId: session }).then(() => undefined, messageOf);
    if (problem !== undefined) return;
  }
}

function scriptFor(paths: readonly string[], random: Random): string {
  const call = (name: string, args: object) => `call ${name} ${JSON.stringify(args)}`;
  const calls = paths.map((path, at) => {
    switch (random.choose({ delete: 1, move: 2, edit: 2, create: 1 })) {
      case "delete":
        return call("delete_file", { path });
      case "move":
        return call("move_file", { from: path, to: `moved/${at % 3}/${at}` });
      case "edit":
        return `${call("read_file", { path })}\n---\n${
          call("edit_file", { path, old_str: `file ${at}\n`.repeat(at + 1), new_str: `agent ${at}\n` })
        }`;
      case "create":
        return call("write_file", { path: `new/${at}/file`, content: `new ${at}\n` });
    }
  });
  return [...calls, "say Done."].join("\n---\n");
}
