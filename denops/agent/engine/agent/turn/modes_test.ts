/** Turns in modes: what the engine itself holds, whatever the client's gate does. */
import assert from "node:assert/strict";
import { objects, string } from "../../../../../tests/model/model_messages.ts";
import { startEngine } from "../../../../../tests/support/engine_session.ts";
import { MODES } from "../../context/modes.ts";

const chosen = (mode: string) => `say \`\`\`json\nsay {"mode": "${mode}"}\nsay \`\`\``;

const WRITE = 'call write_file {"path": "new.ts", "content": "x"}';

const REPORT = { output: "mkdir: cannot create: Read-only file system", end: "exit code 1", failed: true };
const COMMANDS = {
  run: () => Promise.resolve(REPORT),
  startInBackground: () => Promise.resolve("1"),
  output: () => Promise.resolve(REPORT),
  stop: () => Promise.resolve(REPORT),
  isRunning: () => false,
};

function prompts(
  engine: { readonly server: { readonly requests: readonly { readonly body: Record<string, unknown> }[] } },
) {
  return engine.server.requests.map(({ body }) => string(objects(body.messages)[0]?.content) ?? "");
}

Deno.test("auto: the model chooses the mode, the chat says which one, and an unclear answer chooses agent", async () => {
  await using engine = await startEngine({
    script: [
      chosen("ask"),
      `new-history\n${WRITE}`,
      "say No.",
      `new-history\n${chosen("agent")}`,
      `new-history\n${WRITE}`,
      "say Yes.",
      "new-history\nsay Hm?",
      "new-history\nsay Well.",
      `new-history\n${chosen("deep-explore")}`,
      "new-history\nsay It is large.",
    ]
      .join("\n---\n"),
    config: { mode: "auto", title: false },
  });
  const { project, server } = engine;
  await engine.prompt("How does it work?");
  assert.match(engine.results()[0] ?? "", /Not run: mode (?:ask|plan) changes nothing/);
  await assert.rejects(Deno.stat(project.path("new.ts")));
  await engine.prompt("Change it");
  assert.equal(await Deno.readTextFile(project.path("new.ts")), "x");
  await engine.prompt("Hm");
  await engine.prompt("How does all of it work?");
  const [intent, ask = "", , , agent = "", , , unclear, , deep = ""] = prompts(engine);
  assert.match(intent ?? "", /You choose the mode/);
  assert.ok(ask === agent && unclear === agent && deep === agent, "one prompt for all modes");
  const last = JSON.stringify(server.requests.at(-1)?.body.messages);
  const told = [...last.matchAll(/<mode_\w+>([\w-]+):/g)].map(([, mode]) => mode);
  assert.deepEqual(told, ["ask", "agent", "deep-explore"]);
  assert.equal(server.requests[0]?.body.tools, undefined);
  const notices = engine.events.flatMap((event) => event.type === "notice" ? [event.text] : []);
  assert.deepEqual(
    notices,
    ["ask", "agent", "agent", "deep-explore"].map((mode) => `Mode auto chose ${mode} for this message.`),
  );
  assert.deepEqual(server.problems, []);
});

Deno.test("explore: the option names its model, and another choice of the user's goes before it", async () => {
  await using engine = await startEngine({
    script: ["say One.", "new-history\nsay Two.", "new-history\nsay Three."].join("\n---\n"),
    config: { title: false, explore_model: "model-small" },
  });
  const { session, server } = engine;
  await engine.prompt("Where is it?");
  session.modes.choose({ mode: "explore" });
  await engine.prompt("Where is it?");
  session.modes.choose({ model: "model-large" }, { name: "model-large" });
  await engine.prompt("Where is it?");
  assert.deepEqual(server.requests.map(({ body }) => body.model), ["model-1", "model-small", "model-large"]);
  assert.deepEqual(server.problems, []);
});

Deno.test("auto: the model is loaded before it chooses, and it may take its time", async () => {
  await using engine = await startEngine({
    wire: "ollama",
    script: [`wait loaded\n${chosen("ask")}`, "new-history\nsay It works."].join("\n---\n"),
    config: { mode: "auto", title: false },
  });
  const { server } = engine;
  const turn = engine.prompt("How does it work?");
  await server.reached("loaded");
  assert.ok(server.lookups.length > 0, "the server was asked for the model first");
  server.release("loaded");
  await turn;
  assert.match(JSON.stringify(server.requests.at(-1)?.body), /<mode_\w+>ask:/);
  assert.deepEqual(MODES.intent.limits, {}, "it has no limit of its own");
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
    ask: ({ access }) => ({ answer: access.kind === "ask" ? "reject" : "allow_once" }),
  });
  const { session, project } = engine;
  assert.deepEqual(await engine.prompt("Think"), { type: "stopped", reason: "max_iterations" });
  const running = engine.prompt("Write");
  session.modes.choose({ mode: "plan" });
  await running;
  assert.match(engine.results().at(-1) ?? "", /Not run: mode (?:ask|plan) changes nothing/);
  await assert.rejects(Deno.stat(project.path("new.ts")));
});

Deno.test("the project's .git is refused without a question, and a mode that reads proposes no more access", async () => {
  const script = [
    'call write {"path": ".git/hooks/x", "content": "x"}',
    'call run {"command": "mkdir a", "access": "look"}',
    "say Done.\nrepeat",
  ].join("\n---\n");
  const play = async (mode: string) => {
    await using engine = await startEngine({
      script,
      abilities: { commands: COMMANDS },
      config: { mode, title: false },
      ask: () => ({ answer: "allow_once", access: "look" }),
    });
    await engine.prompt("Go");
    return { results: engine.results(), asked: engine.asked };
  };
  const agent = await play("agent");
  assert.match(agent.results[0] ?? "", /^Not allowed: \.git is closed to tools; use git's own commands/);
  assert.match(agent.results[1] ?? "", /call it again with access write/);
  assert.equal(agent.asked.length, 1);
  const plan = await play("plan");
  assert.match(plan.results[1] ?? "", /this mode only reads: go on without, or say what is missing$/);
});

Deno.test("plan: a turn that has looked around ends in a plan, or is asked for one once", async () => {
  const plan = 'call update_plan {"steps": [{"step": "a", "status": "pending"}]}';
  await using engine = await startEngine({
    script: [
      'call think {"thought": "x"}',
      "say It is easy.",
      `expect the tool plan\n${plan}`,
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

const FREE = [
  'call read {"path": "a.txt"}',
  'call run {"command": "ls", "access": "look"}',
  'call edit {"path": "a.txt", "old_str": "alpha", "new_str": "omega"}',
  'call write {"path": "b.txt", "content": "b"}',
];
const EVERYTHING = [...FREE, 'call subagent {"mode": "explore", "title": "look", "task": "Look."}'];
const LOOKS = /^Not run: this turn only reads and searches files, so it has no /;

/** Plays the same calls with this message in this mode. */
async function play(mode: string, message: string, calls = EVERYTHING) {
  await using engine = await startEngine({
    script: `${calls.join("\n")}\n---\nsay Well.\nrepeat`,
    files: { "a.txt": "alpha\n" },
    abilities: { commands: COMMANDS },
    config: { mode, title: false },
  });
  await engine.prompt(message);
  const first = engine.server.requests[0]?.body;
  return {
    results: engine.results(),
    refused: engine.results().map((text) => LOOKS.test(text)),
    text: await engine.project.read("a.txt"),
    tools: first?.tools,
    choice: first?.tool_choice,
    message: JSON.stringify(first?.messages),
    asked: engine.asked,
    problems: engine.server.problems,
  };
}

Deno.test("chat reads files, and changes and runs nothing; its request has the tools of every mode", async () => {
  const chat = await play("chat", "What is in a.txt?");
  assert.equal(chat.results[0], "1\talpha");
  assert.deepEqual(chat.refused, [false, true, true, true, true]);
  assert.equal(chat.text, "alpha\n");
  const agent = await play("agent", "What is in a.txt?", FREE);
  assert.deepEqual([chat.tools, chat.choice], [agent.tools, agent.choice]);
  assert.equal(agent.text, "omega\n");
  assert.deepEqual([chat.problems, agent.problems], [[], []]);
});

Deno.test("#look and #edits limit the turn of a message, in no mode more than that, and change no tool of the request", async () => {
  const plain = await play("agent", "Change a.txt", FREE);
  const look = await play("agent", "Change a.txt #look #edits");
  assert.match(look.message, /This turn only reads and searches files, as the user asked with #look/);
  assert.deepEqual(look.refused, [false, true, true, true, true]);
  assert.equal(look.text, "alpha\n");
  const edits = await play("agent", "Change a.txt (#edits)");
  const refusal = /^Not run: this turn only reads, searches and edits files, so it has no /;
  assert.deepEqual(edits.results.map((text) => refusal.test(text)), [false, true, false, false, true]);
  assert.equal(edits.text, "omega\n");
  const plan = await play("plan", "Change a.txt #edits");
  assert.equal(plan.text, "alpha\n");
  assert.deepEqual([look.tools, edits.tools], [plain.tools, plain.tools]);
  const quoted = await play("agent", "Change a.txt, not `#look`", FREE);
  assert.equal(quoted.text, "omega\n");
  assert.deepEqual([...look.asked, ...edits.asked].filter(({ access }) => access.kind === "command"), []);
});

Deno.test("auto keeps the set of a message, whatever mode it chooses, and the next message is free", async () => {
  await using engine = await startEngine({
    script: [
      chosen("agent"),
      `new-history\n${WRITE}`,
      "say No.",
      `new-history\n${chosen("agent")}`,
      `new-history\n${WRITE}`,
      "say Yes.",
    ].join("\n---\n"),
    config: { mode: "auto", title: false },
  });
  await engine.prompt("Look at it #look");
  assert.match(engine.results()[0] ?? "", LOOKS);
  await engine.prompt("Now write");
  assert.equal(await Deno.readTextFile(engine.project.path("new.ts")), "x");
});
