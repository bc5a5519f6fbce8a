/** The project of the pictures: a small plugin that keeps a list of things to do. */

export const STORE = `-- Keeps the list in a file, one item on a line.
local M = {}

---@class todo.Item
---@field text string
---@field done boolean

---@param path string
---@return todo.Item[]
function M.load(path)
  local items = {}
  for line in io.lines(path) do
    local mark, text = line:match("^%[(.)%] (.*)$")
    table.insert(items, { text = text, done = mark == "x" })
  end
  return items
end

---@param path string
---@param items todo.Item[]
function M.save(path, items)
  local file = assert(io.open(path, "w"))
  for _, item in ipairs(items) do
    file:write(("[%s] %s\\n"):format(item.done and "x" or " ", item.text))
  end
  file:close()
end

return M
`;

const INIT = `local store = require("todo.store")

local M = {}

M.path = vim.fs.joinpath(vim.fn.stdpath("data"), "todo.txt")

function M.add(text)
  local items = store.load(M.path)
  table.insert(items, { text = text, done = false })
  store.save(M.path, items)
end

return M
`;

const WORKFLOW = `name: ci
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
      - run: make test
`;

const BUILD = `
echo 'return "1.4.0"' > lua/todo/version.lua
for name in add done list remove; do echo "todo-$name"; done > doc/tags.txt
echo 'layout lua' > .envrc
`;

/** Path → text. */
export const TODO_PROJECT: Readonly<Record<string, string>> = {
  ".github/workflows/ci.yml": WORKFLOW,
  "README.md": "# todo.nvim\n\nKeeps your list.\n",
  "build.sh": BUILD,
  "doc/tags.txt": "todo-add\n",
  "lua/todo/init.lua": INIT,
  "lua/todo/store.lua": STORE,
  "lua/todo/version.lua": 'return "1.3.9"\n',
};
