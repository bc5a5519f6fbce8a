-- Messages outside of the chat: one line after "agent:", in lower case, without a full stop after a single sentence.
-- They never ask for a key, whatever their length.
local M = {}

--- Names that keep their capital.
local NAMES = { Deno = true, Neovim = true, Ollama = true, Anthropic = true, Linux = true, Copilot = true }

---@param text string
---@return string
function M.line(text)
  text = vim.trim((text:gsub("\n.*", "")))
  local first = text:match("^%u%l+%f[%W]")
  if first and not NAMES[first] then
    text = text:sub(1, 1):lower() .. text:sub(2)
  end
  local is_one = not text:find("[.!?] ")
  return "agent: " .. (is_one and text:gsub("%.$", "") or text)
end

--- True if vim.notify is Neovim's own, which writes into the last line. Compiled Lua mostly lacks the name of its
--- file.
---@return boolean
local function writes_line()
  local source = debug.getinfo(vim.notify, "S").source
  return source == "?" or source == "=?" or vim.startswith(source, "@vim/")
end

--- Milliseconds in which Neovim may not have redrawn; another message would then ask for a key.
local DRAWN = 200

---@type agent.MessageLine?
local in_last_line

--- Columns of the ruler and of a half-typed command in the last line.
local RULER, SHOWCMD = 18, 10

--- Columns of a message in the last line. In a float Neovim draws the ruler over the message, which v:echospace does
--- not count.
---@return integer
local function room()
  local left = vim.v.echospace
  if vim.o.ruler and vim.api.nvim_win_get_config(0).relative ~= "" then
    left = math.min(left, vim.o.columns - RULER - (vim.o.showcmd and SHOWCMD or 0))
  end
  return left
end

--- Shows a message above the last line if it does not fit, or would push another one up.
---@param message agent.MessageLine
---@param kept? string  further text for `:messages`
local function show(message, kept)
  local has_room = vim.o.cmdheight > 0 and vim.api.nvim_strwidth(message.line) <= room()
  if kept or in_last_line or not has_room then
    local lines = in_last_line and { in_last_line, message } or { message }
    in_last_line = nil
    return require("agent.ui.message").show(lines, kept)
  end
  message.is_kept, in_last_line = true, message
  vim.defer_fn(function()
    in_last_line = in_last_line ~= message and in_last_line or nil
  end, DRAWN)
  vim.notify(message.line, message.level)
end

--- Columns of a notification in another plugin's box, and of the box around it.
local BOX, AROUND = 60, 8

--- Many plugins cut a message that is wider than the screen, so they get it in lines.
---@param line string
---@return string
local function fit_box(line)
  if vim.api.nvim_strwidth(line) <= vim.o.columns - AROUND then
    return line
  end
  return table.concat(require("agent.ui.format").wrap(line, math.max(20, math.min(BOX, vim.o.columns - AROUND))), "\n")
end

--- Runs it once the user has left the command line: a message would cover the command that is being typed.
---@param run fun()
local function outside_command_line(run)
  if not vim.api.nvim_get_mode().mode:find("^c") then
    return run()
  end
  vim.api.nvim_create_autocmd("CmdlineLeave", {
    once = true,
    callback = vim.schedule_wrap(function()
      outside_command_line(run)
    end),
  })
end

---@param text string
---@param level? integer of vim.log.levels
---@param kept? string  further text for `:messages`
local function tell(text, level, kept)
  if vim.v.exiting ~= vim.NIL then
    return
  end
  local line = M.line(text)
  if #vim.api.nvim_list_uis() == 0 then
    return vim.notify(line, level)
  elseif not writes_line() then
    return vim.notify(fit_box(line), level)
  end
  -- Later: within a request to Neovim a message asks for a key.
  vim.schedule(function()
    outside_command_line(function()
      show({ line = line, level = level }, kept)
    end)
  end)
end

---@param text string
function M.info(text)
  tell(text)
end

---@param text string
function M.warn(text)
  tell(text, vim.log.levels.WARN)
end

--- The first text that fits into the last line, else the last one.
---@param texts string[]
---@return string
function M.fitting(texts)
  for _, text in ipairs(texts) do
    if vim.api.nvim_strwidth(M.line(text)) <= room() then
      return text
    end
  end
  return texts[#texts]
end

---@param text string
function M.error(text)
  tell(text, vim.log.levels.ERROR)
end

--- Shows the first line of an error in our own code; `:messages` keeps all of it.
---@param problem any with a traceback
function M.bug(problem)
  tell(tostring(problem), vim.log.levels.ERROR, tostring(problem))
end

return M
