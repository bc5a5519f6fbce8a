/** Turns in modes: what the engine itself holds, whatever the client's gate does. */
import assert from "node:assert/strict";
import { objects, string } from "../../../../tests/model/model_messages.ts";
import { startEngine } from "../../../../tests/support/engine_session.ts";

const INTENT = (writes: boolean) =>
  `say \`\`\`json\nsay {"intent": "${writes ? "modify" : "analyze"}", "needs_write": ${writes}}\nsay \`\`\``;

const WRITE = 'call write_file {"path": "new.ts", "content": "x"}';

function prompts(
  engine: { readonly server: { readonly requests: readonly { readonly body: Record<string, unknown> }[] } },
) {
  return engine.server.requests.map(({ body }) => string(objects(body.messages)[0]?.content) ?? "");
}

Deno.test("auto: a question runs without what writes, an order with it, an unclear answer too", async () => {
  await using engine = await startEngine({
    script: [
      INTENT(false),
      `new-history\n${WRITE}`,
      "say No.",
      `new-history\n${INTENT(true)}`,
      `new-history\n${WRITE}`,
      "say Yes.",
      "new-history\nsay Hm?",
      "new-history\nsay Well.",
    ]
      .join("\n---\n"),
    config: { mode: "auto", title: false },
  });
  const { project, server } = engine;
  await engine.prompt("How does it work?");
  assert.match(engine.results()[0] ?? "", /no tool is called "write_file"/);
  await assert.rejects(Deno.stat(project.path("new.ts")));
  await engine.prompt("Change it");
  assert.equal(await Deno.readTextFile(project.path("new.ts")), "x");
  await engine.prompt("Hm");
  const [intent, ask = "", , , agent = "", , , unclear] = prompts(engine);
  assert.match(intent ?? "", /You sort messages/);
  assert.match(ask, /You work in mode ask:/);
  assert.ok(ask.startsWith(agent) && unclear === agent);
  assert.equal(server.requests[0]?.body.tools, undefined);
  assert.deepEqual(server.problems, []);
});

Deno.test("documentation alone: the model writes docs and Markdown, and is refused the rest", async () => {
  const write = (path: string) => `call write_file {"path": ${JSON.stringify(path)}, "content": "x"}`;
  const paths = ["docs/how.md", "NOTES.md", "src/a.ts", ".github/workflows/x.md", "docs/link.md"];
  await using engine = await startEngine({
    script: `call read_file {"path": "docs/link.md"}\n---\n${paths.map(write).join("\n")}\n---\nsay Done.`,
    config: { mode: "deep-explore-write", title: false },
    files: { "src/b.ts": "b" },
  });
  const { project } = engine;
  await Deno.mkdir(project.path("docs"));
  await Deno.symlink("../src/b.ts", project.path("docs/link.md"));
  await engine.prompt("Write it down");
  const [, how, notes, ...refused] = engine.results();
  assert.doesNotMatch(`${how}${notes}`, /Not allowed/);
  for (const result of refused) assert.match(result, /Not allowed: this mode writes docs/);
  assert.equal(await Deno.readTextFile(project.path("src/b.ts")), "b");
  assert.deepEqual(engine.asked, []);
});

Deno.test("a mode's own limit of steps holds, and a change of the mode with the next message", async () => {
  await using engine = await startEngine({
    script: [
      ...Array.from({ length: 10 }, (_, at) => `call think {"thought": "${at}"}`),
      `new-history\n${WRITE}`,
      "say Done.",
    ]
      .join("\n---\n"),
    config: { mode: "ask", title: false },
    ask: ({ accesses }) => ({ answer: accesses.kind === "ask" ? "reject" : "allow_once" }),
  });
  const { session, project } = engine;
  assert.deepEqual(await engine.prompt("Think"), { type: "stopped", reason: "max_iterations" });
  const running = engine.prompt("Write");
  session.modes.choose({ mode: "plan" });
  await running;
  assert.match(engine.results().at(-1) ?? "", /no tool is called "write_file"/);
  await assert.rejects(Deno.stat(project.path("new.ts")));
});

Deno.test("plan: a turn that has looked around ends in a plan, or is asked for one once", async () => {
  const plan = 'call update_plan {"steps": [{"step": "a", "status": "pending"}]}';
  await using engine = await startEngine({
    script: [
      'call think {"thought": "x"}',
      "say It is easy.",
      `expect update_plan\n${plan}`,
      "say One step.",
      "new-history\nsay A word.",
    ]
      .join("\n---\n"),
    config: { mode: "plan", title: false },
  });
  await engine.prompt("How?");
  assert.ok(engine.events.some(({ type }) => type === "plan"));
  await engine.prompt("Thanks");
  assert.equal(engine.server.requests.length, 5);
  assert.deepEqual(engine.server.problems, []);
});
