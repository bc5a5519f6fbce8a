/** The models and options of another agent are chosen in the menus of our own. */
import assert from "node:assert/strict";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import { menuPicker } from "../support/foreign/menus.ts";
import { agentProgram } from "../support/foreign/program.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";

Deno.test({
  name:
    "models, thinking and options of another agent are listed and chosen, before its first turn and after a restart",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using program = await agentProgram(["load", "options", "modes=ask,auto"], `asking_mode = "ask"`);
    await program.plays("tell", { options: 1 });
    await using agent = await sharedAgent({
      script: "",
      options: `sessions = { title = false }, agent = "scripted", agents = { ${program.row} }`,
      hasOwnState: true,
    });
    const { nvim } = agent;
    const menu = await menuPicker(nvim);
    await nvim.command("Agent open");
    const [models] = await menu("Agent model", "- small");
    assert.deepEqual(models, {
      prompt: "Model of Scripted (now big)",
      lines: ["* big    BIG: The big one", "- small  SMALL: The small one"],
    });
    await nvim.waitForScreen("small · ");
    const [levels] = await menu("Agent effort", "- ULTRA");
    assert.deepEqual(levels, {
      prompt: "Thinking of Scripted (now LOW)",
      lines: ["* LOW  The low one", "- ULTRA  The ultra one"],
    });
    await waitForChat(nvim, "Thinking of Scripted: ULTRA.");
    const [options] = await menu("Agent options", "Web search", "- on");
    assert.deepEqual(options, {
      prompt: "Options of Scripted (its mode stays ask, in which it asks; :Agent mode plan lets it plan)",
      lines: ["Voice: TERSE", "Web search: off"],
    });
    await waitForChat(nvim, "Web search of Scripted: on.");
    await nvim.command("Agent play tell");
    await waitForTurn(nvim);
    await waitForChat(nvim, "[engine=small think=ultra voice=terse web=true]");
    await nvim.command("Agent effort deep");
    await waitForChat(nvim, "Unknown level deep. Scripted has low, ultra.");

    await endEngines(agent);
    await nvim.command("Agent resume");
    await waitForChat(nvim, "play tell");
    await nvim.command("Agent effort low");
    await waitForChat(nvim, "Thinking of Scripted: LOW.");
    await nvim.command("Agent play tell");
    await waitForChat(nvim, "[engine=small think=low voice=terse web=true]");
  },
});
