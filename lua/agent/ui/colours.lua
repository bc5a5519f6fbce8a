-- Colour arithmetic. A colour is an integer of 24 bits; terminals number theirs. Pure.
-- Source: WCAG 2.2, "relative luminance" and "contrast ratio".
local M = {}

local BLACK, WHITE = 0, 0xffffff

--- Colours of xterm: 16, then a cube of 6 levels, then greys.
-- stylua: ignore
local BASIC = { 0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
  0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff }
local LEVELS = { 0, 95, 135, 175, 215, 255 }

---@param red integer
---@param green integer
---@param blue integer
---@return integer
local function rgb(red, green, blue)
  return red * 65536 + green * 256 + blue
end

---@param colour integer
---@return integer red from 0 to 255
---@return integer green
---@return integer blue
local function channels(colour)
  return math.floor(colour / 65536) % 256, math.floor(colour / 256) % 256, colour % 256
end

---@param number integer of a terminal colour
---@return integer
function M.of_terminal(number)
  if number < 16 then
    return BASIC[number + 1]
  elseif number > 231 then
    local grey = 8 + 10 * (number - 232)
    return rgb(grey, grey, grey)
  end
  local at = number - 16
  return rgb(LEVELS[math.floor(at / 36) + 1], LEVELS[math.floor(at / 6) % 6 + 1], LEVELS[at % 6 + 1])
end

--- The same few channels and colours are compared many times.
---@generic T
---@param compute fun(key: integer): T
---@return table<integer, T>
local function cache(compute)
  return setmetatable({}, {
    __index = function(known, key)
      known[key] = compute(key)
      return known[key]
    end,
  })
end

--- A terminal's colour and its channels.
local of_terminal = cache(function(number)
  local colour = M.of_terminal(number)
  return { colour, channels(colour) }
end)

--- The light of a channel from 0 to 255.
local light = cache(function(channel)
  local share = channel / 255
  return share <= 0.04045 and share / 12.92 or ((share + 0.055) / 1.055) ^ 2.4
end)

local luminance = cache(function(colour)
  local red, green, blue = channels(colour)
  return 0.2126 * light[red] + 0.7152 * light[green] + 0.0722 * light[blue]
end)

---@param one integer
---@param other integer
---@return number from 1 to 21
function M.contrast(one, other)
  local a, b = luminance[one], luminance[other]
  return (math.max(a, b) + 0.05) / (math.min(a, b) + 0.05)
end

--- The contrast on the background that suits the colour least.
---@param colour integer
---@param backgrounds integer[]
---@return number
function M.least_contrast(colour, backgrounds)
  local least = math.huge
  for _, background in ipairs(backgrounds) do
    least = math.min(least, M.contrast(colour, background))
  end
  return least
end

---@param from integer
---@param to integer
---@param share number of `to`, from 0 to 1
---@return integer
function M.mix(from, to, share)
  local red, green, blue = channels(from)
  local to_red, to_green, to_blue = channels(to)
  local function part(a, b)
    return math.floor(a + (b - a) * share + 0.5)
  end
  return rgb(part(red, to_red), part(green, to_green), part(blue, to_blue))
end

--- The same hue, lighter or darker, with this contrast on all these backgrounds, or as much as there can be.
---@param colour integer
---@param backgrounds integer[]
---@param contrast number
---@return integer
function M.readable(colour, backgrounds, contrast)
  local is_dark = M.least_contrast(WHITE, backgrounds) > M.least_contrast(BLACK, backgrounds)
  local target = is_dark and WHITE or BLACK
  for tenth = 0, 9 do
    local better = M.mix(colour, target, tenth / 10)
    if M.least_contrast(better, backgrounds) >= contrast then
      return better
    end
  end
  return target
end

--- The terminal colour that is nearest to this one among those that fit. The first 16 are the user's own, and so
--- unknown, but a terminal with fewer than 256 has no others.
---@param colour integer
---@param count integer colours of the terminal
---@param fits fun(colour: integer): boolean
---@return integer? number
function M.nearest(colour, count, fits)
  local red, green, blue = channels(colour)
  local nearest, least = nil, math.huge
  for number = count < 256 and 0 or 16, math.min(count, 256) - 1 do
    local found = of_terminal[number]
    local r, g, b = found[2] - red, found[3] - green, found[4] - blue
    local distance = r * r + g * g + b * b
    if distance < least and fits(found[1]) then
      nearest, least = number, distance
    end
  end
  return nearest
end

return M
