/** The chat's pure modules, by Neovim's own Lua and without a screen: order, blocks that change, ends, numbers, cost, bars. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PLUGIN } from "../support/agent.ts";
import { EARLY } from "../support/nvim_process.ts";

for (const name of ["units", "states", "growth", "code", "bars", "targets", "undone"]) {
  Deno.test(`the timeline and the numbers, without a screen: ${name}`, async () => {
    const args = ["--headless", "--clean", ...EARLY, "-l", join(PLUGIN, `tests/chat/${name}.lua`)];
    const { success, stdout, stderr } = await new Deno.Command(Deno.env.get("AGENT_NVIM") ?? "nvim", { args })
      .output();
    const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.ok(success, said);
    assert.match(said, /\d+ passed, 0 failed/);
  });
}
