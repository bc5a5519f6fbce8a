-- Reads an image from the clipboard with a program of the system. Neovim does not wait.
local find = require("agent.host.program").find
local say = require("agent.ui.say")

local M = {}

--- Milliseconds.
local LONGEST = 10000
--- Bytes; no model accepts more.
local LARGEST = 10 * 1024 * 1024
local PNG = "\137PNG\r\n\26\n"

--- Programs that write the image in base64, or nothing.
local POWERSHELL = [[
Add-Type -AssemblyName System.Windows.Forms
$image = [System.Windows.Forms.Clipboard]::GetImage()
if ($image -eq $null) { exit 1 }
$stream = New-Object System.IO.MemoryStream
$image.Save($stream, [System.Drawing.Imaging.ImageFormat]::Png)
[Console]::Out.Write([Convert]::ToBase64String($stream.ToArray()))]]

---@class agent.Clipboard
---@field command string[]
---@field needs? string      environment variable that it needs
---@field is_base64? boolean  its output is base64

---@type agent.Clipboard[]
local programs = {
  { command = { "wl-paste", "--no-newline", "--type", "image/png" }, needs = "WAYLAND_DISPLAY" },
  { command = { "xclip", "-selection", "clipboard", "-t", "image/png", "-o" }, needs = "DISPLAY" },
  { command = { "pngpaste", "-" } },
  {
    command = { "powershell.exe", "-NoProfile", "-NonInteractive", "-STA", "-Command", POWERSHELL },
    is_base64 = true,
  },
}

---@param program agent.Clipboard
---@param output vim.SystemCompleted
---@return string? base64
local function image_of(program, output)
  local data = output.code == 0 and output.stdout or ""
  if program.is_base64 then
    return vim.startswith(data, vim.base64.encode(PNG):sub(1, 10)) and vim.trim(data) or nil
  end
  return vim.startswith(data, PNG) and vim.base64.encode(data) or nil
end

--- Tries one program after the other.
---@param left agent.Clipboard[]
---@param done fun(base64: string)
local function ask(left, done)
  local program = table.remove(left, 1)
  if not program then
    return say.info("the clipboard has no image")
  end
  local function answered(output)
    local base64 = image_of(program, output)
    if not base64 then
      return ask(left, done)
    end
    if #base64 > LARGEST then
      return say.error("the image in the clipboard is too large")
    end
    done(base64)
  end
  local path = find(program.command[1])
  local command = path and vim.list_extend({ path }, program.command, 2)
  local options = { text = false, timeout = LONGEST }
  if not command or not pcall(vim.system, command, options, vim.schedule_wrap(answered)) then
    ask(left, done)
  end
end

--- Gets the image of the clipboard. Reports why there is none.
---@param done fun(base64: string)
function M.image(done)
  local found = vim.tbl_filter(function(program)
    local is_needed = not program.needs or vim.env[program.needs]
    return is_needed and find(program.command[1]) ~= nil
  end, programs)
  if #found == 0 then
    return say.error("cannot read images from the clipboard: install wl-paste, xclip or pngpaste")
  end
  ask(found, done)
end

return M
