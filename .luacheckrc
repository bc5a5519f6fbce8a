std = "luajit"
globals = { "vim" }
max_line_length = 125
self = false
codes = true
-- Cases with Lua inside of strings for the child that they drive.
files["tests/reload"] = { max_line_length = false, ignore = { "1", "2", "5" } }
