rockspec_format = "3.0"
package = "agent.nvim"
version = "scm-1"

description = {
  summary = "A coding agent for Neovim",
  labels = { "neovim" },
  homepage = "https://github.com/OWNER/agent.nvim",
  license = "MIT",
}

-- Beside these Neovim 0.12 and Deno, see :help agent-requirements.
dependencies = { "lua == 5.1" }

source = { url = "git+https://github.com/OWNER/agent.nvim" }

build = {
  type = "builtin",
  copy_directories = { "bin", "denops", "doc", "plugin" },
  -- Beside denops, where Deno looks for them.
  install = { conf = { ["../deno.json"] = "deno.json", ["../deno.lock"] = "deno.lock" } },
}
