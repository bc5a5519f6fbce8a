/** `:Agent tutor` beside what its user does. All its lessons are played by tests/house/try_test.ts. */
import assert from "node:assert/strict";
import { startAgent } from "../support/agent.ts";
import { folderOf, openTutor, snapshot, waitForNothing } from "../support/tutor.ts";

Deno.test("leaving in the middle, in whatever way, leaves nothing; other tab pages are the user's", async () => {
  await using agent = await startAgent({
    script: "wait go\nsay Hello to you too.",
    files: ["src/greet.ts"],
    options: `ui = { layout = "tab" }`,
    columns: 40,
    lines: 15,
  });
  const { nvim, project, server } = agent;
  // A turn of the user's runs all the time.
  await nvim.keys(":Agent! hello<CR>");
  await server.nextRequest();
  await nvim.waitFor(`require("agent.chat").current().timeline.state == "working"`);
  const before = await snapshot(nvim);

  const ways: readonly (readonly [way: string, keys: string, screen: string | RegExp, then: string])[] = [
    [
      ":q in the lesson",
      ":Agent what is it?<CR>",
      "Agent ─",
      "<Esc>:call win_gotoid(win_getid(1))<CR>:q<CR>",
    ],
    [
      ":bd of the lesson",
      ":Agent keep my token<CR>",
      "Agent ─",
      "<Esc>:call win_gotoid(win_getid(1))<CR>:bd<CR>",
    ],
    [
      ":tabclose",
      ":Agent tutor next<CR>:Agent tutor next<CR>:Agent sort the guests<CR>",
      // The approval covers neither the lesson nor the input.
      /tutor quit *\n╭ Changes ([^\n]*\n│)+[^\n]*\n╰[^\n]*╯\n╭[^\n]*╮\n│ Queue a message *│\n╰/,
      "<Esc>:tabclose<CR>",
    ],
  ];
  for (const [way, keys, screen, then] of ways) {
    await openTutor(nvim);
    const folder = await folderOf(nvim);
    await nvim.keys(keys);
    await nvim.waitForScreen(screen);
    await nvim.waitForScreen("Lesson");
    await nvim.keys(then);
    await nvim.waitFor("#vim.api.nvim_list_tabpages() == 1");
    await nvim.waitFor("vim.fn.bufexists('agent://tutor') == 0");
    assert.deepEqual(await snapshot(nvim), before, way);
    await waitForNothing(folder);
  }

  // A file of the user's that was opened from there stays, in a folder that is there.
  await openTutor(nvim);
  const earlier = await folderOf(nvim);
  await nvim.keys(`:tabnew ${project.path("README.md")}<CR>:Agent tutor quit<CR>`);
  await waitForNothing(earlier);
  assert.equal(await nvim.lua("return vim.fn.getcwd()"), project.root);
  await nvim.keys(":bwipeout<CR>");
  assert.deepEqual(await snapshot(nvim), before);

  // All texts fit the smallest screen.
  const cut = await nvim.lua(`
    local lessons, page, cut = require("agent.tutor.lessons"), require("agent.tutor.page").open(), {}
    local steps = vim.iter(lessons.list):map(function(lesson) return lesson.steps end):flatten(1):totable()
    for _, step in ipairs(vim.list_extend({ { text = lessons.ending } }, steps)) do
      page:show("", { text = step.text:gsub("{%l+}", "grk"), note = step.note })
      local rows = vim.api.nvim_win_text_height(page.window, {}).all
      table.insert(cut, rows > vim.api.nvim_win_get_height(page.window) - 1 and step.text or nil)
    end
    vim.api.nvim_win_close(page.window, true)
    return cut`);
  assert.deepEqual(cut, []);

  // The end is readable, and no text can be typed into a chat by mistake.
  await openTutor(nvim);
  const last = await folderOf(nvim);
  for (let lesson = 2; lesson <= 7; lesson++) await nvim.keys(":Agent tutor next<CR>");
  await nvim.waitForScreen(/Lesson 7[^\n]*\n:Agent {2}opens the chat\./);
  await nvim.keys(":Agent tutor next<CR>");
  await nvim.waitForScreen(
    /:Agent tutor quit {2}closes the tutor\. *\nIn your project: {2}:Agent {2}:help agent/,
  );
  await nvim.waitFor(`vim.fn.bufname() == "agent://tutor" and vim.fn.mode() == "n"`);
  await nvim.keys(":Agent tutor quit<CR>");
  await waitForNothing(last);

  // On another tab page all is the user's.
  await openTutor(nvim);
  const folder = await folderOf(nvim);
  await nvim.keys("gt:Agent<CR>");
  await nvim.waitForScreen("hello");
  server.release("go");
  await nvim.waitForScreen("Hello to you too.");
  assert.equal(server.requests.length, 1);
  // Nor does a message of the tutor's come back.
  await nvim.keys("<C-p>");
  assert.equal(await nvim.lua(`return require("agent.chat").current().input:text()`), "hello");
  await nvim.quit();
  await waitForNothing(folder);
});
