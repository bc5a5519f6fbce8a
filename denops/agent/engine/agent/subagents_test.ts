/** Sub-agents, run by the real session for a scripted model. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { CANCELLED, checkEvents, END_TURN, startEngine } from "../../../../tests/support/engine_session.ts";
import { soon } from "../../../../tests/support/soon.ts";
import { shortened } from "./subagents.ts";

const FILES = { "a.txt": "alpha\n", "b.txt": "beta\n" };

function start(title: string, task: string, more = ""): string {
  return `call run_subagent {"title": "${title}", "task": "${task}"${more}}`;
}

Deno.test("a sub-agent works in a log of its own, and the model gets its answer alone", async () => {
  await using engine = await startEngine({
    files: FILES,
    script: `${start("Find alpha", "Where is alpha?")}
---
when Where is alpha?
say I look.
call read_file {"path": "a.txt"}
---
when Where is alpha?
expect alpha
say It is in a.txt:1.
---
expect It is in a.txt:1.
expect-not I look.
say Done`,
  });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  assert.deepEqual(engine.server.problems, []);
  assert.deepEqual(engine.results(), ["It is in a.txt:1."]);
  checkEvents(engine.events);
  const [call] = engine.events.flatMap((event) => event.type === "tool_start" ? [event.call] : []);
  const under = engine.events.filter(({ parent }) => parent === call?.id).map(({ type }) => type);
  assert.ok(under.includes("tool_start") && under.includes("token"), under.join());
  assert.deepEqual(
    engine.session.agents.list().map(({ title, mode, state }) => [title, mode, state]),
    [["Find alpha", "explore", "done"]],
  );
  const [child] = engine.store.subagents("s1");
  assert.deepEqual(
    engine.store.messages(child?.id ?? "").map(({ type }) => type),
    ["user_message", "assistant_message", "tool_result", "assistant_message"],
  );
});
