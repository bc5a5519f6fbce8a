/**
 * Random commands on windows and buffers: the next `:Agent` is whole again, and nothing is lost. No engine is needed.
 * AGENT_WINDOW_SEED and AGENT_WINDOW_ROUNDS play others, and more.
 */
import assert from "node:assert/strict";
import { scratch } from "../support/project.ts";
import { sharedEditor } from "../support/shared_editor.ts";

const PLAY = new URL("window_play.lua", import.meta.url).pathname;
const ROUNDS = Number(Deno.env.get("AGENT_WINDOW_ROUNDS") ?? 15);

/** Layout → a seed whose commands once broke the chat. */
const SEEDS = { float: 129, auto: 119, tab: 42, current: 129 };

for (const [layout, known] of Object.entries(SEEDS)) {
  Deno.test(`${layout}: after random commands the chat is whole`, async () => {
    const seed = Number(Deno.env.get("AGENT_WINDOW_SEED") ?? known);
    await using project = await scratch({ "a.txt": "a text of the user's\n", "b.txt": "another\n" });
    await using editor = await sharedEditor({ columns: 90, options: `ui = { layout = "${layout}" }` });
    const { nvim } = editor;
    await nvim.command(`cd ${project.root} | edit a.txt`);
    await nvim.lua(`require("agent").open()
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
