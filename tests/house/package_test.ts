/** What is neither code nor help: the set-up for bug reports, and the description for LuaRocks. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PLUGIN } from "../support/agent.ts";
import { scratch } from "../support/project.ts";

const CHECK = `local root = ...
  assert(vim.fn.exists(":Agent") == 2 and require("agent.config").get().state_dir:find("%-agent$"))
  assert(#require("agent.config").current_problems() == 0)
  local spec = setmetatable({}, { __index = _G })
  setfenv(assert(loadfile(root .. "/agent.nvim-scm-1.rockspec")), spec)()
  assert(spec.package .. "-" .. spec.version == "agent.nvim-scm-1")
  for _, folder in ipairs(spec.build.copy_directories) do assert(vim.fn.isdirectory(root .. "/" .. folder) == 1, folder) end
  io.write("fine")`;

Deno.test("tests/repro.lua starts the plugin alone, and the rockspec names what there is", async () => {
  await using folder = await scratch({
    "check.lua": CHECK.replace("...", JSON.stringify(join(PLUGIN, "."))),
  });
  const { stdout, stderr } = await new Deno.Command(Deno.env.get("AGENT_NVIM") ?? "nvim", {
    args: [
      "--clean",
      "--headless",
      "-u",
      join(PLUGIN, "tests/repro.lua"),
      "-c",
      `luafile ${folder.path("check.lua")}`,
      "-c",
      "qa!",
    ],
    env: { XDG_STATE_HOME: folder.root },
  }).output();
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert.match(said, /fine/, said);
});
