-- Where the part that Deno runs is: beside this one, or where the runtimepath has it, as in a rock of LuaRocks.
local BESIDE = "../../../denops/agent"

---@return string folder of main.ts and standalone.ts
return function()
  local here = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p"))
  local beside = vim.fs.normalize(vim.fs.joinpath(here, BESIDE))
  if vim.uv.fs_stat(beside) then
    return beside
  end
  local main = vim.api.nvim_get_runtime_file("denops/agent/main.ts", false)[1]
  return main and vim.fs.dirname(main) or beside
end
