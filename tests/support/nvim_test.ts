import assert from "node:assert/strict";
import { dirname } from "node:path";
import { ChildNvim, NvimError } from "./nvim.ts";
import { scratch } from "./project.ts";

/** Milliseconds: a busy Neovim answers once in that time. */
const SOON = 2_000;

Deno.test("starts with a screen of 80 × 24 and nothing of the user's", async () => {
  await using nvim = await ChildNvim.start({ lua: "vim.g.started = vim.v.vim_did_enter" });
  assert.equal(nvim.screen().length, 24);
  assert.ok(nvim.screen().every((row) => row.length === 80));
  assert.match(nvim.text(), /NVIM v/);
  assert.deepEqual(nvim.cursor(), { row: 0, column: 0 });
  assert.equal(await nvim.lua("return vim.g.started .. vim.v.vim_did_enter"), "01");
  assert.equal(await nvim.lua("return vim.fn.getpid()"), nvim.pid);
  const home = dirname(await nvim.lua<string>("return vim.env.HOME"));
  assert.notEqual(home, dirname(Deno.env.get("HOME") ?? ""));
  const paths = await nvim.lua<string[]>(`
    local paths = vim.tbl_map(vim.fn.stdpath, { 'config', 'data', 'state', 'cache', 'run', 'log' })
    return vim.list_extend(paths, { vim.fn.tempname(), vim.v.servername, vim.fn.getcwd() })`);
  for (const path of paths) assert.ok(path.startsWith(`${home}/`), path);
  assert.equal(nvim.stderr(), "");
});

Deno.test("plugins are sourced from 'runtimepath' after init.lua, before VimEnter", async () => {
  await using plugin = await scratch({
    "plugin/mine.lua": "vim.g.order = vim.g.order .. 'plugin '",
    "lua/mine.lua": "return { answer = 42 }",
  });
  const lua = `vim.g.order = 'init '
    vim.api.nvim_create_autocmd('VimEnter', { callback = function()
      vim.g.order = vim.g.order .. 'enter'
    end })`;
  await using nvim = await ChildNvim.start({ lua, runtime: [plugin.root] });
  assert.equal(await nvim.lua("return vim.g.order"), "init plugin enter");
  assert.equal(await nvim.lua("return require('mine').answer"), 42);
});

Deno.test("files, folder, environment and size are those given", async () => {
  await using folder = await scratch({ "a b.txt": "first file\n", "-c.txt": "second file\n" });
  await using nvim = await ChildNvim.start({
    columns: 50,
    lines: 10,
    cwd: folder.root,
    files: ["a b.txt", "-c.txt"],
    env: { GREETING: "hello" },
    clearEnv: true,
  });
  assert.match(nvim.text(), /^first file\n/);
  assert.deepEqual([nvim.screen().length, nvim.screen()[0]?.length], [10, 50]);
  assert.equal(await nvim.lua("return vim.env.GREETING"), "hello");
  assert.equal(await nvim.lua("return vim.uv.cwd()"), folder.root);
  await nvim.command("next");
  await nvim.waitForScreen("second file");
});

Deno.test("keys are typed, and the cursor and the mode follow", async () => {
  await using nvim = await ChildNvim.start({});
  await nvim.keys("ione<CR>a <lt>CR><Esc>");
  assert.equal(await nvim.lua("return vim.fn.mode()"), "n");
  assert.deepEqual(await nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)"), ["one", "a <CR>"]);
  await nvim.waitForScreen(/^one\na <CR>\n~/);
  assert.deepEqual(nvim.cursor(), { row: 1, column: 5 });
  await nvim.keys("gg0f");
  await nvim.keys("e");
  await nvim.waitForScreen(() => nvim.cursor().row === 0 && nvim.cursor().column === 2);
  await assert.rejects(nvim.keys(`i${"x".repeat(20_000)}`), /Cannot type so much/);
});

Deno.test("wide characters and emoji stand where they belong", async () => {
  await using nvim = await ChildNvim.start({});
  const text = "漢字 👩‍💻 é 한 ok";
  await nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { ... })", text);
  await nvim.waitForScreen(`${text}\n`);
  const columns = await nvim.lua("return vim.fn.strdisplaywidth('漢字 👩‍💻 é 한 ')");
  assert.deepEqual(nvim.locate("ok"), { row: 0, column: columns });
  await nvim.keys("$");
  await nvim.waitForScreen(() => nvim.cursor().column === Number(columns) + 1);
});

Deno.test("a screen that was scrolled equals the same screen drawn at once", async () => {
  await using nvim = await ChildNvim.start({ lines: 20, columns: 60 });
  await nvim.lua(
    "vim.api.nvim_buf_set_lines(0, 0, -1, true, vim.fn.map(vim.fn.range(1, 300), '\"line \" .. v:val'))",
  );
  await nvim.command("vsplit | wincmd l | split | set scrolloff=0 | wincmd h");
  for (
    const keys of ["5<C-e>", "<C-d>", "<C-u>", "3<C-y>", "<C-w>l7<C-e>", "2<C-y>", "3dd", "u", "G", "10k"]
  ) {
    await nvim.keys(keys);
    await nvim.command("redraw");
    // But for the last row, where the messages are.
    const scrolled = nvim.screen().slice(0, -1);
    // Not :redraw!, which sends only cells that differ from what Neovim believes to be shown.
    await nvim.command("mode");
    assert.deepEqual(nvim.screen().slice(0, -1), scrolled, keys);
  }
});

Deno.test("floats with borders lie over the text and leave it whole", async () => {
  await using nvim = await ChildNvim.start({ columns: 40, lines: 8 });
  await nvim.lua(
    "vim.api.nvim_buf_set_lines(0, 0, -1, true, { ('漢'):rep(15), ('b'):rep(30), ('c'):rep(30) })",
  );
  await nvim.lua(`
    local buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_lines(buffer, 0, -1, true, { 'float' })
    vim.api.nvim_open_win(buffer, false, {
      relative = 'editor', row = 0, col = 3, width = 7, height = 1, border = 'rounded', title = 'T',
    })`);
  await nvim.waitForScreen("│float  │");
  const rows = nvim.screen().map((row) => row.trimEnd());
  assert.deepEqual(rows.slice(0, 3), [
    `漢 ╭T──────╮${"漢".repeat(9)}`,
    `bbb│float  │${"b".repeat(18)}`,
    `ccc╰───────╯${"c".repeat(18)}`,
  ]);
  await nvim.command("fclose");
  await nvim.waitForScreenGone("float");
  assert.equal(nvim.screen()[0]?.trimEnd(), "漢".repeat(15));
});

Deno.test("a new size is on the screen when resize resolves", async () => {
  await using nvim = await ChildNvim.start({});
  await nvim.resize(100, 30);
  assert.deepEqual([nvim.screen().length, nvim.screen()[0]?.length], [30, 100]);
  assert.equal(await nvim.lua("return vim.o.columns .. 'x' .. vim.o.lines"), "100x30");
  await nvim.resize(40, 10);
  await nvim.waitForScreen((text) => text.split("\n").length === 10);
});

Deno.test("colours follow the highlight groups and the background", async () => {
  await using nvim = await ChildNvim.start({ lua: "vim.o.statusline = 'status'" });
  await nvim.lua(`
    vim.api.nvim_set_hl(0, 'Normal', { fg = '#102030', bg = '#f0f0f0' })
    vim.api.nvim_set_hl(0, 'StatusLine', { fg = '#111111', bg = '#222222', bold = true, reverse = true })`);
  await nvim.command("redraw");
  const style = nvim.highlightAt(22, 0);
  assert.deepEqual([style.fg, style.bg, style.bold], ["#222222", "#111111", true]);
  assert.deepEqual([nvim.highlightAt(0, 0).fg, nvim.highlightAt(0, 0).bg], ["#102030", "#f0f0f0"]);
});

Deno.test("each paint counts the rows that changed", async () => {
  await using nvim = await ChildNvim.start({ lua: "vim.o.laststatus = 0 vim.o.ruler = false" });
  // The first key takes the welcome off the screen.
  await nvim.keys("ione<CR>");
  await nvim.waitForScreen(/^one\n\n~\n[^]*-- INSERT --/);
  const before = nvim.paints.length;
  const start = performance.now();
  await nvim.keys("x");
  await nvim.waitForScreen(/^one\nx\n/);
  const paints = nvim.paints.slice(before);
  assert.ok(paints.some(({ at, rows }) => rows === 1 && at >= start && at <= performance.now()));
});

Deno.test("lua gives values of every kind and throws Neovim's errors", async () => {
  await using nvim = await ChildNvim.start({});
  const value = await nvim.lua("return { list = { 1, 2.5, 'three' }, yes = true, given = { ... } }", "a", [
    1,
  ]);
  assert.deepEqual(value, { list: [1, 2.5, "three"], yes: true, given: ["a", [1]] });
  assert.equal(await nvim.lua("return nil"), undefined);
  assert.equal(await nvim.request("nvim_get_current_buf"), 1);
  const thrown = (pattern: RegExp) => (error: unknown) =>
    error instanceof NvimError && pattern.test(error.message);
  await assert.rejects(nvim.lua("error('boom')"), thrown(/boom/));
  await assert.rejects(nvim.command("nonsense"), thrown(/E492/));
  await assert.rejects(nvim.request("nvim_no_such"), thrown(/nvim_no_such/));
});

Deno.test("waitFor polls a Lua expression, also while it cannot be evaluated", async () => {
  await using nvim = await ChildNvim.start({});
  await nvim.lua("vim.defer_fn(function() vim.g.later = { n = 7 } end, 30)");
  assert.equal(await nvim.waitFor("vim.g.later.n"), 7);
  await assert.rejects(
    nvim.waitFor("1 > 2", { timeout: SOON }),
    /Waited 2000 ms for 1 > 2; it was false\.\n.*mode n/,
  );
  await assert.rejects(nvim.waitFor("nothing.x", { timeout: SOON }), /attempt to index global 'nothing'/);
});
