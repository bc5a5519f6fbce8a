-- Neovim in a terminal of this size, counted: what it writes, in bytes. Another Neovim runs this and drives it.
local M = { marks = 0 }

local LIMIT_MS = 60000
local SIZE = { width = 120, height = 40 }
--- Asks for scrolling within margins, and the answer of a terminal that has them. Source: DECRQM, mode 69 (DECLRMM).
local ASKS, HAS_MARGINS = "\27[?69$p", "\27[?69;2$y"
--- A command that terminals ignore.
local MARK = "\27]7777;%06d\27\\"

---@param command string[] without the address
---@param address string of a socket
---@param margins boolean
function M.start(command, address, margins)
  M.bytes, M.newest = 0, ""
  vim.list_extend(command, { "--listen", address })
  M.job = vim.fn.jobstart(command, vim.tbl_extend("error", SIZE, {
    pty = true,
    env = { TERM = "xterm-256color" },
    on_stdout = function(job, data)
      local text = table.concat(data, "\n")
      M.bytes, M.newest = M.bytes + #text, M.newest:sub(-#MARK) .. text
      if margins and text:find(ASKS, 1, true) then
        vim.fn.chansend(job, HAS_MARGINS)
      end
    end,
  }))
  -- It refuses connections between the socket's creation and its first listen().
  assert(vim.wait(LIMIT_MS, function()
    local connected, channel = pcall(vim.fn.sockconnect, "pipe", address, { rpc = true })
    M.channel = connected and channel or nil
    return connected
  end))
  assert(vim.wait(LIMIT_MS, function()
    return vim.rpcrequest(M.channel, "nvim_get_vvar", "vim_did_enter") == 1
  end))
end

--- Runs Lua in the terminal's Neovim.
function M.lua(code, ...)
  return vim.rpcrequest(M.channel, "nvim_exec_lua", code, { ... })
end

--- Waits until the screen is drawn, as far as it has changed.
---@return integer bytes so far
function M.drawn()
  M.marks = M.marks + 1
  local mark = MARK:format(M.marks)
  M.lua("vim.cmd.redraw() vim.api.nvim_ui_send(...) vim.cmd.redraw()", mark)
  assert(vim.wait(LIMIT_MS, function()
    return M.newest:find(mark, 1, true) ~= nil
  end, 1))
  M.bytes = M.bytes - #mark
  return M.bytes
end

function M.stop()
  vim.fn.jobstop(M.job)
  vim.fn.jobwait({ M.job }, LIMIT_MS)
end

return M
