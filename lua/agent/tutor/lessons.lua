-- The lessons: what they ask for, what the scripted model does then, and when that is done. What stands between
-- backticks is to be typed or pressed; {names} are keys of the option review_keys.
local M = {}

---@class agent.TutorSeen  since the lesson has begun
---@field turns integer      that came to their end
---@field running boolean    a turn runs
---@field waiting integer    approvals
---@field answered integer   approvals
---@field steered boolean    a message went into the turn
---@field left boolean       the chat of the turns is no longer the current one
---@field chat? agent.Chat   the current one
---@field hunks fun(name: string): integer
---@field read fun(name: string): string

---@class agent.LessonStep  the first one that is not done is shown
---@field text string
---@field done fun(seen: agent.TutorSeen): boolean

---@class agent.Lesson
---@field title string
---@field script string  its form: denops/agent/scripted_model/script.ts
---@field steps agent.LessonStep[]

---@param seen agent.TutorSeen
---@return boolean
local function has_ended(seen)
  return seen.turns > 0
end

---@param seen agent.TutorSeen
---@return boolean
local function was_asked(seen)
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
think A question about greet.lua: I read it first.
call read {"path": "greet.lua"}
---
slow 30
say It greets everybody whose name is in `guests.txt`:
say
say - `M.greet(name)` makes the greeting
say - `M.all()` prints one for each line of the file
]],
    steps = {
      {
        text = "Type  `:Agent what does greet.lua do?`  and press `<CR>`.\n"
          .. "Only the plugin is real here: project and model are made up.",
        done = has_ended,
      },
    },
  },
  {
    title = "An edit that asks",
    script = [[
slow 30
say I put it into `.env`, which git does not track.
call write {"path": ".env", "content": "TOKEN=abc123\n"}
---
slow 30
say That is done as far as you have allowed it.
]],
    steps = {
      {
        text = "Press `i`, type  `keep my token in .env`  and send it with `<C-s>`.\n"
          .. "What you see in the chat is the answer, and what was read for it.",
        done = was_asked,
      },
      {
        text = "`<Esc>` `<Tab>` goes to the question: `a` allows it, `r` rejects it.\n"
          .. "Most edits are made at once, but .env may hold secrets.",
        done = has_ended,
      },
    },
  },
  {
    title = "A command",
    script = [[
slow 30
say Names stand in there twice. I sort the file.
call run {"command": "sort -u -o guests.txt guests.txt"}
---
slow 30
say That was the command, as far as you have allowed it.
]],
    steps = {
      {
        text = "Say  `sort the guests`  (`i` and `<C-s>` again).\nIt is done by a command, in a sandbox.",
        done = was_asked,
      },
      {
        text = "`<Esc>` `<Tab>` goes there: `a` goes on with this, `r` does not.\n"
          .. "Nothing has changed yet. You see what the command would do.",
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
say Both places of `greet.lua` are polite.
]],
    steps = {
      {
        text = "Say  `greet politely`\nOrdinary files are changed at once, and you look afterwards.",
        done = has_ended,
      },
      {
        text = "`<Esc>` `q` hides the chat: greet.lua has two marked hunks. `{next}` goes to one.\n"
          .. "Keep one of them with `{keep}`, and take the other back with `{undo}`.",
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
say It is as loud as it gets, the README too.
]],
    steps = {
      { text = "Ask for more:  `:Agent make it loud`", done = has_ended },
      {
        text = "Too loud? `:Agent undo`  takes back all that this turn has done.",
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
say I try to delete it.
call run {"command": "rm guests.txt"}
---
slow 30
say That is as far as this mode lets me go.
]],
    steps = {
      {
        text = "`:Agent`  goes to the input. There press `<S-Tab>` once, for mode ask.\n"
          .. "Nothing can be changed in it, whatever else is allowed.",
        done = function(seen)
          return has_ended(seen) or mode_is("ask")(seen)
        end,
      },
      { text = "Try it:  `delete the guest list`", done = has_ended },
      { text = "The file is still there. Go back with  `:Agent mode agent`", done = mode_is("agent") },
    },
  },
  {
    title = "Steering, sessions",
    script = [[
slow 30
think A speech wants a moment of thought.
wait steered
call read {"path": "guests.txt"}
---
slow 30
say What you said in the meantime has come along. The speech:
say
say Welcome, all of you. The buffet is open.
]],
    steps = {
      {
        text = "Say  `write a speech`\nThe model will think until you say more.",
        done = function(seen)
          return seen.running or seen.steered or has_ended(seen)
        end,
      },
      {
        text = "Type  `keep it short`  and press `<M-CR>`: it goes into the turn that runs.\n"
          .. "Where that key does not arrive:  `<Esc>` `g<CR>`",
        done = function(seen)
          return seen.steered or has_ended(seen)
        end,
      },
      { text = "The model is told before its next step.", done = has_ended },
      {
        text = "All of this is stored as one session. Begin another one with  `:Agent new`",
        done = function(seen)
          return seen.left
        end,
      },
      {
        text = "`:Agent sessions`  lists them. Open the one that you had with `<CR>`.",
        done = function(seen)
          return seen.chat ~= nil and seen.chat.timeline.session ~= nil
        end,
      },
    },
  },
}

--- What is shown behind the last lesson.
M.ending = "That was all. `:Agent tutor quit`  closes it and leaves nothing behind.\n"
  .. "`:help agent`  has the rest; `:Agent`  in a project of yours begins."

return M
