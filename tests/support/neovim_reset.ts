/** Lua that brings a Neovim which tests share back to how it started. */

/** To be run at the start: what tests replace to answer for the user, and options that they set. */
export const REMEMBER = `
_G.before_tests = {
  ui = vim.tbl_extend("force", {}, vim.ui),
  notify = vim.notify,
  directory = vim.fn.getcwd(),
  environment = vim.fn.environ(),
  options = vim.iter(vim.api.nvim_get_all_options_info()):map(function(name, info)
    local ok, value = pcall(vim.api.nvim_get_option_value, name, { scope = "global" })
    return ok and { name, value, info.scope == "win" and "local" or nil } or nil
  end):totable(),
}`;

/** To be run between two tests: files, lists and messages are gone, and so are the chats with what they showed, and the user's own rules and modes. */
export const FORGET = `
local before = _G.before_tests
for name, value in pairs(before.ui) do vim.ui[name] = value end
vim.notify = before.notify
for name, value in pairs(vim.tbl_extend("keep", before.environment, vim.fn.environ())) do
  if vim.env[name] ~= before.environment[name] then vim.env[name] = before.environment[name] end
end
for _, autocommand in ipairs(vim.api.nvim_get_autocmds({ event = "User" })) do
  if not autocommand.group then
    vim.api.nvim_del_autocmd(autocommand.id)
  end
end
local chats = require("agent.chat")
vim.iter(chats.list()):each(function(chat)
  chat:revive()
  chat.input:set("")
  chat.selections.all = {}
  chats.close(chat)
end)
-- What another Neovim has left.
local drafts = vim.fn.glob(require("agent.config").get().state_dir .. "/drafts/*.json", true, true)
vim.tbl_map(vim.fn.delete, drafts)
vim.cmd("silent! tabonly! | silent! only! | enew!")
require("agent.ui.status_line").leave(0)
for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  if buffer ~= vim.api.nvim_get_current_buf() then
    vim.api.nvim_buf_delete(buffer, { force = true })
  end
end
for _, option in ipairs(before.options) do
  local name, value, window = option[1], option[2], option[3]
  if vim.api.nvim_get_option_value(name, { scope = "global" }) ~= value then
    pcall(vim.api.nvim_set_option_value, name, value, {})
  end
  -- A window of a comparison leaves its columns to the window that stays.
  if window and vim.api.nvim_get_option_value(name, { scope = window }) ~= value then
    pcall(vim.api.nvim_set_option_value, name, value, { scope = window })
  end
end
vim.cmd.cd(before.directory)
vim.fn.delete(vim.fn.stdpath("config") .. "/agent", "rf")
vim.fn.setqflist({}, "f")
vim.fn.setreg("/", {})
vim.v.errmsg = ""
vim.cmd("messages clear | redraw!")`;
