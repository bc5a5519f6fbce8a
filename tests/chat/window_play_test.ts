/**
 * Random commands on windows and buffers: the next `:Agent` is whole again, and nothing is lost. No engine is needed.
 * AGENT_WINDOW_SEED and AGENT_WINDOW_ROUNDS play others, and more.
 */
import assert from "node:assert/strict";
import { PLUGIN } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";
import { scratch } from "../support/project.ts";

const PLAY = new URL("window_play.lua", import.meta.url).pathname;
const ROUNDS = Number(Deno.env.get("AGENT_WINDOW_ROUNDS") ?? 15);

for (const layout of ["float", "auto", "tab", "current"]) {
  Deno.test(`${layout}: after random commands the chat is whole`, async () => {
    const seed = Number(Deno.env.get("AGENT_WINDOW_SEED") ?? 1);
    await using project = await scratch({ "a.txt": "a text of the user's\n" });
    await using nvim = await ChildNvim.start({
      runtime: [PLUGIN],
      cwd: project.root,
      files: ["a.txt"],
      columns: 90,
      lines: 24,
      lua: `vim.g.agent = { layout = "${layout}" }`,
    });
    await nvim.lua(`require("agent.client").send = function() end
      require("agent").open()
      vim.cmd.stopinsert()
      local chat = require("agent.chat").current()
      chat:apply({ { type = "submitted", text = "Hello" }, { type = "turn_started" },
        { type = "text", message = "m", text = "The answer" }, { type = "turn_done", reason = "end_turn" } })
      chat.input:set("a draft")`);
    const wrong = await nvim.lua<string>(
      `return assert(loadfile("${PLAY}"))(...)`,
      seed,
      ROUNDS,
      project.path("Session.vim"),
    );
    assert.equal(wrong, "", `seed ${seed}`);
  });
}
