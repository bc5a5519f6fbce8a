/** What the user drops and pins: what is sent then, after a restart and after a compaction. */
import assert from "node:assert/strict";
import { type RunningEngine, startEngine } from "../../../../../tests/support/engine_session.ts";
import type { Session } from "../../session/session.ts";

const FILES = Object.fromEntries(
  ["a", "b", "c", "d", "e", "f"].map((
    name,
  ) => [`${name}.ts`, `// file ${name}\n`.padEnd(3_000, "const x = 1;\n")]),
);
const SCRIPT = [
  "when Stop here for a moment\nnew-history\nsay The summary.\nrepeat",
  ...Object.keys(FILES).map((path) => `call read_file {"path": "${path}"}`),
  "say All read.",
  "new-history\nsay Well.\nrepeat",
].join("\n---\n");

function sent({ server }: RunningEngine): string {
  return JSON.stringify(server.requests.at(-1)?.body);
}

async function say(session: Session, text: string): Promise<void> {
  await session.prompt([{ type: "text", text }]);
}

Deno.test("what is dropped is not sent, which the prefix's reason says; a restart keeps it so", async () => {
  await using engine = await startEngine({ script: SCRIPT, files: FILES });
  const { session } = engine;
  await say(session, "Read");
  session.context({ id: "file:a.ts", to: "dropped" });
  await say(session, "Again");
  assert.doesNotMatch(sent(engine), /\/\/ file a/);
  assert.match(sent(engine), /\/\/ file b/);
  assert.equal(session.context().broken?.reason, "dropped by you");
  await session.close();
  const again = engine.again();
  await say(again, "After a restart");
  assert.doesNotMatch(sent(engine), /\/\/ file a/);
  again.context({ id: "file:a.ts", to: "plain" });
  await say(again, "Whole");
  assert.match(sent(engine), /\/\/ file a/);
  assert.equal(again.context().broken?.reason, "brought back by you");
  await again.close();
});

Deno.test("what is pinned outlives a compaction, and the next one, until it is dropped", async () => {
  await using engine = await startEngine({ script: SCRIPT, files: FILES });
  const { session } = engine;
  await say(session, "Read");
  session.context({ id: "file:a.ts", to: "pinned" });
  for (const turn of [1, 2]) {
    await session.compact("all");
    await say(session, `Go on ${turn}`);
    assert.match(sent(engine), /\[read a\.ts, as it was then: pinned by the user\]\\n1\\t\/\/ file a/);
    assert.doesNotMatch(sent(engine), /\/\/ file b/);
    assert.match(session.context().broken?.reason ?? "", /^folded$/);
    for (const text of ["x", "y", "z"]) await say(session, text.repeat(3_000));
  }
  assert.equal(session.context().parts.find(({ id }) => id === "file:a.ts")?.state, "pinned");
  session.context({ id: "file:a.ts", to: "dropped" });
  await say(session, "Without");
  assert.doesNotMatch(sent(engine), /\/\/ file a/);
});
