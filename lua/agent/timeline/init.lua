-- Pure: a session as a list of blocks, changed by updates. Views draw the changed blocks.
local handlers = require("agent.timeline.handlers")
local waiting = require("agent.timeline.waiting")

local M = {}

---@alias agent.Status "queued"|"steering"|"steered"|"sent"|"open"|"done"|"pending"|"in_progress"|"waiting"
---|"completed"|"failed"|"stopped"

---@class agent.Location
---@field path string   absolute
---@field line? integer from 1

---@class agent.Block
---@field kind "user"|"text"|"thought"|"tool"|"run"|"notice"|"plan"|"files"|"moved"  "moved" is empty
---@field text string
---@field id? string            of a tool call or a message
---@field status? agent.Status
---@field severity? "info"|"warning"|"error"
---@field title? string         of a tool call
---@field what? string         kind of a tool call, as in ACP
---@field calls? agent.Block[]  of a run: its tool calls, and the thoughts between them
---@field into? integer         of a moved block: the run that contains it
---@field summary? string
---@field lines? integer        written so far, while the arguments of a call stream in
---@field is_rewritten? boolean  of a closed text: it was changed, not extended
---@field draft? string        the end of the text that it writes, while its arguments stream in
---@field output? string
---@field is_diff? boolean      the output is the diff of a write
---@field locations? agent.Location[]  of a tool call; with a diff, its files in their order
---@field added? integer
---@field removed? integer
---@field seconds? number       of a thought
---@field expanded? boolean
---@field approvals? string[]  of a tool call: how it was approved
---@field files? table[]       changed in a turn, see ShownFile in protocol/ui.ts
---@field files_of? integer     that turn
---@field path? string          of a notice about a file
---@field undone? "all"|"part"|"none"  how much of these files was undone, or of the changes of a tool call
---@field children? agent.Block[]  of a tool call: blocks under it
---@field depth? integer       of a tool call: number of calls above it
---@field attachments? string[]  of a user's message: their labels
---@field backlog_item? agent.BacklogItem        of a message that waits for the chat to open
---@field turn? integer          of a user's message: the turn that it began, from 1 within the session

---@class agent.Retry
---@field index integer          of its block
---@field reason string
---@field left integer           seconds
---@field attempt integer        that failed
---@field tries integer

---@class agent.Timeline
---@field blocks agent.Block[]
---@field state "idle"|"starting"|"working"|"waiting"|"retrying"|"stopping"|"folding"
---@field asks_alone? boolean   the pending approval belongs to no turn
---@field is_folding? boolean   the context window is being compacted, between turns
---@field openings agent.Opening[]      the chat is open once all of them have ended
---@field backlog agent.BacklogItem[]      actions that wait until then
---@field is_closing? boolean    the chat is about to close for good
---@field session? string       id under which it is stored
---@field title? string         of the session
---@field outdated? integer     number of blocks that the stored session replaces
---@field root? string
---@field provider? string
---@field model? string
---@field sandbox? string
---@field mode? string          of the agent, as the agent names it
---@field has_tools? boolean     whether a tool call of the open session's next turn may run
---@field mode_has_tools? boolean
---@field commands? { name: string, description: string }[]  of the agent
---@field options? { id: string, name: string, value: string }[]  of the agent, with their values
---@field permission? string    what the session may do unasked, as the supervisor says
---@field refusal? string       why it cannot be loosened; "" if it can
---@field untrusted? string     why the network and sensitive writes ask whatever rules say; "" if they do not
---@field steps? { step: string, status: string }[]  of the plan
---@field running? integer       commands in the background
---@field used? integer          tokens of the context window
---@field size? integer
---@field cost? number            dollars of the session so far
---@field retry? agent.Retry     the countdown on screen
---@field approvals integer      that wait
---@field requests table<integer, string>   request → its tool call
---@field tools table<string, integer>   tool call → its block, or the run that contains it
---@field nested table<string, agent.Block>  tool call under another one

---@return agent.Timeline
function M.new()
  return { blocks = {}, state = "idle", openings = {}, backlog = {}, approvals = 0, requests = {}, tools = {}, nested = {} }
end

--- Messages that wait.
---@param timeline agent.Timeline
---@return agent.Block[]
function M.waiting(timeline)
  return vim.tbl_filter(function(block)
    return waiting.STATES[block.status]
  end, timeline.blocks)
end

--- Blocks of an agent's work: the agent has the message before them.
local ANSWERS = { text = true, thought = true, tool = true, run = true, plan = true }

--- The message of a turn that has produced nothing yet and is not stored. Notices may stand below it.
---@param timeline agent.Timeline
---@return agent.Block?
local function unstored_block(timeline)
  for index = #timeline.blocks, 1, -1 do
    local block = timeline.blocks[index]
    if block.kind == "user" and block.status == "sent" then
      return not block.turn and block or nil
    elseif ANSWERS[block.kind] or block.into or block.status == "steered" then
      return nil
    end
  end
end

---@param timeline agent.Timeline
---@return string? text
function M.unstored(timeline)
  local block = unstored_block(timeline)
  return block and block.text
end

--- Messages that no log has, as far as is known here, in the order of the chat.
---@param timeline agent.Timeline
---@return agent.Block[]
function M.on_the_way(timeline)
  local blocks = timeline.state ~= "idle" and { unstored_block(timeline) } or {}
  return vim.list_extend(blocks, M.waiting(timeline))
end

--- Messages that return to the input when the supervisor is gone, in the order of the chat. It never had messages that
--- wait for the chat to open.
---@param timeline agent.Timeline
---@return string[] texts
---@return boolean unstored the first one was sent, and is not stored
function M.unsent(timeline)
  local unstored = M.unstored(timeline)
  local texts = { unstored }
  for _, block in ipairs(M.waiting(timeline)) do
    table.insert(texts, not block.backlog_item and block.text or nil)
  end
  return texts, unstored ~= nil
end

--- Applies one update, in place.
---@param timeline agent.Timeline
---@param update table see protocol/ui.ts; also { type = "submitted", text }
---@return table<integer, true> changed indexes of blocks to draw
function M.apply(timeline, update)
  local changed = {}
  local handler = handlers[update.type]
  if handler then
    handler(timeline, update, changed)
  end
  return changed
end

--- A stored part of a session, from its updates. All of its blocks are closed.
---@param updates table[]
---@return agent.Timeline
function M.replay(updates)
  local timeline = M.new()
  for _, update in ipairs(updates) do
    M.apply(timeline, update)
  end
  local last = vim.iter(timeline.blocks):rev():find(function(block)
    return block.kind == "user"
  end)
  if last and last.status == "sent" then
    -- The end of its process has cut it off.
    M.apply(timeline, { type = "turn_done", reason = "interrupted" })
  end
  return timeline
end

--- Removes the outdated blocks.
---@param timeline agent.Timeline
function M.drop_outdated(timeline)
  timeline.blocks = vim.list_slice(timeline.blocks, timeline.outdated + 1)
  timeline.outdated, timeline.tools, timeline.nested, timeline.requests = nil, {}, {}, {}
  timeline.used, timeline.size, timeline.cost, timeline.steps = nil, nil, nil, nil
end

--- Puts an older part before the present blocks.
---@param timeline agent.Timeline
---@param older agent.Timeline
---@return integer count of new blocks
function M.prepend(timeline, older)
  local count = #older.blocks
  table.move(timeline.blocks, 1, #timeline.blocks, count + 1)
  table.move(older.blocks, 1, count, 1, timeline.blocks)
  for index = count + 1, #timeline.blocks do
    local block = timeline.blocks[index]
    block.into = block.into and block.into + count
  end
  for id, index in pairs(timeline.tools) do
    timeline.tools[id] = index + count
  end
  for id, index in pairs(older.tools) do
    timeline.tools[id] = timeline.tools[id] or index
  end
  timeline.nested = vim.tbl_extend("keep", timeline.nested, older.nested)
  if timeline.retry then
    timeline.retry.index = timeline.retry.index + count
  end
  if not timeline.used then
    timeline.used, timeline.size = older.used, older.size
  end
  timeline.cost, timeline.steps = timeline.cost or older.cost, timeline.steps or older.steps
  return count
end

--- The turn of a block; nil before the first stored one.
---@param timeline agent.Timeline
---@param index integer
---@return integer? turn
function M.turn_of(timeline, index)
  for at = index, 1, -1 do
    if timeline.blocks[at].turn then
      return timeline.blocks[at].turn
    end
  end
end

return M
