-- What the user is told outside of the chat: one line after "agent:". It begins in lower case, and has no full stop
-- if it is one sentence. Whatever comes from elsewhere is made so.
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

---@param text string
function M.info(text)
  vim.notify(M.line(text))
end

---@param text string
function M.warn(text)
  vim.notify(M.line(text), vim.log.levels.WARN)
end

--- The first that fits into the last line: a longer one would have to be answered by a key.
---@param texts string[]
---@return string
function M.fitting(texts)
  for _, text in ipairs(texts) do
    if vim.api.nvim_strwidth(M.line(text)) <= vim.v.echospace then
      return text
    end
  end
  return texts[#texts]
end

---@param text string
function M.error(text)
  vim.notify(M.line(text), vim.log.levels.ERROR)
end

return M
