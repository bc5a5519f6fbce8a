-- The changed files of a turn: one growing list, which moves to the place of the last change while the turn runs.
local M = {}

--- How much of a list was undone.
---@param block agent.Block
---@param state table see TurnUndone in protocol/requests.ts
---@return true? changed
local function set_undone(block, state)
  local is_changed = block.undone ~= state.undone or nil
  local by_path = {}
  for _, one in ipairs(state.files or {}) do
    by_path[one.path] = one.undone
  end
  for _, file in ipairs(block.files) do
    is_changed = is_changed or file.undone ~= by_path[file.path] or nil
    file.undone = by_path[file.path]
  end
  block.undone = state.undone
  return is_changed
end

---@param on table<string, fun(timeline: agent.Timeline, update: table, changed: table<integer, true>)>
---@param add fun(timeline: agent.Timeline, block: agent.Block, changed: table<integer, true>): integer
---@param last_block fun(timeline: agent.Timeline): integer
---@param block_of fun(timeline: agent.Timeline, id: string): agent.Block? the block of a call
function M.handle(on, add, last_block, block_of)
  function on.turn_files(timeline, update, changed)
    local block = { kind = "files", text = "", files = update.files, files_of = update.turn, undone = update.undone }
    block.status = timeline.state ~= "idle" and "open" or nil
    local last = last_block(timeline)
    for index = #timeline.blocks, 1, -1 do
      local old = timeline.blocks[index]
      if old.kind == "files" and old.files_of == update.turn then
        local stays = #update.files > 0 and (index == last or not block.status)
        timeline.blocks[index], changed[index] = stays and block or { kind = "moved", text = "" }, true
        if stays then
          return
        end
        break
      end
    end
    if #update.files > 0 then
      add(timeline, block, changed)
    end
  end

  --- The user has kept or undone files of a turn's list there; without a state, changed them again.
  ---@param update { turn: integer, paths: table<string, true>, state?: "kept"|"undone" }
  function on.review(timeline, update, changed)
    for index, block in ipairs(timeline.blocks) do
      for _, file in ipairs(block.files_of == update.turn and block.files or {}) do
        if update.paths[file.path] then
          file.state, changed[index] = update.state, true
        end
      end
    end
  end

  --- The user has undone or redone changes; `turns` and `calls` as in protocol/requests.ts. `redone`: paths.
  function on.undone(timeline, update, changed)
    local states = {}
    for _, one in ipairs(update.turns or {}) do
      states[one.turn] = one
    end
    for index, block in ipairs(timeline.blocks) do
      local state = states[block.files_of]
      if state then
        changed[index] = set_undone(block, state) or changed[index]
      end
      for _, file in ipairs(update.redone and block.files or {}) do
        if file.state == "undone" and update.redone[file.path] then
          file.state, changed[index] = nil, true
        end
      end
    end
    for _, one in ipairs(update.calls or {}) do
      local block = block_of(timeline, one.call)
      local undone = one.undone or "none"
      if block and block.undone ~= undone then
        block.undone, changed[timeline.tools[one.call]] = undone, true
      end
    end
  end
end

return M
