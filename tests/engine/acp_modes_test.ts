/** Session modes and config options, by a plain client of ACP. */
import assert from "node:assert/strict";
import { methods } from "../../denops/agent/deps/acp_sdk.ts";
import { MODE_FACTS } from "../../denops/agent/protocol/modes.ts";
import { engineConfig, startEngine } from "../support/acp.ts";
import { ModelServer } from "../model/model_server.ts";
import { SECRET } from "../support/agent.ts";
import { scratch, waitUntil } from "../support/project.ts";

const SCRIPT = `
say A plan.
---
new-history
say Another one.
`;

Deno.test("a client that holds no command runs none in a mode that changes nothing, whatever its user says", async () => {
  await using engine = await startEngine({
    script:
      'call run_terminal_command {"command": "touch pwned", "access": "look"}\n---\nexpect no sandbox is available\nsay Well.',
    capabilities: { terminal: true },
  });
  const sessionId = await engine.open();
  await engine.agent.request(methods.agent.session.setMode, { sessionId, modeId: "ask" });
  assert.equal(await engine.prompt(sessionId, "Go"), "end_turn");
  assert.ok(engine.seen.some(({ type }) => type === "permission"));
  await assert.rejects(Deno.stat(engine.project.path("pwned")));
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("modes and options are offered, chosen, told, and kept by the session", async () => {
  await using project = await scratch({ "a.ts": "" });
  await using state = await scratch();
  await using server = await ModelServer.start(SCRIPT, { secrets: [SECRET] });
  const config = JSON.stringify({ ...engineConfig(server), title: false, models: [{ name: "small" }] });
  const options = { script: "", config, beside: { project, state, server } };
  let sessionId = "";
  {
    await using engine = await startEngine(options);
    const { agent, seen } = engine;
    await engine.initialize();
    const opened = await agent.request(methods.agent.session.new, { cwd: project.root, mcpServers: [] });
    sessionId = opened.sessionId;
    assert.equal(opened.modes?.currentModeId, "agent");
    assert.deepEqual(opened.modes?.availableModes.map(({ id }) => id), MODE_FACTS.map(({ name }) => name));
    const offered = opened.configOptions?.map((
      { id, category, currentValue },
    ) => [id, category, currentValue]);
    assert.deepEqual(offered, [
      ["mode", "mode", "agent"],
      ["model", "model", "scripted"],
      ["effort", "thought_level", "default"],
    ]);
    await agent.request(methods.agent.session.setMode, { sessionId, modeId: "plan" });
    const { configOptions } = await agent.request(methods.agent.session.setConfigOption, {
      ...{ sessionId, configId: "model", value: "small" },
    });
    assert.deepEqual(configOptions.map(({ currentValue }) => currentValue), ["plan", "small", "default"]);
    const told = seen.flatMap((one) => one.type === "update" ? [one.update.sessionUpdate] : []);
    assert.ok(told.includes("current_mode_update") && told.includes("config_option_update"));
    await assert.rejects(
      agent.request(methods.agent.session.setMode, { sessionId, modeId: "yolo" }),
      /Unknown mode/,
    );
    const wrong = { sessionId, configId: "effort", value: "much" };
    await assert.rejects(agent.request(methods.agent.session.setConfigOption, wrong), /Unknown effort/);
    assert.equal(await engine.prompt(sessionId, "How?"), "end_turn");
  }
  const [first] = server.requests;
  assert.equal(first?.body.model, "small");
  assert.match(JSON.stringify(first?.body.messages), /<mode_\w+>plan:\\n- Change nothing/);

  await using later = await startEngine(options);
  await later.initialize();
  const resumed = await later.agent.request(methods.agent.session.resume, { sessionId, cwd: project.root });
  assert.equal(resumed.modes?.currentModeId, "plan");
  await later.agent.request(methods.agent.session.setConfigOption, {
    sessionId,
    configId: "mode",
    value: "chat",
  });
  assert.equal(await later.prompt(sessionId, "Go on"), "end_turn");
  assert.match(JSON.stringify(server.requests.at(-1)?.body.messages), /<mode_\w+>chat:/);
  assert.deepEqual(server.problems, []);
});

Deno.test("a plain client is told of the models that the provider lists, chooses one, and the session keeps it", async () => {
  await using project = await scratch({ "a.ts": "" });
  await using state = await scratch();
  const listed = [{ id: "large", context_window: 200_000, capabilities: { function_calling: true } }];
  await using server = await ModelServer.start("say One.\n---\nsay Two.", {
    secrets: [SECRET],
    model: { listed },
  });
  const config = JSON.stringify({ ...engineConfig(server), title: false, max_cost_per_day: 5 });
  const options = { script: "", config, beside: { project, state, server } };
  let sessionId = "";
  {
    await using engine = await startEngine(options);
    const { agent, seen } = engine;
    sessionId = await engine.open();
    await waitUntil(
      "the list",
      () => seen.some((one) => one.type === "update" && JSON.stringify(one.update).includes("200k · tools")),
    );
    const wrong = { sessionId, configId: "model", value: "larg" };
    await assert.rejects(
      agent.request(methods.agent.session.setConfigOption, wrong),
      /Unknown model: larg\. Near: large\./,
    );
    await agent.request(methods.agent.session.setConfigOption, { ...wrong, value: "large" });
    assert.equal(await engine.prompt(sessionId, "Go"), "end_turn");
    const told = JSON.stringify(seen);
    assert.match(told, /"size":200000/);
    assert.match(
      told,
      /limits\.max_cost_per_day does not count large: its price is unknown\. Set its price in models\./,
    );
  }
  await using later = await startEngine(options);
  await later.initialize();
  const resumed = await later.agent.request(methods.agent.session.resume, { sessionId, cwd: project.root });
  assert.equal(resumed.configOptions?.find(({ id }) => id === "model")?.currentValue, "large");
  assert.equal(await later.prompt(sessionId, "And?"), "end_turn");
  await later.agent.request(methods.agent.session.setConfigOption, {
    sessionId,
    configId: "model",
    value: "",
  });
  assert.deepEqual(server.requests.map(({ body }) => body.model), ["large", "large"]);
  assert.match(JSON.stringify(later.seen), /"size":200000/);
});
