/** Sessions of sub-agents: kept under their parents, through kills, exports and deletions. */
import { methods, RequestError } from "../../denops/agent/deps/acp_sdk.ts";
import assert from "node:assert/strict";
import { answerText, type EngineClient, startEngine } from "../support/acp.ts";

function start(title: string, task: string, more: Readonly<Record<string, unknown>> = {}): string {
  return `call run_subagent ${JSON.stringify({ title, task, ...more })}`;
}

async function listed({ agent, project }: EngineClient): Promise<readonly string[]> {
  const { sessions } = await agent.request(methods.agent.session.list, { cwd: project.root });
  return sessions.map(({ sessionId }) => sessionId);
}

async function exported(
  engine: EngineClient,
  sessionId: string,
  format: "markdown" | "json",
): Promise<string> {
  const { text, next } = await engine.ask("session_export", { sessionId, format });
  assert.equal(next, undefined);
  return text;
}

Deno.test("an engine that is killed while sub-agents work: their calls were interrupted, and so were they", async () => {
  await using first = await startEngine({
    script: `${start("One", "task one")}
${start("Two", "task two")}
${start("Back", "task back", { background: true })}
---
when task one
say I think it is
wait one
---
when task two
call read_file {"path": "README.md"}
---
when task two
wait two
---
when task back
wait back`,
  });
  const { server } = first;
  const session = await first.open();
  const turn = first.prompt(session, "Go").catch(() => "killed");
  await Promise.all(["one", "two"].map((name) => server.reached(name)));
  await first.kill();
  assert.equal(await turn, "killed");

  await using second = await startEngine({ script: "", beside: first });
  await second.resume(session);
  const { agents } = await second.ask("agents", { sessionId: session });
  assert.deepEqual(agents.map(({ title, state }) => `${title}: ${state}`).sort(), [
    ...["Back: interrupted", "One: interrupted", "Two: interrupted"],
  ]);
  assert.deepEqual(await listed(second), [session]);
  server.play("say I begin again.");
  assert.equal(await second.prompt(session, "Go on"), "end_turn");
  assert.deepEqual(server.problems, []);
  const sent = JSON.stringify(server.requests.at(-1)?.body);
  assert.equal(
    sent.split("Interrupted before it had ended").length,
    3,
    "a result for each call that was open",
  );
  assert.match(sent, /in the background, \\"Back\\": interrupted\]/);
  assert.ok(!sent.includes("I think it is"));
  const [child] = agents;
  const log = JSON.parse(await exported(second, child?.sessionId ?? "", "json"));
  assert.equal(log.entries.at(-1).reason, "interrupted");
});

Deno.test("they are listed under their parent, can be opened, and are exported and deleted with it", async () => {
  await using engine = await startEngine({
    script: `${start("Find it", "look for the zebra")}
---
when look for the zebra
say The zebra is in README.md:1.
---
say Done.`,
  });
  const session = await engine.open();
  assert.equal(await engine.prompt(session, "Go"), "end_turn");
  assert.equal(answerText(engine.seen, session), "Done.");
  const [agent] = (await engine.ask("agents", { sessionId: session })).agents;
  const child = agent?.sessionId ?? "";
  assert.deepEqual(await listed(engine), [session]);
  const { hits } = await engine.ask("session_search", { query: "zebra", limit: 10 });
  assert.ok(hits.length > 0);
  assert.ok(hits.every(({ sessionId, turn }) => sessionId === session && turn === 1), JSON.stringify(hits));

  const markdown = await exported(engine, session, "markdown");
  assert.match(markdown, /# Sub-agent: Find it\n\n.* · explore\n\n## Task, .*\n\nlook for the zebra/);
  assert.equal(
    markdown.split("The zebra is in README.md:1.").length,
    3,
    "the result, and the sub-agent's own words",
  );
  const json = JSON.parse(await exported(engine, session, "json"));
  assert.deepEqual(json.subagents.map((one: { session: { id: string } }) => one.session.id), [child]);

  await engine.agent.request(methods.agent.session.resume, { sessionId: child, cwd: engine.project.root });
  engine.server.play("new-history\nexpect And the lion?\nsay Nowhere.");
  assert.equal(await engine.prompt(child, "And the lion?"), "end_turn");
  assert.deepEqual(engine.server.problems, []);
  engine.server.play("wait here");
  const turn = engine.prompt(child, "And the bear?").catch(() => "killed");
  await engine.server.reached("here");
  await engine.kill();
  assert.equal(await turn, "killed");

  await using next = await startEngine({ script: "", beside: engine });
  await next.resume(session);
  await next.agent.request(methods.agent.session.resume, { sessionId: child, cwd: engine.project.root });
  await next.ask("session_delete", { sessionId: session });
  assert.deepEqual(await listed(next), []);
  await assert.rejects(next.ask("session_export", { sessionId: child, format: "json" }), RequestError);
});

Deno.test("one at work is not opened a second time, and a deleted session ends it", async () => {
  await using engine = await startEngine({
    script: `${start("Slow", "slow task", { background: true })}
---
when slow task
wait slow
---
say Started.`,
  });
  const { server, agent, project } = engine;
  const session = await engine.open();
  assert.equal(await engine.prompt(session, "Go"), "end_turn");
  await server.reached("slow");
  const [slow] = (await engine.ask("agents", { sessionId: session })).agents;
  const sessionId = slow?.sessionId ?? "";
  assert.equal(slow?.state, "running");
  await assert.rejects(
    agent.request(methods.agent.session.resume, { sessionId, cwd: project.root }),
    /This sub-agent is at work/,
  );
  await engine.ask("session_delete", { sessionId: session });
  await server.aborted();
});
