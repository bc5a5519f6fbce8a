/** "Always allow": the rules that are proposed would have answered, and are written all or none. */
import assert from "node:assert/strict";
import { type RunningAgent, startAgent } from "../support/agent.ts";

const call = (command: string, more: object = {}) =>
  `call run_terminal_command ${JSON.stringify({ command, ...more })}`;

async function start(...calls: readonly string[]): Promise<RunningAgent> {
  const script = [...calls, "say Seen."].join("\n---\n");
  const agent = await startAgent({
    script,
    columns: 80,
    lines: 24,
    options: `title = false, commands = "ask"`,
  });
  await agent.nvim.command("Agent go");
  await agent.nvim.waitForScreen("a once");
  return agent;
}

Deno.test("with the network the rule for the network is proposed as well, and both answer", async () => {
  await using agent = await start(
    call("touch one", { access: "write+network" }),
    call("touch two", { access: "write+network" }),
  );
  const { nvim } = agent;
  await nvim.keys("A");
  await nvim.waitForScreen("Always allow: run(touch *), network(touch *)");
  await nvim.keys("<CR>");
  const screen = await nvim.waitForScreen("Seen.");
  assert.match(screen, /✓ run touch two/);
  assert.doesNotMatch(screen, /Always allow:/, "nothing is left of the question");
});

Deno.test("of several rules none is kept if one of them is wrong, and it is said", async () => {
  await using agent = await start(call("touch one"), call("touch two"));
  const { nvim } = agent;
  await nvim.keys("A");
  await nvim.waitForScreen("Always allow: run(touch *)");
  await nvim.keys(", run(touch<CR>");
  await nvim.waitForScreen("Allowed only this once. Not a rule: run(touch.");
  await nvim.waitForScreen("? run touch two");
});

Deno.test("where the rules allow it already, as for the third call in a row, none is proposed", async () => {
  await using agent = await start(call("touch one"), call("touch x"), call("touch x"), call("touch x"));
  const { nvim } = agent;
  await nvim.keys("A");
  await nvim.waitForScreen("Always allow: run(touch *)");
  await nvim.keys("<CR>");
  await nvim.waitForScreen("the same call comes for the third time in a row");
  assert.doesNotMatch(await nvim.waitForScreen("a once"), /A always/);
});
