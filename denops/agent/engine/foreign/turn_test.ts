/** Turns of another agent, in a session of the real engine; the agent speaks the protocol in memory. */
import assert from "node:assert/strict";
import { noEditor } from "../acp/editor.ts";
import { CANCELLED, checkEvents, END_TURN } from "../../../../tests/support/engine_session.ts";
import {
  AgentError,
  type AgentHand,
  type AgentScript,
  type Message,
  OPTIONS,
} from "../../../../tests/support/foreign/in_memory.ts";
import { foreignSession, linesOf } from "../../../../tests/support/foreign/session.ts";

/** A PNG of one pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

Deno.test("what the agent says and does is stored and shown, and what it changed is kept, undone and known", async () => {
  await using session = await foreignSession({
    async turn(_text, hand) {
      hand.think("I ponder.");
      hand.say("Reading. ");
      hand.call("c1", { title: "Read a.txt", kind: "read", rawInput: {}, status: "pending" });
      hand.more("c1", {
        rawInput: { path: "a.txt" },
        locations: [{ path: "a.txt", line: 1 }],
        status: "in_progress",
      });
      hand.more("c1", {
        status: "completed",
        content: [{ type: "content", content: { type: "text", text: "```console\none\ntwo\n```" } }],
      });
      await hand.change("sed -i s/one/ONE/ a.txt; echo n > new.txt");
      hand.say("Done");
      hand.say(" it.");
    },
  });
  assert.deepEqual(await session.prompt("Change it"), END_TURN);
  checkEvents(session.events);
  assert.deepEqual(linesOf(session.events, session.project.root), [
    "think I ponder.",
    "say Reading. ",
    "start read: Read a.txt",
    "run: held by the sandbox",
    "completed: 2 lines",
    "say Done it.",
    "start edit: changes of Claude",
    "ask: Claude would make 2 changes",
    "answer: allow_once (asked)",
    "run: asked",
    "modified a.txt",
    "created new.txt",
    "completed: 2 files kept",
    "done: end_turn",
  ]);
  assert.equal(await session.project.read("a.txt"), "ONE\ntwo\n");
  assert.deepEqual(session.agent.steps, ["open", "begin", "end complete"]);
  await session.session.takeBack({ kind: "undo", turn: undefined });
  assert.equal(await session.project.read("a.txt"), "one\ntwo\n");
  const said = session.messages().filter(({ role }) => role === "assistant");
  assert.deepEqual(said.map(({ text }) => text), ["Reading. ", "", "Done it."]);
});

Deno.test("a permission is answered by the rules' word, with the agent's own option, and never with always", async () => {
  const answers: string[] = [];
  await using session = await foreignSession({
    async turn(_text, hand) {
      // A permission may come before its call.
      answers.push(
        await hand.permit({
          toolCallId: "p1",
          title: "Run make",
          kind: "execute",
          rawInput: { command: "make" },
        }),
      );
      hand.more("p1", { status: "completed", rawOutput: { output: "built\n", exit_code: 0 } });
      answers.push(
        await hand.permit({
          toolCallId: "p2",
          title: "Run rm",
          kind: "execute",
          rawInput: { command: ["bash", "-lc", "rm -r x"] },
        }),
      );
      hand.more("p2", { status: "failed" });
      answers.push(
        await hand.permit({ toolCallId: "p3", title: "Edit", kind: "edit", locations: [{ path: "a.txt" }] }),
      );
      answers.push(await hand.permit({ toolCallId: "p4", title: "Odd" }, [OPTIONS[0], OPTIONS[2]]));
    },
  }, {
    ask({ access }) {
      assert.ok(access.kind === "foreign");
      if (access.command === "rm -r x") return { answer: "reject", rule: "run(rm *)", reason: "no" };
      if (access.files !== undefined) return { answer: "allow_session" };
      return { answer: "allow_once", rule: "held by the sandbox" };
    },
  });
  assert.deepEqual(await session.prompt("Go"), END_TURN);
  checkEvents(session.events);
  assert.deepEqual(answers, ["yes", "no", "always", "cancelled"]);
  assert.deepEqual(
    session.asked.map(({ access }) =>
      access.kind === "foreign"
        ? [access.tool, access.command, access.files?.map(({ access, path }) => `${access} ${path.relative}`)]
        : []
    ),
    [
      ["execute", "make", undefined],
      ["execute", "rm -r x", undefined],
      ["edit", undefined, ["write a.txt"]],
      [
        "other",
        undefined,
        undefined,
      ],
    ],
  );
  const lines = linesOf(session.events);
  assert.ok(lines.includes("completed: exit code 0"));
  assert.ok(lines.includes("failed: failed"));
});

Deno.test("a plan's approval is a question with the agent's own options", async () => {
  const answers: string[] = [];
  const asked: unknown[] = [];
  const options = [
    { optionId: "auto", name: "Yes, and accept edits", kind: "allow_always" },
    { optionId: "manual", name: "Yes", kind: "allow_once" },
    { optionId: "plan", name: "No, keep planning", kind: "reject_once" },
  ];
  const call = {
    toolCallId: "plan",
    title: "Ready to code?",
    kind: "switch_mode",
    content: [{ type: "content", content: { type: "text", text: "1. Do it" } }],
  };
  await using session = await foreignSession({
    async turn(text, hand) {
      answers.push(await hand.permit({ ...call, toolCallId: text }, options));
    },
  }, {
    questions: {
      ask(question, names) {
        asked.push([question, names]);
        return Promise.resolve(
          asked.length === 1 ? "Yes" : asked.length === 2 ? "Something else" : undefined,
        );
      },
    },
  });
  for (const text of ["one", "two", "three"]) assert.deepEqual(await session.prompt(text), END_TURN);
  assert.deepEqual(answers, ["manual", "plan", "plan"]);
  assert.deepEqual(asked[0], ["Ready to code?\n\n1. Do it", [
    "Yes, and accept edits",
    "Yes",
    "No, keep planning",
  ]]);
  assert.deepEqual(session.asked, []);
});

Deno.test("in a mode that changes nothing a write is refused, and what was changed all the same is not kept", async () => {
  const answers: string[] = [];
  await using session = await foreignSession({
    async turn(_text, hand) {
      answers.push(
        await hand.permit({ toolCallId: "w", title: "Edit", kind: "edit", locations: [{ path: "a.txt" }] }),
      );
      await hand.change("echo evil > a.txt");
    },
  }, {
    ask: ({ access }) =>
      access.kind === "effects" ? { answer: "reject", rule: "mode" } : { answer: "allow_once" },
  });
  session.session.modes.choose({ mode: "ask" });
  assert.deepEqual(await session.prompt("Look"), END_TURN);
  assert.deepEqual(answers, ["no"]);
  assert.equal(await session.project.read("a.txt"), "one\ntwo\n");
});

Deno.test("an agent that does not stop is ended, and the next message starts it again with its own session", async () => {
  const begun = Promise.withResolvers<void>();
  const loaded: unknown[] = [];
  const order: string[] = [];
  await using session = await foreignSession([
    {
      turn(_text, hand) {
        hand.say("No end");
        begun.resolve();
        return new Promise<string>(() => {});
      },
    },
    {
      capabilities: { loadSession: true },
      answer(method, params, hand) {
        if (method !== "session/load") return;
        loaded.push(params.sessionId);
        const replay = () => {
          order.push("replay");
          hand.update(
            { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Old words" } },
            String(params.sessionId),
          );
        };
        // Gemini answers first, and begins later on a busy machine.
        setTimeout(replay, 800);
        setTimeout(replay, 850);
      },
      turn(text, hand) {
        order.push("turn");
        hand.say(`Again: ${text}`);
      },
    },
  ]);
  const turn = session.prompt("Go");
  await begun.promise;
  session.session.cancel();
  assert.deepEqual(await turn, CANCELLED);
  assert.deepEqual(session.agent.steps, ["open", "begin", "end", "close"]);
  assert.deepEqual(await session.prompt("More"), END_TURN);
  assert.deepEqual(loaded, ["theirs-1"]);
  assert.deepEqual(order, ["replay", "replay", "turn"]);
  assert.ok(linesOf(session.events).includes("say Again: More"));
  assert.ok(!linesOf(session.events).includes("say Old words"));
});

Deno.test("an agent that ends in a turn fails it with its last words; without its own session it gets the text", async () => {
  const prompts: string[] = [];
  await using session = await foreignSession([
    {
      async turn(_text, hand) {
        hand.say("Working");
        await hand.change("echo half > a.txt");
        hand.exit("exit code 1: out of memory");
        return await new Promise<string>(() => {});
      },
    },
    {
      turn(text) {
        prompts.push(text);
      },
    },
  ], { ask: () => ({ answer: "reject" }) });
  const end = await session.prompt("Go");
  assert.equal(
    end.type === "failed" ? end.error.message : "",
    "Claude has ended: exit code 1: out of memory. Your next message starts it again.",
  );
  checkEvents(session.events);
  assert.equal(await session.project.read("a.txt"), "one\ntwo\n");
  assert.deepEqual(await session.prompt("More"), END_TURN);
  const [prompt = ""] = prompts;
  assert.ok(prompt.startsWith("More\n"), prompt);
  assert.ok(prompt.includes("User: Go") && prompt.includes("Assistant: Working"), prompt);
});

Deno.test("an agent without a login says so in one line, with the command", async () => {
  await using session = await foreignSession({
    answer(method) {
      if (method === "session/new") throw new AgentError(-32000, "Authentication required");
    },
  }, { agent: { login: "claude /login" } });
  const end = await session.prompt("Go");
  assert.equal(
    end.type === "failed" ? end.error.message : "",
    'Claude needs a login. Use `:Agent login` or run "claude /login" in a terminal, then send the message again.',
  );
  assert.deepEqual(session.agent.steps, ["open", "close"]);
});

Deno.test("the asking mode is set before each turn, whatever the agent does; without one the user hears of it", async () => {
  const modes = {
    currentModeId: "auto",
    availableModes: [{ id: "auto", name: "Auto" }, { id: "default", name: "Ask" }, {
      id: "plan",
      name: "Plan",
    }],
  };
  const turn = (_text: string, hand: AgentHand) =>
    hand.update({ sessionUpdate: "current_mode_update", currentModeId: "auto" });
  await using session = await foreignSession({ opened: { modes }, turn }, {
    agent: { asking_mode: "default" },
  });
  const set = () =>
    session.agent.received.flatMap(({ method, params }) => method === "session/set_mode" ? [params] : []);
  await session.prompt("one");
  await session.prompt("two");
  session.session.modes.choose({ mode: "plan" });
  await session.prompt("three");
  assert.deepEqual(
    set(),
    ["default", "default", "plan"].map((modeId) => ({ sessionId: "theirs-1", modeId })),
  );
  assert.ok(!linesOf(session.events).some((line) => line.startsWith("warning")));
  await using other = await foreignSession({}, { agent: { asking_mode: "default" } });
  await other.prompt("one");
  await other.prompt("two");
  assert.equal(
    linesOf(other.events).filter((line) => line.startsWith("warning: Claude does not ask")).length,
    1,
  );
});

Deno.test("a session that is opened again continues the agent's own, with the agent's title", async () => {
  const prompts: string[] = [];
  const loads: unknown[] = [];
  const script: AgentScript = {
    capabilities: { sessionCapabilities: { resume: {} } },
    answer(method, params) {
      if (method === "session/resume") loads.push(params.sessionId);
    },
    turn(text, hand) {
      prompts.push(text);
      hand.update({ sessionUpdate: "session_info_update", title: "A better title" });
      hand.say("Yes.");
    },
  };
  await using session = await foreignSession(script, { config: { title: true } });
  await session.prompt("one");
  const again = await session.restart();
  assert.equal(session.store.session("s1")?.title, "A better title");
  await again.prompt([{ type: "text", text: "two" }]);
  await again.close();
  assert.deepEqual(loads, ["theirs-1"]);
  assert.ok(!prompts[1]?.includes("one"), prompts[1]);
});

Deno.test("a message during a turn waits for its end", async () => {
  const steered = Promise.withResolvers<unknown>();
  await using session = await foreignSession({
    async turn(_text, hand) {
      const { steering } = session.session;
      steering.say("m1", [{ type: "text", text: "faster" }]).then(steered.resolve);
      await Promise.resolve();
      hand.say("Yes.");
    },
  });
  assert.deepEqual(await session.prompt("one"), END_TURN);
  assert.equal(await steered.promise, "ended");
});

Deno.test("our own model takes a session over with the agent's words, calls and results", async () => {
  await using session = await foreignSession({
    async turn(_text, hand) {
      hand.say("I look.");
      hand.call("c1", { title: "a.txt", kind: "read", status: "in_progress" });
      hand.call("c2", {
        title: "ls -l [current working directory /p] (List)",
        kind: "execute",
        rawInput: { command: "ls" },
        status: "in_progress",
      });
      hand.more("c2", {
        status: "failed",
        content: [{ type: "content", content: { type: "text", text: "no ls" } }],
      });
      hand.more("c1", {
        status: "completed",
        content: [{ type: "content", content: { type: "text", text: "one" } }],
      });
      await hand.change("rm a.txt");
      hand.say("Gone.");
    },
  });
  await session.prompt("Go");
  const started = linesOf(session.events).filter((line) => line.startsWith("start"));
  assert.deepEqual(started.slice(0, 2), ["start read: read a.txt", "start execute: ls -l"]);
  const brief = session.messages().map((message) => {
    const { role, text } = message;
    return role === "assistant" ? [role, text, message.calls.map(({ name }) => name)] : [role, text];
  });
  assert.deepEqual(brief, [
    ["user", "Go"],
    ["assistant", "I look.", ["claude_read", "claude_execute"]],
    ["tool", "one"],
    ["tool", "no ls"],
    ["assistant", "", ["claude_changes"]],
    ["tool", "[kept: a.txt (+0 −2)]"],
    ["assistant", "Gone.", []],
  ]);
});

Deno.test("the agent's commands are offered; a message that calls one is sent bare", async () => {
  const prompts: string[] = [];
  await using session = await foreignSession({
    turn(text, hand) {
      prompts.push(text);
      const availableCommands = [{ name: "compact", description: "Shorten it" }, {
        name: "b",
        description: "",
      }];
      hand.update({ sessionUpdate: "available_commands_update", availableCommands });
    },
  }, { ask: () => ({ answer: "reject" }), surroundings: {} });
  await session.prompt("one");
  await session.prompt("/compact all");
  const [event] = session.events.filter(({ type }) => type === "commands");
  assert.deepEqual(event, {
    type: "commands",
    commands: [{ name: "compact", description: "Shorten it" }, { name: "b", description: "" }],
  });
  assert.match(prompts[0] ?? "", /^one\n\n<context/);
  assert.equal(prompts[1], "/compact all");
});

Deno.test("the user chooses one of the agent's models; another name shows them", async () => {
  const model = (currentValue: string) => ({
    id: "m",
    name: "Model",
    category: "model",
    type: "select",
    currentValue,
    options: [{ value: "opus", name: "Opus" }, { value: "haiku", name: "Haiku" }],
  });
  await using session = await foreignSession({
    opened: { configOptions: [model("opus")] },
    answer(method, params) {
      if (method === "session/set_config_option") return { configOptions: [model(String(params.value))] };
    },
  });
  const { modes } = session.session;
  await session.prompt("one");
  for (const name of ["haiku", "gpt"]) {
    modes.choose({ model: name }, { name });
    await session.prompt(name);
    await session.prompt(name);
  }
  const set = session.agent.received.flatMap(({ method, params }) =>
    method === "session/set_config_option" ? [params] : []
  );
  assert.deepEqual(set, [{ sessionId: "theirs-1", configId: "m", value: "haiku" }]);
  const warnings = linesOf(session.events).filter((line) => line.startsWith("warning"));
  assert.deepEqual(warnings, ['warning: Claude does not use the model "gpt". It has opus, haiku.']);
});

Deno.test("a message takes its files, images and unsaved text along, as far as the agent accepts them", async () => {
  const sent: (readonly Message[])[] = [];
  const turn: AgentScript["turn"] = (_text, _hand, blocks) => void sent.push(blocks);
  const all = { promptCapabilities: { image: true, embeddedContext: true } };
  for (const capabilities of [all, {}]) {
    await using session = await foreignSession({ capabilities, turn }, {
      editor: { ...noEditor, unsavedText: () => Promise.resolve("typed\n") },
    });
    const parts = [
      { type: "text", text: "Look" },
      { type: "file", uri: "file:///b.txt", text: "bee" },
      { type: "image", data: PIXEL, name: "dot.png" },
    ] as const;
    const view = { current: { path: "a.txt", line: 1, modified: true }, buffers: [] };
    assert.deepEqual(await session.session.prompt(parts, { view }), END_TURN);
  }
  const [rich = [], plain = []] = sent.map((blocks) => blocks.map(({ type }) => type));
  assert.deepEqual(rich, ["text", "resource", "text", "image", "text"]);
  assert.deepEqual(plain, ["text", "text", "text", "text"]);
  assert.match(String(sent[1]?.at(-1)?.text), /unsaved text of a\.txt[^]*typed/);
  assert.match(JSON.stringify(sent[1]), /accepts no images: dot\.png/);
});

Deno.test("images of the agent are named with their type and size", async () => {
  const image = { type: "image", mimeType: "image/png", data: PIXEL };
  const resource = { type: "resource", resource: { uri: "x.png", mimeType: "image/png", blob: PIXEL } };
  await using session = await foreignSession({
    turn(_text, hand) {
      hand.call("c1", { title: "Take a picture", status: "in_progress" });
      const content = [image, { ...image, data: "AAAA" }].map((one) => ({ type: "content", content: one }));
      hand.more("c1", { status: "completed", content });
      hand.update({ sessionUpdate: "agent_message_chunk", content: image });
      hand.update({ sessionUpdate: "agent_message_chunk", content: resource });
    },
  });
  await session.prompt("Go");
  assert.deepEqual(
    session.events.flatMap((event) => event.type === "tool_done" ? [event.output] : []),
    ["[PNG image, 1×1, 70 bytes]\n[An image that cannot be read, 3 bytes]"],
  );
  assert.deepEqual(linesOf(session.events).slice(-2), [
    "say \n[PNG image, 1×1, 70 bytes]\n\n[PNG image, 1×1, 70 bytes]\n",
    "done: end_turn",
  ]);
});
