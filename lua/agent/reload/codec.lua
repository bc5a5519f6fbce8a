--- Converts between the bytes of a file and the lines and options of a buffer, as Neovim's own read and write
--- do: line endings, final newline, trailing CTRL-Z, byte order mark, encoding.
local M = {}

--- The options that decide how lines become bytes.
---@class agent.reload.Format
---@field fileformat "unix"|"dos"|"mac"
---@field endofline boolean
---@field endoffile boolean
---@field bomb boolean
---@field fileencoding string
---@field fixendofline boolean
---@field binary boolean

--- A parsed text. An empty file has no lines.
---@class agent.reload.Text
---@field lines string[]
---@field format agent.reload.Format

local UTF8_BOM = "\239\187\191"

-- Longer marks first: that of UTF-32 begins with that of UTF-16.
local BOMS = {
  { bytes = "\255\254\0\0", encoding = "ucs-4le" },
  { bytes = "\0\0\254\255", encoding = "ucs-4" },
  { bytes = UTF8_BOM, encoding = "utf-8" },
  { bytes = "\255\254", encoding = "utf-16le" },
  { bytes = "\254\255", encoding = "utf-16" },
}

---@param encoding string
---@return boolean
local function is_utf8(encoding)
  return encoding == "" or encoding == "utf-8"
end

---@param text string
---@return string text
---@return boolean had_bom
function M.strip_bom(text)
  if text:sub(1, 3) == UTF8_BOM then
    return text:sub(4), true
  end
  return text, false
end

--- Bytes of the byte order mark that Neovim writes for an encoding.
---@param encoding string
---@return integer
local function bom_size(encoding)
  if is_utf8(encoding) then
    return 3
  elseif encoding:find("^ucs%-4") or encoding:find("^utf%-32") then
    return 4
  elseif encoding:find("^ucs%-2") or encoding:find("^utf%-16") then
    return 2
  end
  return 0
end

---@param bytes string
---@return "ascii"|"utf-8"|"other"
function M.kind_of(bytes)
  local i = bytes:find("[\128-\255]")
  if not i then
    return "ascii"
  end
  while i do
    local lead = bytes:byte(i)
    local size = lead < 0xC2 and 0 or lead < 0xE0 and 2 or lead < 0xF0 and 3 or lead < 0xF5 and 4 or 0
    if size == 0 then
      return "other"
    end
    for k = 1, size - 1 do
      local byte = bytes:byte(i + k)
      if not byte or byte < 0x80 or byte > 0xBF then
        return "other"
      end
    end
    i = bytes:find("[\128-\255]", i + size)
  end
  return "utf-8"
end

--- Parses a file's bytes in the buffer's encoding, unless the bytes contradict it.
---@see M.decode
---@param bytes string
---@param current agent.reload.Text  what the buffer holds now
---@param known? string  the text as someone else decoded it
---@return string? text  UTF-8 without byte order mark; nothing if the bytes cannot be converted
---@return string? encoding
---@return boolean? bomb
local function decode(bytes, current, known)
  local encoding = current.format.fileencoding
  if current.format.binary then
    return bytes, encoding, false
  end
  for _, bom in ipairs(BOMS) do
    if vim.startswith(bytes, bom.bytes) and (bom.encoding == "utf-8" or bom_size(encoding) == #bom.bytes) then
      local rest = bytes:sub(#bom.bytes + 1)
      if bom.encoding == "utf-8" then
        return rest, "utf-8", true
      end
      local same_order = (encoding:find("le$") ~= nil) == (bom.encoding:find("le$") ~= nil)
      local name = same_order and encoding or bom.encoding
      return vim.iconv(rest, name, "utf-8"), name, true
    end
  end
  if is_utf8(encoding) then
    -- The user may have set 'fileencoding' for the next write while the file still has another one.
    if known and M.kind_of(bytes) == "other" and not known:find("\239\191\189", 1, true) then
      return (M.strip_bom(known)), encoding, current.format.bomb
    end
    return bytes, encoding, false
  end
  -- An 8-bit reading never fails, so a file that was converted to UTF-8 has to be recognised. If the user
  -- reads UTF-8 as 8-bit on purpose, the buffer already has such bytes.
  if bom_size(encoding) == 0 and M.kind_of(bytes) == "utf-8" then
    local before = vim.iconv(table.concat(current.lines, "\n"), "utf-8", encoding)
    if not before or M.kind_of(before) ~= "utf-8" then
      return bytes, "utf-8", false
    end
  end
  return vim.iconv(bytes, encoding, "utf-8"), encoding, false
end

--- Encodings that a program may have converted a file to, each with its byte order mark.
local FORMS = {
  { bom = UTF8_BOM, encoding = "utf-8" },
  { bom = "\255\254", encoding = "utf-16le" },
  { bom = "\254\255", encoding = "utf-16" },
  { bom = "", encoding = "latin1" },
}

--- The same. A file that was converted has another encoding than its buffer: then the known text decides.
---@param bytes string
---@param current agent.reload.Text
---@param known? string
---@param follows? boolean  the buffer takes the file's encoding; a user may have set another one for the next write
---@return string? text
---@return string? encoding
---@return boolean? bomb
function M.decode(bytes, current, known, follows)
  local text, encoding, bomb = decode(bytes, current, known)
  local wanted = known and M.strip_bom(known)
  local is_certain = text == wanted and not (is_utf8(encoding or "") and M.kind_of(bytes) == "other")
  if follows and wanted and not is_certain and not current.format.binary then
    for _, form in ipairs(FORMS) do
      if vim.startswith(bytes, form.bom) and vim.iconv(bytes:sub(#form.bom + 1), form.encoding, "utf-8") == wanted then
        return wanted, form.encoding, form.bom ~= ""
      end
    end
  end
  return text, encoding, bomb
end

--- The line ending that Neovim would detect; the current one is kept if the text permits it.
---@param text string
---@param current agent.reload.Text
---@param keep_mixed boolean  a text of mixed endings does not end "dos"
---@return "unix"|"dos"|"mac"
local function detect_fileformat(text, current, keep_mixed)
  local now = current.format.fileformat
  if current.format.binary then
    return "unix"
  end
  local has_nl = text:find("\n", 1, true) ~= nil
  if not has_nl then
    return now
  elseif now == "mac" then
    return text:find("\r", 1, true) and "mac" or "unix"
  end
  local all_crlf = not text:find("[^\r]\n") and text:sub(1, 1) ~= "\n"
  if now == "dos" then
    local mixed = not all_crlf and text:find("\r\n", 1, true) ~= nil
    return (all_crlf or mixed and keep_mixed) and "dos" or "unix"
  end
  -- A buffer that shows the CR of its first line was read as unix on purpose.
  local shows_cr = current.lines[1] and current.lines[1]:sub(-1) == "\r"
  return all_crlf and not shows_cr and "dos" or "unix"
end

--- Splits a text with the given line ending into lines. Other endings stay in the lines.
---@param text string
---@param fileformat "unix"|"dos"|"mac"
---@return string[] lines
---@return boolean endofline
---@return boolean endoffile
function M.split(text, fileformat)
  local endoffile = fileformat == "dos" and text:sub(-1) == "\26"
  if endoffile then
    text = text:sub(1, -2)
  end
  if text == "" then
    return {}, true, endoffile
  end
  if fileformat == "mac" then
    text = text:gsub("[\r\n]", { ["\r"] = "\n", ["\n"] = "\r" })
  end
  local lines = vim.split(text, "\n", { plain = true })
  local ended = lines[#lines] == ""
  if fileformat == "dos" then
    for i = 1, #lines - 1 do
      if lines[i]:sub(-1) == "\r" then
        lines[i] = lines[i]:sub(1, -2)
      end
    end
  end
  if ended then
    lines[#lines] = nil
  end
  return lines, ended, endoffile
end

--- A text in the buffer's format: as Neovim would show it after reading it now.
---@param text string  UTF-8 without byte order mark
---@param current agent.reload.Text
---@param encoding string
---@param bomb boolean
---@return agent.reload.Text
function M.parse(text, current, encoding, bomb)
  local format = vim.deepcopy(current.format)
  format.fileformat = detect_fileformat(text, current, false)
  format.fileencoding, format.bomb = encoding, bomb
  local lines
  lines, format.endofline, format.endoffile = M.split(text, format.fileformat)
  return { lines = lines, format = format }
end

--- A text in a format that can be merged with the buffer's: keeps the buffer's encoding, and its "dos" if
--- only some lines lack the CR.
---@param text string  UTF-8
---@param current agent.reload.Text
---@return agent.reload.Text
function M.parse_for_merge(text, current)
  local format = vim.deepcopy(current.format)
  if not format.binary then
    text = M.strip_bom(text)
  end
  format.fileformat = detect_fileformat(text, current, true)
  local lines
  lines, format.endofline, format.endoffile = M.split(text, format.fileformat)
  return { lines = lines, format = format }
end

--- The text that `:write` would write, but always in UTF-8.
---@param text agent.reload.Text
---@return string
function M.join(text)
  local format = text.format
  local bom = format.bomb and not format.binary and bom_size(format.fileencoding) > 0 and UTF8_BOM or ""
  if #text.lines == 0 then
    return bom
  end
  local body = table.concat(text.lines, "\n")
  if format.endofline or (format.fixendofline and not format.binary) then
    body = body .. "\n"
  end
  if format.fileformat == "dos" then
    body = body:gsub("\n", "\r\n")
  elseif format.fileformat == "mac" then
    body = body:gsub("[\r\n]", { ["\r"] = "\n", ["\n"] = "\r" })
  end
  if format.endoffile and not format.fixendofline then
    body = body .. "\26"
  end
  return bom .. body
end

--- The bytes that `:write` would write.
---@param text agent.reload.Text
---@return string? bytes  nothing where the encoding has no such characters, or where lines hold NUL bytes
function M.encode(text)
  for _, line in ipairs(text.lines) do
    if line:find("\n", 1, true) then
      return nil
    end
  end
  local joined, encoding = M.join(text), text.format.fileencoding
  if text.format.binary or is_utf8(encoding) then
    return joined
  end
  local bytes = vim.iconv(joined, "utf-8", encoding)
  return bytes and vim.iconv(bytes, encoding, "utf-8") == joined and bytes or nil
end

--- The text of a loaded buffer.
---@param buf integer
---@return agent.reload.Text
function M.of_buffer(buf)
  local bo = vim.bo[buf]
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  if #lines == 1 and lines[1] == "" then
    -- One empty line and no line look alike but are written differently.
    local bytes = vim.api.nvim_buf_call(buf, function()
      return vim.fn.wordcount().bytes
    end)
    lines = bytes == 0 and {} or lines
  end
  return {
    lines = lines,
    format = {
      fileformat = bo.binary and "unix" or bo.fileformat,
      endofline = bo.endofline,
      endoffile = bo.endoffile,
      bomb = bo.bomb,
      fileencoding = bo.fileencoding,
      fixendofline = bo.fixendofline,
      binary = bo.binary,
    },
  }
end

return M
