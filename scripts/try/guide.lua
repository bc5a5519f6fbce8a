-- Shows, in a corner of the screen, what to press next in `deno task try`. It only looks on: the plugin runs
-- exactly as it does for a user.
local request = vim.g.agent_try_request

vim.o.termguicolors = true
vim.o.laststatus = 2

local steps = {
  {
    "This is a scratch project, and the model is scripted.",
    "Ask the agent to change it. Press <F2> to have this typed:",
    "",
    "  :Agent " .. request,
  },
  {
    "The answer streams in; the lines that turn, and those with ✓, are tools.",
    "src/greet.ts behind the chat follows the file.",
  },
  {
    ".env is sensitive, so the agent asks. Below is the change.",
    "  a  allow once     s  allow for this session",
    "  r  reject         R  reject with a reason",
    "(<Tab> in the chat goes to the question.)",
  },
  {
    "The turn is over. Go on in the same chat:",
    "press <F2> to have this typed, then <CR> in normal mode:",
    "",
    "  What about the README?",
    "",
    "Or press q and look at the files: ]r goes to the next hunk,",
    "grk keeps it, gru takes it back; :Agent undo the whole turn.",
  },
  {
    "That was the main job. g? in the chat shows its keys.",
    ":checkhealth agent shows what the engine may do.",
    "Quit with :qa!",
  },
}

local step = 1
local buffer = vim.api.nvim_create_buf(false, true)
local window

local function place()
  local width = 62
  return {
    relative = "editor",
    anchor = "NE",
    row = 0,
    col = vim.o.columns,
    width = math.min(width, vim.o.columns - 2),
    height = #steps[step],
    border = "single",
    style = "minimal",
    focusable = false,
    zindex = 200,
    title = (" Try it: step %d of %d "):format(step, #steps),
  }
end

local function show()
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, steps[step])
  if window and vim.api.nvim_win_is_valid(window) then
    vim.api.nvim_win_set_config(window, place())
  else
    window = vim.api.nvim_open_win(buffer, false, place())
  end
end

---@param number integer
local function advance(number)
  if number > step then
    step = number
    show()
  end
end

local function on(event, run)
  vim.api.nvim_create_autocmd("User", { pattern = event, callback = run })
end

local turns = 0
on("AgentTurnStart", function()
  advance(2)
end)
on("AgentApprovalRequested", function()
  advance(3)
end)
on("AgentTurnDone", function()
  turns = turns + 1
  advance(turns == 1 and 4 or 5)
end)

vim.keymap.set({ "n", "i" }, "<F2>", function()
  if step == 1 then
    vim.api.nvim_input("<Esc>:Agent " .. request .. "<CR>")
  elseif step == 4 then
    require("agent").open()
    vim.api.nvim_input("<Esc>ccWhat about the README?<Esc>")
  end
end)

vim.api.nvim_create_autocmd("VimEnter", { callback = vim.schedule_wrap(show) })
vim.api.nvim_create_autocmd("VimResized", { callback = show })
