/** The models and options of another agent are chosen in the menus of our own. */
import assert from "node:assert/strict";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import { agentProgram } from "../support/foreign/program.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";

/** Chooses the item whose line begins so in each menu, and keeps what the menus show. */
const CHOOSER = `
  _G.menus, _G.picks = {}, {}
  vim.ui.select = function(items, options, done)
    local lines = vim.tbl_map(options.format_item or tostring, items)
    table.insert(_G.menus, { prompt = options.prompt, lines = lines })
    local pick = table.remove(_G.picks, 1)
    for index, line in ipairs(lines) do
      if pick and vim.startswith(line, pick) then
        return done(items[index], index)
      end
    end
    done()
  end`;

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
    await nvim.lua(CHOOSER);
    await nvim.command("Agent open");
    const menu = async (command: string, ...picks: readonly string[]) => {
      await nvim.lua(`_G.menus, _G.picks = {}, { ... }`, ...picks);
      await nvim.command(command);
      const count = Math.max(picks.length, 1);
      await nvim.waitFor(`#_G.menus >= ${count}`);
      return await nvim.lua<readonly { readonly prompt: string; readonly lines: readonly string[] }[]>(
        `return _G.menus`,
      );
    };
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
