-- What the user is told outside of the chat: one line after "agent:". It begins in lower case, and has no full stop
-- if it is one sentence. Whatever comes from elsewhere is made so. It never asks for a key, however long it is.
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

--- Whether vim.notify is the one that Neovim brings, which writes into the last line. It is compiled into Neovim,
--- mostly without the name of its file.
---@return boolean
local function writes_line()
  local source = debug.getinfo(vim.notify, "S").source
  return source == "?" or source == "=?" or vim.startswith(source, "@vim/")
end

--- Milliseconds in which Neovim may not have drawn, and would ask for a key after another message.
local DRAWN = 200

---@type agent.Said?
local in_last_line

--- Columns that a ruler and a half-typed command have in the last line.
local RULER, SHOWCMD = 18, 10

--- Columns of the last line that a message may have. In a float Neovim draws the ruler there, over the message, which
--- v:echospace does not count.
---@return integer
local function room()
  local left = vim.v.echospace
  if vim.o.ruler and vim.api.nvim_win_get_config(0).relative ~= "" then
    left = math.min(left, vim.o.columns - RULER - (vim.o.showcmd and SHOWCMD or 0))
  end
  return left
end

--- What has no room in the last line, or would push another one up, is shown above it.
---@param said agent.Said
---@param kept? string  more of it, for `:messages`
local function show(said, kept)
  local has_room = vim.o.cmdheight > 0 and vim.api.nvim_strwidth(said.line) <= room()
  if kept or in_last_line or not has_room then
    local lines = in_last_line and { in_last_line, said } or { said }
    in_last_line = nil
    return require("agent.ui.message").show(lines, kept)
  end
  said.is_kept, in_last_line = true, said
  vim.defer_fn(function()
    in_last_line = in_last_line ~= said and in_last_line or nil
  end, DRAWN)
  vim.notify(said.line, said.level)
end

--- Columns of a notification in a box of somebody else's, and of what is around it.
local BOX, AROUND = 60, 8

--- Many of those who show a message in a box cut what is wider than the screen: that is given to them in lines.
---@param line string
---@return string
local function fit_box(line)
  if vim.api.nvim_strwidth(line) <= vim.o.columns - AROUND then
    return line
  end
  local lines, width = {}, math.max(20, math.min(BOX, vim.o.columns - AROUND))
  for word in line:gmatch("%S+") do
    local last = lines[#lines]
    if last and vim.api.nvim_strwidth(last .. " " .. word) <= width then
      lines[#lines] = last .. " " .. word
    else
      table.insert(lines, word)
    end
  end
  return table.concat(lines, "\n")
end

---@param text string
---@param level? integer of vim.log.levels
---@param kept? string  more of it, for `:messages`
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
  -- Later: within a request to Neovim a message asks for a key at once.
  vim.schedule(function()
    show({ line = line, level = level }, kept)
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

--- The first that fits into the last line; the last one if none does.
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

--- Says the first line of an error of our own code; all of it stands in `:messages`.
---@param problem any with a traceback
function M.bug(problem)
  tell(tostring(problem), vim.log.levels.ERROR, tostring(problem))
end

return M
