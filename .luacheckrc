std = "luajit"
globals = { "vim" }
max_line_length = 125
self = false
codes = true
