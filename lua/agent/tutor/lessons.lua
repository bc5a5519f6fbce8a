-- The lessons: instructions, the scripted model's answers, and when each step is done. Backticks mark text to type or
-- keys to press; {names} are keys of the option review_keys. Each text fits two rows of 40 columns.
local M = {}

---@class agent.TutorSeen  events since the lesson began
---@field turns integer      finished ones
---@field running boolean    a turn runs
---@field waiting integer    pending approvals
---@field answered integer   answered approvals
---@field steered boolean    a message steered the turn
---@field left boolean       another chat than that of the turns is current
---@field chat? agent.Chat   the current one
---@field hunks fun(name: string): integer
---@field read fun(name: string): string

---@class agent.LessonStep  the page shows the first unfinished step
---@field text string
---@field note? string  a line for screens with room
---@field done fun(seen: agent.TutorSeen): boolean

---@class agent.Lesson
---@field title string
---@field script string  format: denops/agent/scripted_model/script.ts
---@field steps agent.LessonStep[]

---@param seen agent.TutorSeen
---@return boolean
local function has_ended(seen)
  return seen.turns > 0
end

---@param seen agent.TutorSeen
---@return boolean
local function has_asked(seen)
  return seen.waiting > 0 or seen.answered > 0 or seen.turns > 0
end

---@param name string
---@return fun(seen: agent.TutorSeen): boolean
local function mode_is(name)
  return function(seen)
    return seen.chat ~= nil and seen.chat.timeline.mode == name
  end
end

---@type agent.Lesson[]
M.list = {
  {
    title = "A question",
    script = [[
slow 30
think The question is about greet.lua. I read it first.
call read {"path": "greet.lua"}
---
slow 30
say It greets everybody listed in `guests.txt`:
say
say - `M.greet(name)` returns the greeting
say - `M.all()` prints a greeting for each line of the file
]],
    steps = {
      {
        text = "Type  `:Agent what does greet.lua do?`  and press `<CR>`.",
        note = "The plugin is real; the project and the model are simulated.",
        done = has_ended,
      },
    },
  },
  {
    title = "An edit that asks",
    script = [[
slow 30
say I'll put it into `.env`, which git does not track.
call write {"path": ".env", "content": "TOKEN=abc123\n"}
---
slow 30
say Done, as far as you allowed it.
]],
    steps = {
      {
        text = "Press `i`, type  `keep my token in .env`  and send it with `<C-s>`.",
        note = "The chat shows the answer and the file that was read for it.",
        done = has_asked,
      },
      {
        text = "`<Esc>` `<Tab>` goes to the approval. `a` allows the edit, `r` rejects it.",
        note = "Most edits need no approval, but .env may hold secrets.",
        done = has_ended,
      },
    },
  },
  {
    title = "A command",
    script = [[
slow 30
say One name is listed twice. I'll sort the file.
call run {"command": "sort -u -o guests.txt guests.txt"}
---
slow 30
say The command is done, as far as you allowed it.
]],
    steps = {
      {
        text = "Send  `sort the guests`  (`i` and `<C-s>` again).",
        note = "The agent runs a command in a sandbox.",
        done = has_asked,
      },
      {
        text = "`<Esc>` `<Tab>` goes to the approval. `a` keeps the changes, `r` discards them.",
        note = "Nothing has changed yet. You see what the command would change.",
        done = has_ended,
      },
    },
  },
  {
    title = "A review",
    script = [[
slow 30
call read {"path": "greet.lua"}
---
slow 30
call edit {"path": "greet.lua", "edits": [
  {"old_str": "-- Greets everybody on the list.", "new_str": "-- Greets everybody on the list, politely."},
  {"old_str": "\"hey \" .. name", "new_str": "\"Good evening, \" .. name"}]}
---
slow 30
say Both places in `greet.lua` are polite.
]],
    steps = {
      {
        text = "Send  `greet politely`",
        note = "The agent edits ordinary files at once. You review the edits afterwards.",
        done = has_ended,
      },
      {
        text = "`<Esc>` `q` hides the chat. `{keep}` keeps the first hunk, `{next}` `{undo}` undoes the next.",
        note = "greet.lua has two marked hunks.",
        done = function(seen)
          return seen.hunks("greet.lua") == 0
        end,
      },
    },
  },
  {
    title = "Undo",
    script = [[
slow 30
call read {"path": "greet.lua"}
call read {"path": "README.md"}
---
slow 30
call edit {"path": "greet.lua", "old_str": "return M\n", "new_str": "print(\"HOORAY!\")\n\nreturn M\n"}
call write {"path": "README.md", "content": "# PARTY!!!\n\nSHOUTS AT EVERYBODY.\n"}
---
slow 30
say It's as loud as it gets, including the README.
]],
    steps = {
      { text = "Ask for more:  `:Agent make it loud`", done = has_ended },
      {
        text = "Too loud? `:Agent undo`  undoes all changes of this turn.",
        done = function(seen)
          return not seen.read("greet.lua"):find("HOORAY", 1, true)
        end,
      },
    },
  },
  {
    title = "Modes",
    script = [[
slow 30
say I'll try to delete it.
call run {"command": "rm guests.txt"}
---
slow 30
say That is as far as this mode lets me go.
]],
    steps = {
      {
        text = "`:Agent`  goes to the input.\nPress `<S-Tab>` there once for mode ask.",
        note = "In this mode the agent changes nothing, whatever you have allowed.",
        done = function(seen)
          return has_ended(seen) or mode_is("ask")(seen)
        end,
      },
      { text = "Try it:  `delete the guest list`", done = has_ended },
      { text = "The file is still there.\nGo back with  `:Agent mode agent`", done = mode_is("agent") },
    },
  },
  {
    title = "Steering, sessions",
    script = [[
slow 30
think A speech needs a moment of thought.
wait steered
call read {"path": "guests.txt"}
---
slow 30
say I got your second message. The speech:
say
say Welcome, all of you. The buffet is open.
]],
    steps = {
      {
        text = "`:Agent`  opens the chat.",
        done = function(seen)
          return seen.chat ~= nil and seen.chat:is_visible() or seen.steered or has_ended(seen)
        end,
      },
      {
        text = "Send  `write a speech`",
        note = "The model thinks until you send more.",
        done = function(seen)
          return seen.running or seen.steered or has_ended(seen)
        end,
      },
      {
        text = "Type  `keep it short`  and steer the turn\nwith `<M-CR>`, or with `<Esc>` `g<CR>`.",
        note = "Some terminals do not pass on `<M-CR>`.",
        done = function(seen)
          return seen.steered or has_ended(seen)
        end,
      },
      { text = "The model receives it before its next step.", done = has_ended },
      {
        text = "All of this is stored as one session.\n`<Esc>`  `:Agent new`  starts another one.",
        done = function(seen)
          return seen.left
        end,
      },
      {
        text = "`<Esc>`  `:Agent sessions`  lists all.\nOpen the previous one with `<CR>`.",
        done = function(seen)
          return seen.chat ~= nil and seen.chat.timeline.session ~= nil
        end,
      },
    },
  },
}

--- The page after the last lesson. It fits the smallest screen.
M.ending = "`:Agent tutor quit`  closes the tutor.\nIn your project:  `:Agent`  `:help agent`"

return M
