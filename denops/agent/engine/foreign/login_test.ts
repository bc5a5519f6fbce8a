/** Logins of another agent, and its forms. */
import assert from "node:assert/strict";
import { AgentError, type AgentScript } from "../../../../tests/support/foreign/in_memory.ts";
import { foreignSession, linesOf } from "../../../../tests/support/foreign/session.ts";
import type { Questions } from "../ports/approvals.ts";
import { loginMethodsIn } from "./login_methods.ts";

/** An agent that opens no session before a login. @param isKept whether it is stored beyond its process */
function lockedAgent(): { readonly script: AgentScript; logIn(): void } {
  let isLoggedIn = false;
  const authMethods = [
    { id: "web", name: "Log in on a page" },
    { id: "tui", name: "Log in here", type: "terminal", args: ["login"], env: { MODE: "tui" } },
    { id: "key", name: "A key", type: "env_var", vars: [{ name: "MY_KEY" }] },
  ];
  return {
    logIn: () => isLoggedIn = true,
    script: {
      answer(method) {
        if (method === "initialize") return { protocolVersion: 1, agentCapabilities: {}, authMethods };
        if (method === "authenticate") isLoggedIn = true;
        if (method !== "session/new" || isLoggedIn) return undefined;
        throw new AgentError(-32000, "Authentication required");
      },
      turn: (_, hand) => hand.say("Hello."),
    },
  };
}

Deno.test("an agent's logins are listed; after one of its own the same program takes the message", async () => {
  await using session = await foreignSession(lockedAgent().script);
  await session.prompt("Hello");
  assert.ok(
    linesOf(session.events).includes(
      "failed: Claude needs a login. Use `:Agent login`, then send the message again.",
    ),
  );
  const { methods } = await session.session.login(undefined);
  assert.deepEqual(methods.map(({ id, name, type }) => [id, name, type]), [
    ["web", "Log in on a page", "agent"],
    ["tui", "Log in here", "terminal"],
    ["key", "A key", "variables"],
  ]);
  assert.deepEqual([methods[1]?.args, methods[1]?.env, methods[2]?.variables], [["login"], { MODE: "tui" }, [
    "MY_KEY",
  ]]);
  await session.session.login("web");
  await session.prompt("Hello again");
  assert.ok(linesOf(session.events).includes("say Hello."));
  const sent = session.agent.received.flatMap(({ method }) => typeof method === "string" ? [method] : []);
  assert.deepEqual(sent.slice(2, 6), ["initialize", "authenticate", "session/new", "session/prompt"]);
  assert.deepEqual(session.agent.steps.slice(0, 3), ["open", "close", "open"]);
});

Deno.test("after a login in a terminal the agent is started again", async () => {
  const agent = lockedAgent();
  await using session = await foreignSession(agent.script);
  await session.session.login(undefined);
  agent.logIn();
  await session.session.login("tui");
  await session.prompt("Hello");
  assert.ok(linesOf(session.events).includes("say Hello."));
  assert.deepEqual(session.agent.steps.slice(0, 3), ["open", "close", "open"]);
});

Deno.test("a login that ends during a turn fails it, and the next message starts the agent again", async () => {
  let isExpired = true;
  await using session = await foreignSession({
    turn(_, hand) {
      if (isExpired) throw new AgentError(-32000, "Authentication required");
      hand.say("Hello.");
    },
  }, { agent: { login: "claude /login" } });
  await session.prompt("Hello");
  isExpired = false;
  await session.prompt("Hello");
  assert.ok(linesOf(session.events).includes("say Hello."));
  assert.deepEqual(session.agent.steps.filter((step) => step === "open").length, 2);
});

Deno.test("a message, a menu and another login end the wait for a login", async () => {
  const locked = lockedAgent();
  let waits = Promise.withResolvers<void>();
  await using session = await foreignSession({
    ...locked.script,
    answer(method, params, hand) {
      if (method !== "authenticate") return locked.script.answer?.(method, params, hand);
      waits.resolve();
      return new Promise(() => {});
    },
  });
  const startLogin = () => {
    waits = Promise.withResolvers();
    return session.session.login("web").then(() => "", String);
  };
  const first = startLogin();
  await waits.promise;
  const second = startLogin();
  assert.match(await first, /The login at Claude was stopped/);
  await waits.promise;
  await assert.rejects(session.session.options(undefined), /Claude needs a login/);
  assert.match(await second, /The login at Claude was stopped/);
  const third = startLogin();
  await waits.promise;
  locked.logIn();
  await session.prompt("Hello");
  assert.ok(linesOf(session.events).includes("say Hello."));
  assert.match(await third, /The login at Claude was stopped/);
});

Deno.test("an agent that fails before it lists its logins is ended", async () => {
  await using session = await foreignSession([{
    answer(method) {
      if (method === "initialize") throw new AgentError(-32603, "not today");
    },
  }, lockedAgent().script]);
  await assert.rejects(session.session.login(undefined), /Claude failed: not today/);
  assert.deepEqual(session.agent.steps, ["open", "close"]);
  assert.equal((await session.session.login(undefined)).methods.length, 3);
});

Deno.test("hostile logins are bounded, and none has a command that is not shown as it is", () => {
  const plain = { id: "a", name: "A" };
  const many = Array.from({ length: 10_000 }, (_, at) => ({ ...plain, id: `m${at}` }));
  assert.equal(loginMethodsIn(many).length, 20);
  assert.equal(loginMethodsIn([plain, plain]).length, 1);
  const hostile = [
    { ...plain, type: "terminal", args: ["a\u202eb"] },
    { ...plain, type: "terminal", args: ["x".repeat(101)] },
    { ...plain, type: "terminal", args: ["a\nb"] },
    { ...plain, type: "terminal", args: Array.from({ length: 21 }, () => "x") },
    { ...plain, type: "terminal", args: "rm -r" },
    { ...plain, type: "terminal", env: { A: "\u001b[2J" } },
    { ...plain, type: "terminal", env: { "A\u0000": "b" } },
    { ...plain, id: "\u0007" },
    7,
    null,
  ];
  assert.deepEqual(loginMethodsIn(hostile), []);
  assert.deepEqual(loginMethodsIn(7), []);
  assert.equal(loginMethodsIn([{ id: "a", name: `\u001b[2J${"x".repeat(1_000_000)}` }])[0]?.name.length, 100);
});

Deno.test("forms are questions of ours; pages and floods of forms are declined", async () => {
  const answers: unknown[] = [];
  const asked: unknown[] = [];
  const questions: Questions = {
    ask(question, options, call) {
      asked.push([question, options, call !== ""]);
      return Promise.resolve(options[1] ?? "7");
    },
  };
  const form = {
    mode: "form",
    message: "Which one?",
    requestedSchema: {
      type: "object",
      properties: {
        size: { type: "integer", title: "Size" },
        colour: { type: "string", enum: ["red", "blue"] },
        sure: { type: "boolean", description: "A note (optional)." },
      },
      required: ["size"],
    },
  };
  await using session = await foreignSession({
    async turn(_text, hand) {
      hand.call("c1", { status: "in_progress" });
      const ask = async (params: object) =>
        answers.push((await hand.ask("elicitation/create", { ...params })).result);
      await ask({ ...form, toolCallId: "c1" });
      await ask({ mode: "url", message: "Go there", elicitationId: "e", url: "https://evil.example" });
      await ask({ ...form, sessionId: "another" });
      for (let count = 0; count < 20; count++) {
        await ask({ ...form, requestedSchema: { type: "object", properties: {} } });
      }
    },
  }, { questions });
  await session.prompt("Go");
  assert.deepEqual(answers.slice(0, 3), [
    { action: "accept", content: { size: 7, colour: "blue", sure: false } },
    { action: "decline" },
    { action: "decline" },
  ]);
  assert.deepEqual(answers.at(-1), { action: "decline" });
  assert.deepEqual(asked.slice(0, 3), [
    ["Claude asks: Which one?\nSize", [], true],
    ["Claude asks: Which one?\ncolour (optional)", ["red", "blue"], true],
    ["Claude asks: Which one?\nsure: A note (optional).", ["yes", "no"], true],
  ]);
  assert.equal(linesOf(session.events).filter((line) => /^info: Claude: it asked for/.test(line)).length, 1);
  await using silent = await foreignSession({
    async turn(_text, hand) {
      answers.push((await hand.ask("elicitation/create", form)).result);
    },
  });
  await silent.prompt("Go");
  assert.deepEqual(answers.at(-1), { action: "decline" });
});

Deno.test("a form and a permission that an agent leaves open are withdrawn when its turn ends", async () => {
  const open = Promise.withResolvers<AbortSignal>();
  const texts: string[] = [];
  const questions: Questions = {
    ask(question, _options, _call, signal) {
      texts.push(question);
      open.resolve(signal);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
    },
  };
  const plans = [{ optionId: "a", name: "Now", kind: "allow_once" }, {
    optionId: "b",
    name: "Later",
    kind: "allow_once",
  }];
  await using session = await foreignSession({
    async turn(text, hand) {
      if (text !== "one") return;
      for (const message of ["First", "Second"]) {
        const requestedSchema = { type: "object", properties: { size: { type: "string" } } };
        hand.ask("elicitation/create", { mode: "form", message, requestedSchema });
      }
      hand.permit({ toolCallId: "c1", title: "The plan" }, plans);
      await open.promise;
    },
  }, { questions });
  await session.prompt("one");
  assert.ok((await open.promise).aborted);
  await session.prompt("two");
  assert.deepEqual(texts.map((text) => text.split("\n")[0]), ["Claude asks: First", "The plan"]);
});
