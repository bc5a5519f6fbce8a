-- Lines that the user hands over: as text for the model, and of which files a message shows some.
local M = {}

--- By label: the file whose lines stand below it.
---@type table<string, string>
local files = {}

--- Lines of a buffer, labelled as the model is told of them.
---@param buffer integer
---@param first integer from 1
---@param last integer
---@return string
function M.text(buffer, first, last)
  local path = vim.api.nvim_buf_get_name(buffer)
  local name = path == "" and "an unnamed buffer" or vim.fn.fnamemodify(path, ":.")
  local label = ("User's selected code from %s:L%d-L%d (already provided, do not read again):"):format(name, first, last)
  files[label] = path ~= "" and path or nil
  local lines = vim.api.nvim_buf_get_lines(buffer, first - 1, last, false)
  return label .. "\n```" .. vim.bo[buffer].filetype .. "\n" .. table.concat(lines, "\n") .. "\n```"
end

---@param message string
---@return string[] absolute paths
function M.files(message)
  return vim.iter(vim.gsplit(message, "\n", { plain = true })):map(function(line)
    return files[line]
  end):totable()
end

return M
