-- Exports a session into a file or a buffer. The text comes in pieces.
local say = require("agent.ui.say")

local M = {}

---@class agent.Export
---@field add fun(text: string): boolean  false: it has failed, which was reported
---@field done fun(): boolean?  true if it is complete
---@field cancel fun()

--- A file that appears once it is complete; until then the text is in another file beside it.
---@param path string absolute
---@param overwrite boolean
---@param mode? integer access rights; default: those of the file, or the usual ones
---@return agent.Export?  nil: it cannot be written, which was told
function M.file(path, overwrite, mode)
  -- A link stays a link.
  path = vim.uv.fs_realpath(path) or path
  local function complain(problem)
    say.error(("cannot write %s: %s"):format(path, problem))
  end
  local part = ("%s/.%s.%d.part"):format(vim.fs.dirname(path), vim.fs.basename(path), vim.uv.hrtime() % 1e9)
  local known = vim.uv.fs_stat(path)
  local file, problem = vim.uv.fs_open(part, "wx", mode or known and known.mode % 512 or 420)
  if not file then
    return complain(problem)
  end
  local function cancel()
    vim.uv.fs_close(file)
    vim.uv.fs_unlink(part)
  end
  return {
    add = function(text)
      local written, why = vim.uv.fs_write(file, text)
      if written == #text then
        return true
      end
      cancel()
      complain(why or "only a part of it was written")
      return false
    end,
    done = function()
      -- A link never replaces a file that has come meanwhile, as a rename would.
      local moved, why, code = (overwrite and vim.uv.fs_rename or vim.uv.fs_link)(part, path)
      if not moved and not overwrite and code ~= "EEXIST" and not vim.uv.fs_lstat(path) then
        moved, why = vim.uv.fs_rename(part, path)
      end
      cancel()
      if not moved then
        return complain(why)
      end
      say.info(("written to %s"):format(vim.fn.fnamemodify(path, ":~:.")))
      return true
    end,
    cancel = cancel,
  }
end

--- Requests one piece after the other.
---@param out agent.Export
---@param ask fun(from: integer?, add: fun(piece: { text: string, next?: integer }))
function M.fill(out, ask)
  local function go_on(from)
    ask(from, function(piece)
      if not out.add(piece.text) then
        return
      end
      if piece.next then
        return go_on(piece.next)
      end
      out.done()
    end)
  end
  go_on()
end

---@param format "markdown"|"json"
---@return agent.Export
function M.buffer(format)
  local texts = {}
  return {
    add = function(text)
      table.insert(texts, text)
      return true
    end,
    done = function()
      local text = table.concat(texts):gsub("\n$", "")
      local buffer = require("agent.ui.scratch")(nil, "hide")
      vim.bo[buffer].buflisted = true
      vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, "\n"))
      require("agent.deep").set_filetype(buffer, format)
      vim.cmd("tab sbuffer " .. buffer)
    end,
    cancel = function() end,
  }
end

return M
