--- The phases of a chat, without a screen: nvim --headless --clean -l states.lua [seed]
local here = vim.fs.dirname(vim.fs.normalize(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")))
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(here)))
local checks = dofile(here .. "/checks.lua")
local actions = require("agent.actions")
local Phases = require("agent.chat.phases")
local states = require("agent.timeline.states")
local timeline = require("agent.timeline")

local test, eq = checks.test, checks.eq

--- What each action does while the chat is opening, ready, running, stopping and closing.
local TABLE = {
  { "send explain fix tests docs remember", "hold now queue queue back" },
  { "steer", "hold now steer queue back" },
  { "btw commit", "hold now now now back" },
  { "mode effort model options provider permissions login", "hold now now now refuse" },
  { "stop", "give_up nothing stop nothing nothing" },
  {
    "start fork handoff undo redo restore compact rename archive delete export changes pause tools agents jobs "
      .. "mcp skills hooks context trace",
    "refuse now now now refuse",
  },
  { "rewind", "refuse now refuse refuse refuse" },
  {
    "open toggle new worktree chats sessions resume edit queue paste approval approve reject review keep why rules "
      .. "log usage logout tutor config health index",
    "now now now now now",
  },
}

local said = {}
vim.notify = function(line)
  table.insert(said, line)
end

--- A chat without windows: what is typed, and what has run.
local function new_chat()
  local chat = { timeline = timeline.new(), ran = {}, typed = {} }
  chat.input = {
    sent_id = function()
      return "id"
    end,
    add = function(_, text)
      chat.typed = vim.list_extend(vim.split(text, "\n\n"), chat.typed)
    end,
  }
  function chat:apply(updates)
    for _, update in ipairs(updates) do
      timeline.apply(self.timeline, update)
    end
  end
  local function nothing() end
  chat.prepare, chat.transcript = nothing, { follow_all = nothing }
  chat.selections = { by_message = {}, bring_back = nothing }
  chat.phases = Phases.new(chat)
  return chat
end

--- Takes an action of the user's; a message that runs begins a turn, or waits for its end.
local function take(chat, action, text)
  local name = text or action
  chat.phases:act(action, function(on, verdict)
    table.insert(on.ran, name)
    on.verdict = verdict
    if states.KINDS[action] == "message" then
      on:apply({ { type = "submitted", text = text } })
    end
  end, text)
end

--- Brings a chat into a phase, by what happens there.
local INTO = {
  opening = function(chat)
    chat.opening = chat.phases:begin_opening()
  end,
  ready = function() end,
  running = function(chat)
    chat:apply({ { type = "submitted", text = "Go" }, { type = "turn_started" } })
  end,
  stopping = function(chat)
    chat:apply({ { type = "submitted", text = "Go" }, { type = "turn_started" }, { type = "stopping" } })
  end,
  closing = function(chat)
    chat:apply({ { type = "closing" } })
  end,
}

local function in_phase(phase)
  local chat = new_chat()
  chat.typed = { "draft" }
  INTO[phase](chat)
  eq(chat.phases:current(), phase)
  said = {}
  return chat
end

local function is_shown_waiting(chat, text)
  return vim.iter(timeline.waiting(chat.timeline)):any(function(block)
    return block.text == text
  end)
end

--- What has come of an action, by its verdict.
local EFFECT = {
  hold = function(action, text)
    local name = text or action
    for _, is_failing in ipairs({ false, true }) do
      local chat = in_phase("opening")
      take(chat, "send", "before")
      take(chat, action, text)
      take(chat, "send", "behind")
      eq(chat.ran, {}, "nothing runs yet")
      eq(is_shown_waiting(chat, text), text ~= nil, "the user sees that it waits")
      chat.phases:end_opening(chat.opening, is_failing)
      eq(#chat.timeline.backlog, 0)
      if not is_failing then
        eq(chat.ran, { "before", name, "behind" }, "in order")
        eq(chat.typed, { "draft" })
      else
        eq(chat.ran, text and {} or { name }, "a choice holds")
        eq(chat.typed, text and { "before", text, "behind", "draft" } or { "before", "behind", "draft" })
      end
    end
  end,
  give_up = function(action)
    local chat = in_phase("opening")
    take(chat, "send", "before")
    take(chat, action)
    eq({ chat.ran, chat.typed, chat.phases:current() }, { {}, { "before", "draft" }, "ready" })
    eq(chat.phases:end_opening(chat.opening), false, "what comes of it later is not wanted")
    local bound = in_phase("ready")
    bound.phases:begin_opening(true)
    take(bound, "send", "before")
    take(bound, action)
    eq({ bound.typed, bound.phases:current() }, { { "before", "draft" }, "opening" }, "a provider is changed all the same")
  end,
  back = function(action, text, phase)
    local chat = in_phase(phase)
    take(chat, action, text)
    eq({ chat.ran, chat.typed, #said }, { {}, { text, "draft" }, 1 })
  end,
  refuse = function(action, text, phase)
    local chat = in_phase(phase)
    take(chat, action, text)
    eq({ chat.ran, chat.typed, #said }, { {}, { "draft" }, 1 })
    local line = states.refusal(action, chat.timeline)
    -- Behind the name a sentence goes on; one alone has no stop.
    eq((said[1]:gsub("%.$", "")), "agent: " .. line:gsub("^C", "c"):gsub("%.$", ""))
    eq(vim.startswith(line, "Cannot run :Agent " .. action .. ": "), true, line)
  end,
  nothing = function(action, text, phase)
    local chat = in_phase(phase)
    take(chat, action, text)
    eq({ chat.ran, chat.typed, said }, { {}, { "draft" }, {} })
  end,
}
for _, verdict in ipairs({ "now", "queue", "steer", "stop" }) do
  EFFECT[verdict] = function(action, text, phase)
    local chat = in_phase(phase)
    take(chat, action, text)
    eq({ chat.ran, chat.typed, said, chat.verdict }, { { text or action }, { "draft" }, {}, verdict })
  end
end

local WITH_TEXT = { message = true, steering = true, aside = true }

local pairs_tested = 0
local all = {}
for _, row in ipairs(TABLE) do
  for _, action in ipairs(vim.split(row[1], " ")) do
    table.insert(all, action)
    for at, verdict in ipairs(vim.split(row[2], " ")) do
      local phase = states.PHASES[at]
      pairs_tested = pairs_tested + 1
      test(("%s while %s"):format(action, phase), function()
        eq(states.verdict(action, in_phase(phase).timeline), verdict)
        EFFECT[verdict](action, WITH_TEXT[states.KINDS[action]] and "words" or nil, phase)
      end)
    end
  end
end

test("the table has every action of the user's, once, and no others", function()
  local wanted = vim.tbl_map(function(row)
    return row.name
  end, actions.all)
  table.insert(wanted, "steer")
  table.sort(wanted)
  table.sort(all)
  eq(all, wanted)
  local known = vim.tbl_keys(states.KINDS)
  table.sort(known)
  eq(known, wanted)
  eq(pairs_tested, #wanted * #states.PHASES)
end)

test("a provider that is changed after the turn: what is sent in between waits for it", function()
  local chat = in_phase("running")
  local switch = chat.phases:begin_opening(true)
  take(chat, "send", "in the turn")
  eq({ chat.phases:current(), chat.verdict }, { "running", "queue" })
  chat:apply({ { type = "turn_done", reason = "end_turn" } })
  eq(chat.phases:current(), "opening")
  take(chat, "send", "after the turn")
  eq(chat.ran, { "in the turn" })
  -- The supervisor begins what it has, and only then the answer is here.
  chat:apply({ { type = "turn_started" } })
  chat.phases:end_opening(switch)
  eq({ chat.ran, chat.verdict }, { { "in the turn", "after the turn" }, "queue" })
end)

test("what the supervisor gives back stands before what waits here", function()
  local chat = in_phase("running")
  chat.phases:begin_opening(true)
  take(chat, "send", "one")
  chat:apply({ { type = "turn_done", reason = "end_turn" } })
  take(chat, "send", "two")
  take(chat, "btw", "/btw three")
  chat:apply({ { type = "unsent", texts = { "one" } } })
  chat.phases:return_texts({ "one" })
  eq(chat.typed, { "one", "two", "/btw three", "draft" })
  eq(timeline.waiting(chat.timeline), {})
end)

test("what waits for one chat goes to another, in order, whatever that does", function()
  local chat, other = in_phase("opening"), in_phase("running")
  take(chat, "mode")
  take(chat, "send", "one")
  take(chat, "steer", "two")
  chat.phases:hand_over(other)
  eq({ chat.ran, chat.typed, other.ran }, { {}, { "draft" }, { "mode", "one", "two" } })
end)

test("a message that waited stands below the history that comes above it", function()
  local Renderer = require("agent.chat.draw.renderer")
  local buffer = vim.api.nvim_create_buf(false, true)
  local chat, renderer = new_chat(), Renderer.new(buffer)
  function chat:apply(updates)
    for _, update in ipairs(updates) do
      renderer:draw(self.timeline.blocks, timeline.apply(self.timeline, update))
    end
  end
  local open = chat.phases:begin_opening()
  take(chat, "send", "go on")
  chat.phases:end_opening(open)
  local user = { type = "user", text = "hello", turn = 1 }
  local text = { type = "text", message = "m", text = "Hi." }
  local older = timeline.replay({ user, text, { type = "turn_done", reason = "end_turn" } })
  renderer:prepend(chat.timeline.blocks, timeline.prepend(chat.timeline, older), false)
  eq(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), { "hello", "", "Hi.", "", "go on" })
  local signs = vim.api.nvim_buf_get_extmarks(buffer, -1, { 4, 0 }, { 4, -1 }, { details = true })
  eq(vim.iter(signs):any(function(mark)
    return mark[4].sign_text ~= nil or mark[4].virt_text ~= nil
  end), true, "the mark of the user's message")
end)

test("whatever happens in whichever order, each message runs once or is in the input once", function()
  local seed = tonumber(_G.arg[1]) or 1
  math.randomseed(seed)
  for _ = 1, 300 do
    local chat, open, sent = new_chat(), {}, {}
    local DO = {
      function()
        table.insert(open, chat.phases:begin_opening(math.random(2) == 1))
      end,
      function()
        local one = table.remove(open, math.random(math.max(1, #open)))
        if one then
          chat.phases:end_opening(one, math.random(2) == 1)
        end
      end,
      function()
        table.insert(sent, ("text %d"):format(#sent + 1))
        take(chat, ({ "send", "steer", "btw", "fix" })[math.random(4)], sent[#sent])
      end,
      function()
        take(chat, ({ "mode", "stop" })[math.random(2)])
      end,
      function()
        chat:apply({ { type = math.random(2) == 1 and "turn_started" or "turn_done", reason = "end_turn" } })
      end,
      function()
        chat:apply({ { type = ({ "closing", "not_closing" })[math.random(2)] } })
      end,
    }
    for _ = 1, 40 do
      DO[math.random(#DO)]()
    end
    chat:apply({ { type = "turn_done", reason = "end_turn" }, { type = "not_closing" } })
    vim.iter(open):each(function(one)
      chat.phases:end_opening(one)
    end)
    for _, text in ipairs(sent) do
      local ran = vim.iter(chat.ran):filter(function(one)
        return one == text
      end)
      eq(#ran:totable() + (vim.list_contains(chat.typed, text) and 1 or 0), 1, ("%s, seed %d"):format(text, seed))
    end
    eq({ #chat.timeline.backlog, chat.phases:current() == "opening" }, { 0, false })
  end
end)

checks.finish()
