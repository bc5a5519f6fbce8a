/** What another agent does under a call stands under that call, also in a narrow window and when the session is resumed. */
import assert from "node:assert/strict";
import { copyOfPlugin, PLUGIN } from "../support/agent.ts";
import { transcript, waitForTurn } from "../support/chat.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";
import { expectScreen } from "../support/screenshot.ts";

const PLAY = `
  turn.start("explore", "explore the project");
  turn.emit({ type: "thought", message: "t", text: "Where is it?" }, "explore");
  turn.emit({ type: "thought_done", message: "t", milliseconds: 2_000 }, "explore");
  turn.start("read", "read src/greet.ts", "explore");
  turn.done("read", "2 lines");
  turn.start("more", "explore further", "explore");
  await turn.write("env", ".env", "A=1\\n", "more");
  turn.done("more", "written");
  turn.emit({ type: "token", message: "m", text: "It is in one file." }, "explore");
  turn.done("explore", "found");
  turn.say("Done with it.");`;

/** The plugin with an engine whose turns a script runs. */
async function scriptedPlugin() {
  const copy = await copyOfPlugin();
  for (const name of ["scripted_runner.ts", "entries.ts"]) {
    const text = await Deno.readTextFile(`${PLUGIN}tests/support/${name}`);
    await copy.write(`denops/agent/engine/${name}`, text.replaceAll("../../denops/agent/engine/", "./"));
  }
  const main = await copy.read("denops/agent/engine/main.ts");
  const scripted = main.replace(
    "runner: (config, abilities, renew) => runnerOf(config, abilities, { facts, renew, wireLog: new WireLog() }),",
    `runner: () => scriptedRunner(async (turn) => {${PLAY}\n}),`,
  );
  assert.notEqual(scripted, main);
  await copy.write(
    "denops/agent/engine/main.ts",
    `import { scriptedRunner } from "./scripted_runner.ts";\n${scripted}`,
  );
  return copy;
}

async function expand(nvim: ChildNvim): Promise<void> {
  await nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`);
  await nvim.keys("gg/explore<CR><Tab>");
}

Deno.test("what stands under a call is shown under it while it runs, then folded; a resumed session shows the same", async () => {
  await using plugin = await scriptedPlugin();
  await using agent = await sharedAgent({ script: "", plugin: plugin.root, columns: 40, lines: 30 });
  const { nvim } = agent;
  await nvim.command("Agent Go");
  await nvim.waitForScreen("a once");
  assert.deepEqual((await transcript(nvim)).slice(1), [
    "… explore the project",
    "  Thought for 2.0 s",
    "  ✓ read src/greet.ts  2 lines",
    "  … explore further",
    "    ? write .env  waiting for your answer",
  ]);
  await nvim.keys("a");
  await waitForTurn(nvim);
  const folded = await transcript(nvim);
  assert.deepEqual(folded.slice(1), [
    "✓ explore the project  found",
    "Done with it.",
    "Changed 1 file  +1",
    "  A .env  +1",
  ]);
  await expand(nvim);
  await nvim.waitForScreen("It is in one file.");
  await expectScreen(nvim, "nested-40x30");
  const expanded = await transcript(nvim);

  await endEngines(agent);
  await nvim.command("Agent resume");
  await nvim.waitForScreen("Done with it.");
  assert.deepEqual((await transcript(nvim)).slice(0, folded.length), folded);
  await expand(nvim);
  await nvim.waitForScreen("It is in one file.");
  assert.deepEqual((await transcript(nvim)).slice(0, expanded.length), expanded);
});
