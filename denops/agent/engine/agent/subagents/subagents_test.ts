/** Sub-agents, run by the real session for a scripted model. */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  CANCELLED,
  checkEvents,
  END_TURN,
  type RunningEngine,
  startEngine,
} from "../../../../../tests/support/engine_session.ts";
import { waitUntil } from "../../../../../tests/support/project.ts";
import { disconnected } from "../../../../../tests/support/server.ts";
import { runs } from "../../../../../tests/support/runs.ts";

const FILES = { "a.txt": "alpha\n", "b.txt": "beta\n" };

/** A call of the tool, as a line of a script. */
function start(title: string, task: string, more: Readonly<Record<string, unknown>> = {}): string {
  return `call run_subagent ${JSON.stringify({ title, task, ...more })}`;
}

function states(engine: RunningEngine): readonly string[] {
  return engine.session.agents.list().map(({ title, state }) => `${title}: ${state}`).sort();
}

/** What holds for the log of every child: each call has its result, and it has come to an end. */
function checkChildren(engine: RunningEngine): void {
  for (const { id } of engine.store.subagents("s1")) {
    const messages = engine.store.messages(id);
    const calls = messages.flatMap((entry) => entry.type === "assistant_message" ? entry.calls : []);
    const results = messages.flatMap((entry) => entry.type === "tool_result" ? [entry.id] : []);
    assert.deepEqual(results, calls.map(({ id }) => id));
    checkEvents(engine.store.events(id).map(({ entry }) => entry));
  }
}

Deno.test("a sub-agent works in a log of its own, and the model gets its answer alone", async () => {
  await using engine = await startEngine({
    files: FILES,
    script: `${start("Find alpha", "Where is alpha?", { context_hint: "It is a word." })}
---
when Where is alpha?
expect It is a word.
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
  assert.deepEqual(states(engine), ["Find alpha: done"]);
  checkChildren(engine);
});

Deno.test("three work at the same time, the others wait; results keep the order of the calls", async () => {
  const names = ["one", "two", "three", "four", "five"];
  await using engine = await startEngine({
    script: `${names.map((name) => start(name, `task ${name}`)).join("\n")}
${names.map((name) => `---\nwhen task ${name}\nwait ${name}\nsay answer ${name}`).join("\n")}
---
say Done`,
  });
  const { server } = engine;
  const turn = engine.prompt("Go");
  await Promise.all(["one", "two", "three"].map((name) => server.reached(name)));
  assert.deepEqual(states(engine), [
    ...["five: waiting", "four: waiting", "one: running", "three: running", "two: running"],
  ]);
  assert.equal(server.requests.length, 4);
  server.release("three");
  await server.reached("four");
  for (const name of ["five", "four", "two", "one"]) server.release(name);
  assert.deepEqual(await turn, END_TURN);
  assert.deepEqual(engine.results(), names.map((name) => `answer ${name}`));
  assert.deepEqual(server.problems, []);
});

Deno.test("a stop ends them with the turn: those that run, and those that wait", async () => {
  const names = ["one", "two", "three", "four"];
  await using engine = await startEngine({
    script: `${names.map((name) => start(name, `task ${name}`)).join("\n")}
${names.map((name) => `---\nwhen task ${name}\nsay I am\nwait ${name}\nsay answer ${name}`).join("\n")}`,
  });
  const turn = engine.prompt("Go");
  await Promise.all(["one", "two", "three"].map((name) => engine.server.reached(name)));
  engine.session.cancel();
  assert.deepEqual(await turn, CANCELLED);
  await disconnected(engine.server);
  assert.deepEqual(states(engine), ["one: stopped", "three: stopped", "two: stopped"]);
  assert.equal(engine.results().length, 4);
  checkEvents(engine.events);
  checkChildren(engine);
});

Deno.test("one that may only look has no tool that writes, and what it calls all the same is refused", async () => {
  const calls = [
    ["write_file", { path: "x.txt", content: "x" }],
    ["edit_file", { path: "a.txt", old_str: "alpha", new_str: "x" }],
    ["delete_file", { path: "a.txt" }],
    ["move_file", { from: "a.txt", to: "c.txt" }],
    ["run_terminal_command", { command: "touch x", access: "write" }],
    ["run_terminal_command", { command: "touch x" }],
    ["run_subagent", { title: "Worse", task: "deeper", mode: "agent" }],
    ["ask_user", { question: "May I?" }],
  ] as const;
  const ran: (string | undefined)[] = [];
  const report = { output: "", end: "exit code 0", failed: false };
  await using engine = await startEngine({
    files: FILES,
    ask: ({ access }) =>
      access.kind === "command" ? { answer: "allow_once", access: "look" } : {
        answer: "allow_once",
      },
    abilities: {
      commands: {
        run: ({ access }) => Promise.resolve(ran.push(access)).then(() => report),
        startInBackground: ({ access }) => Promise.resolve(`${ran.push(access)}`),
        output: () => Promise.resolve(report),
        stop: () => Promise.resolve(report),
        isRunning: () => false,
      },
      questions: { ask: () => Promise.resolve("yes") },
    },
    script: `${start("Look", "look around")}
---
when look around
${calls.map(([name, args]) => `call ${name} ${JSON.stringify(args)}`).join("\n")}
---
when look around
say Tried.
---
say Done`,
  });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  assert.ok(ran.every((access) => access === "look"), ran.join());
  assert.equal(await engine.project.read("a.txt"), "alpha\n");
  await assert.rejects(engine.project.read("x.txt"), Deno.errors.NotFound);
  const [child] = engine.store.subagents("s1");
  const results = engine.store.messages(child?.id ?? "").filter((entry) => entry.type === "tool_result");
  assert.equal(results.length, calls.length);
  assert.equal(results.filter(({ isError }) => !isError).length, ran.length);
  assert.equal(engine.store.subagents("s1").length, 1);
  // Whatever its mode may do, it asks nobody and starts no others.
  const offered = JSON.stringify(engine.server.requests[1]?.body);
  for (const name of ["ask_user", "subagent"]) assert.ok(!offered.includes(`"name":"${name}"`), name);
});

Deno.test("the prompt is the session's, and so are the tools but two that no sub-agent has; another model is one that is named", async () => {
  await using engine = await startEngine({
    config: { models: [{ name: "model-2" }] },
    script: `${start("Same", "same mode", { mode: "agent" })}
${start("Other", "other model", { model: "model-2" })}
${start("None", "no such model", { model: "model-3" })}
---
when same mode
say One
---
when other model
say Two
---
say Done`,
  });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  const bodies = engine.server.requests.map(({ body = {} }) => body);
  const of = (task: string) => bodies.find((body) => JSON.stringify(body).includes(task + "\\n"));
  const beginning = (body: (typeof bodies)[number] | undefined) =>
    JSON.stringify([body?.model, Array.isArray(body?.messages) ? body.messages[0] : undefined]);
  const tools = (body: (typeof bodies)[number] | undefined) => JSON.stringify(body?.tools).slice(0, -1);
  assert.equal(beginning(of("same mode")), beginning(bodies[0]));
  // What is left out stands last: a cache of the beginning holds.
  assert.ok(tools(bodies[0]).startsWith(tools(of("same mode"))));
  const told = (body: (typeof bodies)[number] | undefined) => JSON.stringify(body?.messages);
  assert.match(
    told(of("same mode")),
    /<mode_\w+>agent:.*Your answer goes to the agent.*You cannot ask anyone/,
  );
  assert.match(told(bodies[0]), /<mode_\w+>agent:.*few short lines.*wrong guess would cost work, ask/);
  assert.equal(of("other model")?.model, "model-2");
  assert.equal(of("no such model"), undefined);
  assert.match(engine.results()[2] ?? "", /^No model is called model-3\. Models: model-1, model-2\.$/);
  assert.deepEqual(engine.usage.report("s1").models.map(({ name }) => name).sort(), [
    ...["test/model-1", "test/model-2"],
  ]);
});

Deno.test("mode orchestrator plans, delegates, writes itself, and ends when its steps are done", async () => {
  const plan = (status: string) => `call plan {"steps": [{"step": "Write c.txt", "status": "${status}"}]}`;
  await using engine = await startEngine({
    files: FILES,
    config: { mode: "orchestrator", title: false },
    script: `expect orchestrator:
${plan("in_progress")}
${start("Look", "look up alpha")}
---
when look up alpha
expect Your answer goes to the agent that gave you this task
say It is in a.txt.
---
expect It is in a.txt.
call write {"path": "c.txt", "content": "beta\\n"}
---
${plan("completed")}
---
say Done.`,
  });
  assert.deepEqual(await engine.prompt("Write c.txt, as alpha has it"), END_TURN);
  assert.equal(await engine.project.read("c.txt"), "beta\n");
  assert.deepEqual(engine.server.nudgeRequests, []);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("none is started that may change more than who starts it", async () => {
  await using engine = await startEngine({ script: "say Hello" });
  const { agents } = engine.session;
  const task = { title: "t", task: "x" };
  assert.throws(() => agents.accessOf({ ...task, mode: "agent" }, "read"), /may change more/);
  assert.throws(() => agents.accessOf({ ...task, mode: "agent" }, "docs"), /may change more/);
  assert.throws(() => agents.accessOf({ ...task, mode: "deep-explore-write" }, "read"), /may change more/);
  for (const mode of ["chat", "auto", "orchestrator", "title", "nobody"]) {
    assert.throws(() => agents.accessOf({ ...task, mode }, "write"), /No mode is called/);
  }
  assert.equal(agents.accessOf({ ...task, mode: "review" }, "read").kind, "agent");
});

Deno.test("what one writes is the turn's to take back, and two that write come one after the other", async () => {
  await using engine = await startEngine({
    files: FILES,
    script: `${start("A", "change a", { mode: "agent" })}
${start("B", "change b", { mode: "agent" })}
---
when change a
call read_file {"path": "a.txt"}
---
when change a
call edit_file {"path": "a.txt", "old_str": "alpha", "new_str": "one"}
---
when change a
say Changed a.
---
when change b
call write_file {"path": "new.txt", "content": "two\\n"}
---
when change b
say Changed b.
---
say Done`,
  });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  assert.equal(await engine.project.read("a.txt"), "one\n");
  assert.equal(await engine.project.read("new.txt"), "two\n");
  const files = engine.events.flatMap((event) => event.type === "turn_files" ? [event.files] : []).at(-1);
  assert.deepEqual(files?.map(({ path }) => path.slice(engine.project.root.length + 1)).sort(), [
    ...["a.txt", "new.txt"],
  ]);
  await engine.session.takeBack({ kind: "undo", turn: undefined });
  assert.equal(await engine.project.read("a.txt"), "alpha\n");
  await assert.rejects(engine.project.read("new.txt"), Deno.errors.NotFound);
});

Deno.test("at its limit of steps nobody is asked: it answers with what it has", async () => {
  const steps = Array.from(
    { length: 10 },
    (_, at) => `when search on\ncall read_file {"path": "a.txt", "offset": ${at}}`,
  );
  await using engine = await startEngine({
    files: FILES,
    script: `${start("Endless", "search on")}
---
${steps.join("\n---\n")}
---
say Only this.
---
expect Only this.
say Done`,
  });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  assert.deepEqual(engine.asked.map(({ access }) => access.kind), ["agent"]);
  assert.deepEqual(engine.results(), ["Only this."]);
  checkChildren(engine);
});

Deno.test("caps are the session's: one question for all, and a no ends them", async () => {
  await using engine = await startEngine({
    config: { max_tokens_per_turn: 100 },
    ask: ({ access }) => access.kind === "ask" ? { answer: "reject" } : { answer: "allow_once" },
    script: `usage 200 1
${["One", "Two", "Three"].map((title) => start(title, `task ${title}`)).join("\n")}
${start("Back", "in the background", { background: true })}`,
  });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  const limits = engine.asked.filter(({ access }) => access.kind === "ask");
  assert.deepEqual(limits.map(({ agent }) => agent?.title), ["One"]);
  assert.equal(engine.server.requests.length, 1);
});

Deno.test("what one uses up counts for the session and has a row of its own", async () => {
  await using engine = await startEngine({
    config: { price: { input: 1, output: 1 } },
    script: `usage 100 10
${start("One", "task one")}
---
when task one
usage 1000 100
say answer
---
usage 200 20
say Done?`,
  });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  const { turns, agents } = engine.usage.report("s1");
  assert.deepEqual(turns.map(({ input, output }) => [input, output]), [[1_300, 130]]);
  assert.deepEqual(agents.map(({ name, input, output }) => [name, input, output]), [["One", 1_000, 100]]);
  const used = engine.events.flatMap((event) => event.type === "usage" ? [event.purpose] : []);
  assert.deepEqual(used, [undefined, "explore", undefined]);
});

Deno.test("in the background: an id at once, a line when it has ended, its answer before the next request", async () => {
  await using engine = await startEngine({
    files: FILES,
    script: `${start("Slow", "slow task", { background: true })}
---
when slow task
wait slow
say Found it.
---
wait parent
call read_file {"path": "a.txt"}
---
expect Found it.
expect alpha
say Done`,
  });
  const { server, events } = engine;
  const turn = engine.prompt("Go");
  await Promise.all([server.reached("slow"), server.reached("parent")]);
  assert.match(engine.results()[0] ?? "", /^Started in the background, its id is [0-9a-f]{8}\./);
  server.release("slow");
  await waitUntil(
    "the line",
    () => events.some((one) => one.type === "notice" && /"Slow": done/.test(one.text)),
  );
  server.release("parent");
  assert.deepEqual(await turn, END_TURN);
  assert.deepEqual(server.problems, []);
  server.play("expect-not Found it.\nsay Yes");
  assert.deepEqual(await engine.prompt("Is that all?"), END_TURN);
  assert.deepEqual(server.problems, []);
});

Deno.test("in the background, after the turn: the next one is told; it asks nobody, and is stopped by its id", async () => {
  await using engine = await startEngine({
    files: { ...FILES, ".env": "A=1\n" },
    config: { deny_read: [], read_rules: { deny: [], ask: ["**/.env"] } },
    script: `${start("Reads", "read the secret", { background: true })}
${start("Endless", "never ends", { background: true })}
---
when never ends
say I begin
wait forever
---
when read the secret
wait turn
call read_file {"path": ".env"}
---
when read the secret
expect asks nobody
say Refused.
---
say Started`,
  });
  const { server, events } = engine;
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  const asked = engine.asked.length;
  server.release("turn");
  await waitUntil(
    "the line",
    () => events.some((one) => one.type === "notice" && /"Reads": done/.test(one.text)),
  );
  assert.equal(engine.asked.length, asked);
  await server.reached("forever");
  const endless = engine.session.agents.list().find(({ title }) => title === "Endless")?.sessionId.slice(
    0,
    8,
  );
  server.play(`expect Refused.
expect-not never
call subagent_output {"id": "${endless}"}
call subagent_output {"id": "${endless}", "stop": true}
---
expect It still runs.
expect I begin
say Done`);
  assert.deepEqual(await engine.prompt("And?"), END_TURN);
  assert.deepEqual(server.problems, []);
  assert.deepEqual(states(engine), ["Endless: stopped", "Reads: done"]);
  await server.aborted();
});

Deno.test("an answer is cut at 1,500 words, and says so", async () => {
  // A model that repeats itself is stopped before.
  const counted = Array.from({ length: 2_000 }, (_, at) => `${at}-${at * 7919 % 65_537}`);
  await using engine = await startEngine({
    script: `${start("Talks", "talk")}
${start("Roars", "roar")}
---
when talk
say ${counted.join(" ")}
---
when roar
say ${counted.join("").slice(0, 20_000).padEnd(20_000, "!")}
---
say Done`,
  });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  const [talked = "", roared = ""] = engine.results();
  const [words = "", note] = talked.split("\n");
  assert.deepEqual([words.split(" ").length, note], [1_500, "[cut here: 500 words more]"]);
  assert.match(roared, /^\S{16000}\n\[cut here: 4000 characters more\]$/);
});

/** What one sub-agent does, an answer each. */
const STEPS = [
  'call read_file {"path": "a.txt"}',
  'say Well\ncall read_file {"path": "none.txt"}\ncall read_file {"path": "b.txt"}',
  "call no_such_tool {}",
  "think Hm.\nslow 1\ncall list_directory {}",
  'rawcall read_file {"path": ',
  'call write_file {"path": "new.txt", "content": "x"}',
  "status 400 {}",
] as const;

Deno.test("however they come between each other, the log is well-formed: each call has one result, in order", async () => {
  const child = fc.record({
    steps: fc.array(fc.constantFrom(...STEPS), { maxLength: 4 }),
    mode: fc.constantFrom("explore", "agent"),
    background: fc.boolean(),
  });
  const lives = fc.record({
    children: fc.array(child, { minLength: 1, maxLength: 6 }),
    cancelAfter: fc.option(fc.nat(40), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(lives, async ({ children, cancelAfter }) => {
      const calls = children.map(({ mode, background }, at) =>
        start(`T${at}`, `task <${at}>`, { mode, background })
      );
      const answers = children.flatMap(({ steps }, at) =>
        [...steps, `slow 1\nsay answer ${at}`].map((step) => `---\nwhen task <${at}>\n${step}`)
      );
      let seen = 0;
      await using engine = await startEngine({
        files: FILES,
        script: `call read_file {"path": "a.txt"}\n${calls.join("\n")}\ncall read_file {"path": "b.txt"}
${answers.join("\n")}
---
say Done`,
        publish: () => ++seen === cancelAfter ? engine.session.cancel() : undefined,
      });
      await engine.prompt("Go");
      await engine.session.close();
      const messages = engine.store.messages("s1");
      const asked = messages.flatMap((entry) => entry.type === "assistant_message" ? entry.calls : []);
      const results = messages.flatMap((entry) => entry.type === "tool_result" ? [entry.id] : []);
      assert.deepEqual(results, asked.map(({ id }) => id));
      const foreground = children.flatMap(({ background }, at) => background ? [] : [`answer ${at}`]);
      const said = JSON.stringify(messages.filter(({ type }) => type !== "control_note"));
      assert.ok(!said.includes("Hm.") && !said.includes("Well"), "only answers reach the parent");
      if (cancelAfter === undefined) {
        for (const text of foreground) assert.ok(said.includes(text) || said.includes("failed"), text);
      }
      // Those in the background may end after the turn.
      checkEvents(engine.stored().filter(({ type }) => type !== "notice" && type !== "usage"));
      checkChildren(engine);
      assert.ok(engine.session.agents.list().every(({ state }) => !["running", "waiting"].includes(state)));
    }),
    runs(25),
  );
});
