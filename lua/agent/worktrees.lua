-- Worktrees of the project, each with a tab page and chats of its own.
local client = require("agent.client")
local format = require("agent.ui.format")
local projects = require("agent.projects")
local say = require("agent.ui.say")

local M = {}

---@class agent.Worktree see protocol/worktrees.ts
---@field name string
---@field path string
---@field branch? string
---@field files integer    that differ
---@field ignored integer  other untracked files
---@field size integer     bytes of both
---@field commits integer  of its own

--- Tab pages by folder.
---@type table<string, integer>
local tabs = {}
--- Set when the first one opens.
local the_chats

---@param bytes integer
---@return string
local function size_of(bytes)
  if bytes < 1000 then
    return format.plural(bytes, "byte")
  elseif bytes < 999500 then
    return ("%.0f kB"):format(bytes / 1000)
  end
  return ("%.1f MB"):format(bytes / 1000000)
end

--- "2 files differ, 310 ignored files (12.0 MB), 1 commit"
---@param tree { files: integer, ignored: integer, size: integer, commits: integer }
---@return string
local function state_of(tree)
  local parts = {} ---@type string[]
  if tree.files > 0 then
    table.insert(parts, format.plural(tree.files, "file") .. (tree.files == 1 and " differs" or " differ"))
  end
  if tree.ignored > 0 then
    table.insert(parts, format.plural(tree.ignored, "ignored file"))
  end
  if #parts > 0 then
    parts[#parts] = ("%s (%s)"):format(parts[#parts], size_of(tree.size))
  end
  if tree.commits > 0 then
    table.insert(parts, format.plural(tree.commits, "commit"))
  end
  return #parts > 0 and table.concat(parts, ", ") or "nothing differs"
end

---@param asker agent.Chat
---@param task table see `worktree` in protocol/ui.ts
---@param place table
---@param done fun(result: table)
---@param failed? fun(problem: string)
local function ask(asker, task, place, done, failed)
  local action = { type = "worktree", chat = asker.id }
  client.ask(vim.tbl_extend("error", action, task, place), function(update, problem)
    local result = update and update.result
    if result then
      return done(result)
    end
    (failed or say.error)(problem or update and update.error or "")
  end)
end

---@param path string
---@return integer[] buffers loaded from there
local function buffers_of(path)
  return vim.tbl_filter(function(buffer)
    return vim.api.nvim_buf_is_loaded(buffer) and vim.startswith(vim.api.nvim_buf_get_name(buffer), path .. "/")
  end, vim.api.nvim_list_bufs())
end

--- True if there is unsaved text, which is reported.
---@param path string
---@param quiet? boolean
---@return boolean
local function has_unsaved(path, quiet)
  local unsaved = vim.tbl_filter(function(buffer)
    return vim.bo[buffer].modified
  end, buffers_of(path))
  if #unsaved > 0 and not quiet then
    local name = vim.api.nvim_buf_get_name(unsaved[1]):sub(#path + 2)
    say.error(("%s of the worktree is not saved: write it first"):format(name))
  end
  return #unsaved > 0
end

--- Goes to the tab page of a worktree, if it has one.
---@param path? string
---@return boolean
function M.go(path)
  local tab = path and tabs[path]
  if tab and vim.api.nvim_tabpage_is_valid(tab) then
    vim.api.nvim_set_current_tabpage(tab)
    return true
  end
  return false
end

---@param chats table
---@param path string
---@return agent.Chat[]
local function chats_of(chats, path)
  return vim.tbl_filter(function(chat)
    return chat.timeline.root == path
  end, chats.list())
end

--- Closes the chats of a worktree that may be removed: they accept nothing until that is known.
---@param chats table
---@param path string
---@return fun() stay
local function close_chats(chats, path)
  local closing = chats_of(chats, path)
  for _, chat in ipairs(closing) do
    chat:apply({ { type = "closing" } })
  end
  return function()
    for _, chat in ipairs(closing) do
      if not chat.is_closed then
        chat:apply({ { type = "not_closing" } })
      end
    end
  end
end

--- Called after the tab page has closed: removes the worktree if nothing differs in it.
---@param chats table
---@param path string
local function closed(chats, path)
  local name = vim.fs.basename(path)
  local is_busy = vim.iter(chats_of(chats, path)):any(function(chat)
    return chat.phases:current() ~= "ready"
  end)
  local is_visible = vim.iter(buffers_of(path)):any(function(buffer)
    return #vim.fn.win_findbuf(buffer) > 0
  end)
  if is_busy then
    return say.info(("the turn in the worktree %s continues"):format(name))
  elseif is_visible or has_unsaved(path, true) then
    return
  end
  local stay = close_chats(chats, path)
  ask(chats.get(), { task = "remove", name = name }, { root = path }, function(result)
    stay()
    if result.removed then
      M.forget(chats, path, result.origin)
      return say.info(("removed the worktree %s: nothing differed in it"):format(name))
    end
    local task = result.files > 0 and "merge" or "remove"
    say.info(say.fitting({
      ("the worktree %s stays, %s: :Agent worktree %s %s"):format(name, state_of(result), task, name),
      ("the worktree %s stays, %s"):format(name, state_of(result)),
      ("the worktree %s stays"):format(name),
    }))
  end, stay)
end

--- Neovim prints the new folder if a key was just typed, and may then wait for a key.
---@param command "cd"|"tcd"
---@param folder string
local function change_folder(command, folder)
  vim.cmd[command]({ vim.fn.fnameescape(folder), mods = { silent = true } })
end

--- Goes to the tab page of a worktree, made if needed, and to the same file in it.
---@param chats table
---@param tree { path: string, origin: string }
---@param here integer the window with that file
local function enter(chats, tree, here)
  if M.go(tree.path) then
    return
  end
  local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(here))
  local line = vim.api.nvim_win_get_cursor(here)
  local relative = vim.fs.relpath(tree.origin, vim.uv.fs_realpath(name) or name)
  local file = relative and vim.fs.joinpath(tree.path, relative)
  vim.cmd.tabnew()
  change_folder("tcd", tree.path)
  tabs[tree.path], the_chats = vim.api.nvim_get_current_tabpage(), chats
  if file and vim.fn.filereadable(file) == 1 then
    vim.cmd.edit(vim.fn.fnameescape(file))
    pcall(vim.api.nvim_win_set_cursor, 0, line)
  end
end

--- Moves the chat that the user types in to the tab page of its worktree.
---@param chats table
---@param chat agent.Chat
---@param tree { name: string, path: string, origin: string }
---@param leave fun() shows the hidden chat again
local function take_along(chats, chat, tree, leave)
  local mode = vim.api.nvim_get_mode().mode:sub(1, 1)
  local is_in_it = chat:is_open() and vim.api.nvim_get_current_win() == chat.windows.input
  if not is_in_it or mode ~= "i" and mode ~= "n" then
    return say.info(("the worktree %s is ready: :Agent worktree goes there"):format(tree.name))
  end
  local cursor, here = vim.api.nvim_win_get_cursor(0), chat:back()
  chat:close_windows()
  leave()
  enter(chats, tree, here)
  chats.switch(chat)
  chat:open()
  vim.api.nvim_win_set_cursor(0, cursor)
  if mode == "i" then
    local is_at_end = cursor[2] >= #vim.api.nvim_get_current_line()
    vim.cmd(is_at_end and "startinsert!" or "startinsert")
  end
end

---@param made table see protocol/worktrees.ts
---@return string
local function description(made)
  local parts = { ("Worktree %s on branch %s, in %s"):format(made.name, made.branch, made.path) }
  if made.uncommitted > 0 then
    table.insert(parts, ("It lacks the uncommitted changes of %s"):format(format.plural(made.uncommitted, "file")))
  end
  if #made.filters > 0 and not made.known then
    local names = table.concat(made.filters, ", ")
    table.insert(parts, ("Files that git passes through a filter (%s) are as it stores them"):format(names))
  end
  if #made.submodules > 0 and not made.known then
    table.insert(parts, ("Submodules are empty folders: %s"):format(table.concat(made.submodules, ", ")))
  end
  return table.concat(parts, ". ") .. "."
end

--- Begins a chat in a worktree, made if needed. The chat opens at once, and messages wait.
---@param chats table
---@param name string  "" makes one up
function M.new(chats, name)
  local task = { task = "new", name = name ~= "" and (name:match('^"(.*)"$') or name) or nil }
  local hidden, window = chats.current(), vim.api.nvim_get_current_win()
  hidden = hidden and hidden:is_visible() and hidden or nil
  local stays_normal = chats.stays_normal()
  local chat, opening, before = chats.begin(true)
  local function leave()
    if hidden and not hidden.is_closed then
      hidden:open()
    end
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_set_current_win(window)
    end
  end
  chat:show(nil, stays_normal)
  ask(chat, task, chat:place(), function(made)
    if not chat.phases:is_opening(opening) then
      return say.info(("the worktree %s is ready: :Agent worktree goes there"):format(made.name))
    end
    chats.move(chat, made.path)
    take_along(chats, chat, made, leave)
    chat:apply({ { type = "notice", severity = "info", text = description(made) } })
    chat.phases:end_opening(opening)
  end, function(problem)
    chats.not_opened(chat, opening, problem, before)
  end)
end

---@param chats table
---@param done fun(list: { origin: string, here?: string, worktrees: agent.Worktree[] })
local function list(chats, done)
  ask(chats.get(), { task = "list" }, chats.get():place(), function(result)
    if #result.worktrees == 0 then
      return say.info("no worktrees yet: :Agent new --worktree makes one")
    end
    done(result)
  end)
end

---@param trees agent.Worktree[]
---@param prompt string
---@param done fun(tree: agent.Worktree)
local function select(trees, prompt, done)
  vim.ui.select(trees, {
    prompt = prompt,
    format_item = function(tree)
      return ("%s  %s  %s"):format(tree.name, tree.branch or "no branch", state_of(tree))
    end,
  }, function(tree)
    if tree then
      -- Later: the list may still be on the screen.
      vim.schedule(function()
        done(tree)
      end)
    end
  end)
end

--- Lets the user choose a worktree and goes there.
---@param chats table
function M.choose(chats)
  list(chats, function(found)
    select(found.worktrees, "Worktrees", function(tree)
      if vim.fn.getcmdwintype() ~= "" then
        return say.error("close the command-line window first")
      end
      vim.cmd.stopinsert()
      enter(chats, { path = tree.path, origin = found.origin }, chats.get():back())
      chats.of_project(tree.path):show()
    end)
  end)
end

--- The worktree with this name, of this tab page, the only one, or one that the user chooses.
---@param chats table
---@param name string
---@param prompt string
---@param done fun(tree: agent.Worktree, origin: string)
local function meant(chats, name, prompt, done)
  list(chats, function(found)
    local wanted = name ~= "" and name or found.here
    local tree = vim.iter(found.worktrees):find(function(one)
      return one.name == wanted
    end) or #found.worktrees == 1 and name == "" and found.worktrees[1]
    if tree then
      return done(tree, found.origin)
    elseif name ~= "" then
      return say.error(("no worktree has the name %s: :Agent worktree lists them"):format(name))
    end
    select(found.worktrees, prompt, function(one)
      done(one, found.origin)
    end)
  end)
end

--- Goes to a tab page of the project, if the user is not in one.
---@param origin string
local function go_home(origin)
  local tab = vim.iter(vim.api.nvim_list_tabpages()):find(function(each)
    return projects.here(vim.api.nvim_tabpage_get_win(each)) == origin
  end)
  if projects.here() == origin then
    return
  elseif tab then
    return vim.api.nvim_set_current_tabpage(tab)
  end
  vim.cmd.tabnew()
  change_folder("tcd", origin)
end

--- Writes the differences of a worktree into the project, by a turn of the project's chat without a model.
---@param chats table
---@param name string
function M.merge(chats, name)
  meant(chats, name, "Merge", function(tree, origin)
    if has_unsaved(tree.path) then
      return
    elseif tree.files == 0 then
      return say.info(("nothing differs in the worktree %s"):format(tree.name))
    end
    go_home(origin)
    local chat = chats.of_project(origin)
    chat:open()
    chat.phases:act("send", function(opened)
      opened:prompt({ text = ("Merge the worktree %s"):format(tree.name), merge = tree.name })
    end, "/worktree merge " .. tree.name)
  end)
end

--- Closes all windows and buffers of a worktree.
---@param chats table
---@param path string
---@param origin string where Neovim goes if it was there
function M.forget(chats, path, origin)
  local tab = tabs[path]
  tabs[path] = nil
  for _, chat in ipairs(chats_of(chats, path)) do
    chats.close(chat, origin)
  end
  if tab and vim.api.nvim_tabpage_is_valid(tab) then
    if #vim.api.nvim_list_tabpages() > 1 then
      vim.cmd.tabclose(vim.api.nvim_tabpage_get_number(tab))
    else
      change_folder("tcd", origin)
    end
  end
  if vim.startswith(vim.fn.getcwd(-1, -1) .. "/", path .. "/") then
    change_folder("cd", origin)
  end
  for _, buffer in ipairs(buffers_of(path)) do
    if not vim.bo[buffer].modified then
      pcall(vim.api.nvim_buf_delete, buffer, {})
    end
  end
end

--- Removes a worktree. Asks first if work would be lost.
---@param chats table
---@param name string
function M.remove(chats, name)
  meant(chats, name, "Remove", function(tree, origin)
    if has_unsaved(tree.path) then
      return
    end
    local place = { root = origin }
    ---@param consent? string the list of files that the user agreed to lose
    local function remove(consent)
      local stay = close_chats(chats, tree.path)
      ask(chats.get(), { task = "remove", name = tree.name, consent = consent }, place, function(result)
        stay()
        if result.removed then
          M.forget(chats, tree.path, origin)
          local stays = result.branch and ("; its branch %s stays"):format(result.branch) or ""
          return say.info(("removed the worktree %s%s"):format(tree.name, stays))
        end
        vim.ui.select({ "Keep it", "Remove it; these files are lost" }, {
          prompt = ("The worktree %s: %s"):format(tree.name, state_of(result)),
        }, function(_, choice)
          -- The user may have typed meanwhile.
          if choice == 2 and not has_unsaved(tree.path) then
            remove(result.listing)
          end
        end)
      end, function(problem)
        stay()
        say.error(problem)
      end)
    end
    remove()
  end)
end

vim.api.nvim_create_autocmd("TabClosed", {
  group = vim.api.nvim_create_augroup("agent.worktrees", {}),
  callback = vim.schedule_wrap(function()
    for path, tab in pairs(tabs) do
      if not vim.api.nvim_tabpage_is_valid(tab) then
        tabs[path] = nil
        closed(the_chats, path)
      end
    end
  end),
})

return M
