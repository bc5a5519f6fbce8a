-- Worktrees of the project, each with a tab page and chats of its own. The chats are given by init.lua.
local client = require("agent.client")
local projects = require("agent.projects")
local say = require("agent.say")

local M = {}

---@class agent.Worktree see protocol/worktrees.ts
---@field name string
---@field path string
---@field branch? string
---@field files integer    that differ
---@field ignored integer  other files that git does not track
---@field size integer     bytes of both
---@field commits integer  of its own

--- Tab pages by folder.
---@type table<string, integer>
local tabs = {}
--- As they were given when one was opened.
local the_chats

---@param count integer
---@param what string
---@return string
local function some(count, what)
  return ("%d %s%s"):format(count, what, count == 1 and "" or "s")
end

---@param bytes integer
---@return string
local function size_of(bytes)
  if bytes < 1000 then
    return some(bytes, "byte")
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
    table.insert(parts, some(tree.files, "file") .. (tree.files == 1 and " differs" or " differ"))
  end
  if tree.ignored > 0 then
    table.insert(parts, some(tree.ignored, "ignored file"))
  end
  if #parts > 0 then
    parts[#parts] = ("%s (%s)"):format(parts[#parts], size_of(tree.size))
  end
  if tree.commits > 0 then
    table.insert(parts, some(tree.commits, "commit"))
  end
  return #parts > 0 and table.concat(parts, ", ") or "nothing differs"
end

---@param chats table
---@param task table see `worktree` in protocol/ui.ts
---@param place table
---@param done fun(result: table)
---@param failed? fun(problem: string)
local function ask(chats, task, place, done, failed)
  local action = { type = "worktree", chat = chats.get().id }
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

--- Whether there is text that is saved nowhere; says so unless told.
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

--- What the closing of the tab page leaves: a worktree in which nothing differs goes too.
---@param chats table
---@param path string
local function closed(chats, path)
  local name = vim.fs.basename(path)
  local is_busy = vim.iter(chats.list()):any(function(chat)
    return chat.timeline.root == path and chat.timeline.state ~= "idle"
  end)
  local is_shown = vim.iter(buffers_of(path)):any(function(buffer)
    return #vim.fn.win_findbuf(buffer) > 0
  end)
  if is_busy then
    return say.info(("the turn in the worktree %s goes on"):format(name))
  elseif is_shown or has_unsaved(path, true) then
    return
  end
  ask(chats, { task = "remove", name = name }, { root = path }, function(result)
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
  end, function() end)
end

--- Goes to a worktree, in a tab page of its own, and there to the file that was being looked at.
---@param chats table
---@param tree { path: string, origin: string }
---@param open fun(chat: agent.Chat)
local function enter(chats, tree, open)
  if vim.fn.getcmdwintype() ~= "" then
    return say.error("close the command-line window first")
  end
  if not M.go(tree.path) then
    local here = chats.get():back()
    local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(here))
    local line = vim.api.nvim_win_get_cursor(here)
    local relative = vim.fs.relpath(tree.origin, vim.uv.fs_realpath(name) or name)
    local file = relative and vim.fs.joinpath(tree.path, relative)
    vim.cmd.stopinsert()
    vim.cmd.tabnew()
    vim.cmd.tcd(vim.fn.fnameescape(tree.path))
    tabs[tree.path], the_chats = vim.api.nvim_get_current_tabpage(), chats
    if file and vim.fn.filereadable(file) == 1 then
      vim.cmd.edit(vim.fn.fnameescape(file))
      pcall(vim.api.nvim_win_set_cursor, 0, line)
    end
  end
  open(chats.of_project(tree.path))
end

--- Begins a chat in a new worktree, or in the one of this name.
---@param chats table
---@param name string  "" makes one up
---@param open fun(chat: agent.Chat)
function M.new(chats, name, open)
  local task = { task = "new", name = name ~= "" and (name:match('^"(.*)"$') or name) or nil }
  say.info("making a worktree …")
  ask(chats, task, chats.get():place(), function(made)
    local parts = { ("Worktree %s on branch %s, in %s"):format(made.name, made.branch, made.path) }
    if made.uncommitted > 0 then
      table.insert(parts, ("%s with changes that are in no commit %s not in it"):format(
        some(made.uncommitted, "file"),
        made.uncommitted == 1 and "is" or "are"
      ))
    end
    if #made.filters > 0 and not made.known then
      local names = table.concat(made.filters, ", ")
      table.insert(parts, ("Files that git passes through a filter (%s) are as it stores them"):format(names))
    end
    if #made.submodules > 0 and not made.known then
      table.insert(parts, ("Submodules are empty folders: %s"):format(table.concat(made.submodules, ", ")))
    end
    enter(chats, made, function(chat)
      chat = chat:is_blank() and chat or chats.new()
      chat:apply({ { type = "notice", severity = "info", text = table.concat(parts, ". ") .. "." } })
      open(chat)
    end)
    -- What was said of the making is over.
    vim.cmd.echo("''")
  end)
end

---@param chats table
---@param done fun(list: { origin: string, here?: string, worktrees: agent.Worktree[] })
local function list(chats, done)
  ask(chats, { task = "list" }, chats.get():place(), function(result)
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
      -- Later: the list may be on the screen still.
      vim.schedule(function()
        done(tree)
      end)
    end
  end)
end

--- Goes to a worktree that the user chooses.
---@param chats table
---@param open fun(chat: agent.Chat)
function M.choose(chats, open)
  list(chats, function(found)
    select(found.worktrees, "Worktrees", function(tree)
      enter(chats, { path = tree.path, origin = found.origin }, open)
    end)
  end)
end

--- The worktree that is meant: of this name, the one of this tab page, the only one, else one that the user chooses.
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

--- To a tab page of the project, if the user is not in one.
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
  vim.cmd.tcd(vim.fn.fnameescape(origin))
end

--- Writes what differs in a worktree into the project: a turn of the project's chat, without a model.
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
    local text = ("Merge the worktree %s"):format(tree.name)
    chat:apply({ { type = "submitted", text = text } })
    chat:follow_all()
    local action = { type = "prompt", chat = chat.id, text = text, session = chat.timeline.session, merge = tree.name }
    client.send(vim.tbl_extend("error", action, chat:place()))
  end)
end

--- Nothing of a worktree is left on the screen.
---@param chats table
---@param path string
---@param origin string where Neovim goes, if it was there
function M.forget(chats, path, origin)
  local tab = tabs[path]
  tabs[path] = nil
  for _, chat in ipairs(chats.list()) do
    if chat.timeline.root == path then
      chats.close(chat)
    end
  end
  if tab and vim.api.nvim_tabpage_is_valid(tab) then
    if #vim.api.nvim_list_tabpages() > 1 then
      vim.cmd.tabclose(vim.api.nvim_tabpage_get_number(tab))
    else
      vim.cmd.tcd(vim.fn.fnameescape(origin))
    end
  end
  if vim.startswith(vim.fn.getcwd(-1, -1) .. "/", path .. "/") then
    vim.cmd.cd(vim.fn.fnameescape(origin))
  end
  for _, buffer in ipairs(buffers_of(path)) do
    if not vim.bo[buffer].modified then
      pcall(vim.api.nvim_buf_delete, buffer, {})
    end
  end
end

--- Removes a worktree; asks first if something of it is nowhere else.
---@param chats table
---@param name string
function M.remove(chats, name)
  meant(chats, name, "Remove", function(tree, origin)
    if has_unsaved(tree.path) then
      return
    end
    local place = { root = origin }
    ---@param consent? string the listing of the files that the user agreed to lose
    local function remove(consent)
      ask(chats, { task = "remove", name = tree.name, consent = consent }, place, function(result)
        if result.removed then
          M.forget(chats, tree.path, origin)
          local stays = result.branch and ("; its branch %s stays"):format(result.branch) or ""
          return say.info(("removed the worktree %s%s"):format(tree.name, stays))
        end
        vim.ui.select({ "Keep it", "Remove it; these files are lost" }, {
          prompt = ("The worktree %s: %s"):format(tree.name, state_of(result)),
        }, function(_, choice)
          -- Something may have been typed meanwhile.
          if choice == 2 and not has_unsaved(tree.path) then
            remove(result.listing)
          end
        end)
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
