-- The floor of streaming: curl, and a buffer of markdown that gets all new text every few milliseconds. No more.
local M = {}

---@param config { width: integer, height: integer, batch: integer, lines?: integer }  of the window with the answer;
--- `batch`: milliseconds between two changes of the buffer; `lines`: how many there are above the answer
function M.open(config)
  M.batch = config.batch
  M.answer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(M.answer, 0, -1, true, vim.split(("\n"):rep(config.lines or 0), "\n"))
  vim.treesitter.start(M.answer, "markdown")
  local shared = { relative = "editor", col = 1, width = config.width, style = "minimal" }
  local above = vim.tbl_extend("error", shared, { row = 0, height = config.height })
  M.window = vim.api.nvim_open_win(M.answer, false, above)
  vim.wo[M.window].wrap, vim.wo[M.window].linebreak = true, true
  M.input = vim.api.nvim_create_buf(false, true)
  local below = vim.tbl_extend("error", shared, { row = config.height + 1, height = 3 })
  vim.api.nvim_open_win(M.input, true, below)
end

--- An empty buffer in the place of the last answer.
function M.clear()
  local before = M.answer
  M.answer = vim.api.nvim_create_buf(false, true)
  vim.treesitter.start(M.answer, "markdown")
  vim.api.nvim_win_set_buf(M.window, M.answer)
  vim.api.nvim_buf_delete(before, { force = true })
end

---@param text string
function M.append(text)
  local last = vim.api.nvim_buf_line_count(M.answer) - 1
  vim.api.nvim_buf_set_text(M.answer, last, -1, last, -1, vim.split(text, "\n"))
  vim.api.nvim_win_set_cursor(M.window, { vim.api.nvim_buf_line_count(M.answer), 1e6 })
end

---@param url string
---@param prompt string
function M.send(url, prompt)
  local buffer, received = M.answer, ""
  local timer = assert(vim.uv.new_timer())
  M.done = false
  local flush = vim.schedule_wrap(function()
    if buffer ~= M.answer then
      return
    end
    local text, rest = {}, 1
    for line, after in received:gmatch("data: ([^\n]*)\n\n()") do
      local delta = line ~= "[DONE]" and (vim.json.decode(line).choices[1] or {}).delta
      table.insert(text, delta and type(delta.content) == "string" and delta.content or nil)
      rest = after
    end
    received = received:sub(rest)
    if #text > 0 then
      M.append(table.concat(text))
    end
  end)
  local body = { model = "scripted", stream = true, messages = { { role = "user", content = prompt } } }
  local command = { "curl", "--silent", "--no-buffer", "--data-binary", "@-", url .. "/v1/chat/completions" }
  vim.system(command, {
    stdin = vim.json.encode(body),
    stdout = function(_, data)
      received = received .. (data or "")
      if data and not timer:is_active() then
        timer:start(M.batch, 0, flush)
      end
    end,
  }, function()
    timer:close()
    flush()
    M.done = true
  end)
end

return M
