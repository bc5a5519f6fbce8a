-- What the Neovims of the tests run first (`nvim --cmd "luafile …"`), so that they use less CPU time.

-- LuaJIT changes the protection of its memory twice for each trace that it compiles. In a virtual machine that is half
-- of the CPU time of a Neovim that runs for seconds, so only code that runs very often is compiled.
if jit then
  require("jit.opt").start("hotloop=2000", "hotexit=500")
end
-- A file of Python asks for Neovim's Python, which starts every Python of the machine.
vim.g.loaded_python3_provider = 0
