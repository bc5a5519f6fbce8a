/** The cases of tests/reload: merging and following, each in a Neovim of its own, by Neovim's own Lua. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PLUGIN } from "../support/agent.ts";
import { EARLY } from "../support/nvim_process.ts";

Deno.test("buffers follow and merge in all the cases of tests/reload", async () => {
  const nvim = Deno.env.get("AGENT_NVIM") ?? "nvim";
  const command = new Deno.Command(nvim, {
    args: ["--headless", "--clean", ...EARLY, "-l", join(PLUGIN, "tests/reload/run.lua")],
    env: { NVIM_BIN: nvim },
    stdin: "null",
  });
  const { success, stdout, stderr } = await command.output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert.ok(success, text);
  assert.match(text, /\d{2,} passed, 0 failed/);
});
