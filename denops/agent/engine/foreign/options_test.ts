/** The options that another agent offers, its models and its mode. */
import assert from "node:assert/strict";
import {
  AgentError,
  type AgentHand,
  type AgentScript,
  type Message,
} from "../../../../tests/support/foreign/in_memory.ts";
import { foreignSession, linesOf } from "../../../../tests/support/foreign/session.ts";
import { AgentChoices } from "./choices.ts";

const select = (
  id: string,
  category: string | undefined,
  currentValue: string,
  values: readonly string[],
) => ({
  id,
  name: id.toUpperCase(),
  ...(category === undefined ? {} : { category }),
  type: "select",
  currentValue,
  options: values.map((value) => ({ value, name: `The ${value}` })),
});

/** An agent that keeps its options, and forgets them when it ends. */
function optionAgent(more: Partial<AgentScript> = {}, set: (id: string, hand: AgentHand) => void = () => {}) {
  const values: Record<string, unknown> = {};
  const options = () => [
    select("mode", "mode", "default", ["default", "auto"]),
    select("m", "model", String(values.m ?? "opus"), ["opus", "haiku"]),
    select("think", "thought_level", String(values.think ?? "low"), ["low", "ultra"]),
    { id: "web", name: "Web", type: "boolean", currentValue: values.web ?? false },
  ];
  const modes = {
    currentModeId: "default",
    availableModes: ["default", "auto", "plan"].map((id) => ({ id, name: id })),
  };
  const script: AgentScript = {
    get opened() {
      return { modes, configOptions: options() };
    },
    answer(method, params, hand) {
      if (method === "session/new") { for (const id of Object.keys(values)) delete values[id]; }
      if (method !== "session/set_config_option") return undefined;
      const { configId, value } = params;
      values[String(configId)] = value;
      set(String(configId), hand);
      return { configOptions: options() };
    },
    ...more,
  };
  return script;
}

const sent = (received: readonly Message[], ...methods: readonly string[]) =>
  received.flatMap(({ method, params }) => methods.includes(String(method)) ? [params as Message] : []);

Deno.test("the agent's options are listed before its first turn, set for the session, and set again after a restart", async () => {
  await using session = await foreignSession(optionAgent(), { agent: { asking_mode: "default" } });
  const listed = await session.session.options(undefined);
  assert.deepEqual(listed.options.map(({ id, category, current }) => [id, category, current]), [
    ["m", "model", "opus"],
    ["think", "thought_level", "low"],
    ["web", "other", "off"],
  ]);
  assert.deepEqual([listed.mode, listed.asks, listed.notes], ["default", true, []]);
  assert.deepEqual(listed.options[1]?.values[1], { value: "ultra", name: "The ultra" });
  const changed = await session.session.options({ id: "think", value: "ultra" });
  assert.equal(changed.options[1]?.current, "ultra");
  const switched = await session.session.options({ id: "web", value: "on" });
  assert.equal(switched.options[2]?.current, "on");
  await assert.rejects(
    session.session.options({ id: "think", value: "none" }),
    /Claude does not set "think" to "none"/,
  );
  await assert.rejects(session.session.options({ id: "mode", value: "auto" }), /Claude does not set "mode"/);
  await session.prompt("one");
  const restarted = await session.restart();
  assert.deepEqual((await restarted.options(undefined)).options.map(({ current }) => current), [
    "opus",
    "ultra",
    "on",
  ]);
  assert.deepEqual(
    sent(session.agent.received, "session/set_config_option").map(({ sessionId: _, ...change }) => change),
    [
      { configId: "think", value: "ultra" },
      { configId: "web", type: "boolean", value: true },
      { configId: "think", value: "ultra" },
      { configId: "web", type: "boolean", value: true },
    ],
  );
  assert.equal(session.agent.steps.filter((step) => step === "open").length, 2);
});

Deno.test("after each change of an option the mode that asks is set again", async () => {
  const script = optionAgent({}, (_, hand) => {
    hand.update({ sessionUpdate: "current_mode_update", currentModeId: "auto" });
  });
  await using session = await foreignSession(script, { agent: { asking_mode: "default" } });
  const { mode, asks, notes } = await session.session.options({ id: "think", value: "ultra" });
  assert.deepEqual([mode, asks, notes], ["default", true, []]);
  assert.deepEqual(sent(session.agent.received, "session/set_mode").map(({ modeId }) => modeId), ["default"]);

  // One that never asks again is reported.
  const stubborn = optionAgent({
    answer(method, params, hand) {
      if (method !== "session/set_mode" && method !== "session/set_config_option") return undefined;
      hand.update({ sessionUpdate: "current_mode_update", currentModeId: "auto" });
      if (method === "session/set_mode") return {};
      return { configOptions: [select("think", "thought_level", String(params.value), ["low", "ultra"])] };
    },
  });
  await using other = await foreignSession(stubborn, { agent: { asking_mode: "default" } });
  const answer = await other.session.options({ id: "think", value: "ultra" });
  assert.equal(answer.asks, false);
  assert.match(answer.notes.join(), /^Claude does not ask before it acts/);
});

Deno.test("a turn behind a menu that the agent does not answer can be stopped", async () => {
  const waits = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const script = optionAgent({
    answer(method) {
      if (method !== "session/set_config_option") return undefined;
      waits.resolve();
      return new Promise(() => {});
    },
  });
  await using session = await foreignSession(script, {
    publish({ type }) {
      if (type === "user_message") begun.resolve();
    },
  });
  const menu = session.session.options({ id: "think", value: "ultra" }).then(() => "", String);
  await waits.promise;
  const turn = session.prompt("Hello");
  await begun.promise;
  session.session.cancel();
  await turn;
  assert.ok(linesOf(session.events).includes("done: cancelled"));
  await session.session.close();
  assert.match(await menu, /the session was closed/);
});

Deno.test("a mode that the agent refuses is not taken for its mode", async () => {
  const script = optionAgent({
    opened: { modes: { currentModeId: "auto", availableModes: [{ id: "auto" }, { id: "default" }] } },
    answer(method) {
      if (method === "session/set_mode") throw new AgentError(-32603, "no");
    },
  });
  await using session = await foreignSession(script, { agent: { asking_mode: "default" } });
  for (let count = 0; count < 2; count++) {
    const { mode, asks, notes } = await session.session.options(undefined);
    assert.deepEqual([mode, asks], ["auto", false]);
    assert.match(notes.join(), /^Claude does not ask before it acts.* its mode is "auto", not "default"/);
  }
});

Deno.test("an agent without a known asking mode leaves its mode plan again", async () => {
  await using session = await foreignSession(optionAgent());
  session.session.modes.choose({ mode: "plan" });
  await session.prompt("one");
  session.session.modes.choose({ mode: "agent" });
  await session.prompt("two");
  await session.prompt("three");
  assert.deepEqual(sent(session.agent.received, "session/set_mode").map(({ modeId }) => modeId), [
    "plan",
    "default",
  ]);
});

Deno.test("without a choice of the user's the agent keeps its model; a choice that is taken back is undone", async () => {
  await using session = await foreignSession(optionAgent());
  const { modes } = session.session;
  await session.prompt("one");
  modes.choose({ model: "haiku" }, { name: "haiku" });
  await session.prompt("two");
  modes.choose({ model: "" });
  await session.prompt("three");
  await session.prompt("four");
  assert.deepEqual(sent(session.agent.received, "session/set_config_option").map(({ value }) => value), [
    "haiku",
    "opus",
  ]);
  assert.ok(!linesOf(session.events).some((line) => line.startsWith("warning")));
});

Deno.test("hostile lists of options are bounded", () => {
  const optionsIn = (configOptions: unknown) => {
    const choices = new AgentChoices(() => Promise.reject(new Error("no request")));
    choices.open({ configOptions });
    return choices.options;
  };
  const many = Array.from({ length: 10_000 }, (_, at) => select(`o${at}`, "other", "a", ["a"]));
  assert.equal(optionsIn(many).length, 50);
  const values = Array.from({ length: 10_000 }, (_, at) => `v${at}`);
  assert.equal(optionsIn([select("o", "model", "v1", values)])[0]?.values.length, 1_000);
  const endless = "x".repeat(1_000_000);
  const [long] = optionsIn([{ ...select("o", endless, endless, [endless, "a"]), name: endless }]);
  assert.deepEqual(long?.values.map(({ value }) => value), ["a"]);
  assert.ok(JSON.stringify(long).length < 2_000);
  const controls = { ...select("o", "other", "a", ["a\u001b[2J", "b\u202e", "c"]), name: "N\u001b[2J\nM" };
  const [clean] = optionsIn([controls, { ...controls, name: "Second" }, { ...controls, id: "o\u0007" }]);
  assert.equal(
    optionsIn([controls, { ...controls, name: "Second" }, { ...controls, id: "o\u0007" }]).length,
    1,
  );
  assert.deepEqual([clean?.name, clean?.values.map(({ value }) => value)], ["N M", ["c"]]);
  const twice = select("o", "other", "a", ["a", "a", "b"]);
  assert.deepEqual(optionsIn([twice])[0]?.values.map(({ value }) => value), ["a", "b"]);
  for (
    const odd of [7, null, {}, [null, 7, { id: 7 }, { id: "o", type: "select" }, { id: "o", type: "text" }]]
  ) {
    assert.deepEqual(optionsIn(odd), []);
  }
});
