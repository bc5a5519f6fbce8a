/** Two projects in one Neovim: each message goes to the project that the user is in. In a real Neovim. */
import assert from "node:assert/strict";
import { GREET } from "../support/agent.ts";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import { scratch } from "../support/project.ts";
import { sharedAgent } from "../support/shared_agent.ts";
import { sharedEditor } from "../support/shared_editor.ts";

const FILE = "src/greet.ts";
const EDIT = `call read_file {"path": "${FILE}"}\n---\n` +
  `call edit_file {"path": "${FILE}", "old_str": "Hello", "new_str": "Good evening"}`;

Deno.test("a chat belongs to the project of the window's working folder, and is named by it", async () => {
  await using two = await scratch({ ...GREET, "lib/package.json": "{}", "lib/a.ts": "\n" }, { git: true });
  await using plain = await scratch({ "notes.txt": "\n", "inner/package.json": "{}", "inner/a.ts": "\n" });
  await using agent = await sharedAgent({
    script: `say Hi.\n---\n${EDIT}\n---\nsay Done.\n---\nsay Again.`,
    project: { ...GREET, "sub/package.json": "{}", "sub/a.ts": "\n" },
    options: "sessions = { title = false }, attach = { 'file' }",
    files: [FILE],
    columns: 100,
  });
  const { nvim, project, server } = agent;
  const name = (root: string) => root.slice(root.lastIndexOf("/") + 1);
  const current = (what = "timeline.root") => nvim.lua<string>(`return require("agent.chat").get().${what}`);
  await nvim.command("Agent hello");
  await waitForChat(nvim, "Hi.");
  await waitForTurn(nvim);
  assert.ok(!(await nvim.screen()).includes(`${name(project.root)} ·`), "one project needs no name");
  const first = Number(await current("id"));
  await nvim.keys("<Esc>q");
  const demo = await project.read(FILE);
  await nvim.command(`tabnew | tcd ${two.root} | edit ${FILE}`);
  await nvim.command("Agent make greet say Good evening");
  await waitForChat(nvim, "Done.");
  await waitForTurn(nvim);
  assert.equal(await project.read(FILE), demo, "the other project is as it was");
  assert.match(await two.read(FILE), /Good evening/);
  await nvim.waitForScreen(`${name(two.root)} ·`);
  const sent = JSON.stringify(server.requests.at(-1)?.body);
  assert.ok(sent.includes(two.root) && !sent.includes(project.root));

  // A list names both; the other one opens in this tab page, in the place of this one.
  await nvim.lua(`vim.ui.select = function(items, options, done)
    _G.listed = vim.tbl_map(options.format_item, items)
    done(items[1])
  end`);
  await nvim.keys("<Esc>");
  await nvim.command("Agent chats");
  await nvim.waitForScreen(`${name(project.root)} ·`);
  assert.match(
    (await nvim.lua<string[]>("return _G.listed")).join("\n"),
    new RegExp(
      `chat ${first}  ready  ${name(project.root)}: hello\nchat ${first + 1}  ready  ${
        name(two.root)
      }: make greet`,
    ),
  );
  // A chip for a file of another project would lie: it is not sent.
  assert.ok(!(await nvim.screen()).includes(`${FILE}:`));
  await nvim.keys("<Esc>ithere<Esc><CR>");
  await waitForChat(nvim, "Again.");
  assert.ok(!JSON.stringify(server.requests.at(-1)?.body).includes(two.root));
  await waitForTurn(nvim);
  await nvim.keys("q");
  assert.equal(await current(), two.root, "the folder of the window decides again");

  // What is only looked at moves no tab page.
  for (
    const look of [
      `edit ${project.path("sub/a.ts")}`,
      "help help",
      "terminal",
      "copen",
      "enew!",
      `edit ${two.path("lib/a.ts")}`,
    ]
  ) {
    await nvim.command(look);
    assert.equal(await current(), two.root, look);
  }
  await nvim.command(`only! | lcd ${project.root}`);
  assert.equal(await current("id"), first, "the window's own folder");

  // In a folder that is in no project the file decides, and only once.
  await nvim.command(`tabnew | tcd ${plain.root} | edit inner/a.ts`);
  assert.equal(await current(), plain.path("inner"));
  await nvim.command(`edit ${two.path(FILE)}`);
  assert.equal(await current(), plain.path("inner"));
  await nvim.command(`tabnew | tcd ${plain.root} | edit notes.txt`);
  assert.equal(await current(), plain.root);
  await nvim.command(`tcd ${two.path("src")}`);
  assert.equal(await current(), two.root);
  assert.deepEqual(
    await nvim.lua("return vim.tbl_map(function(chat) return chat.id end, require('agent.chat').list())"),
    [0, 1, 2, 3].map((at) => first + at),
  );
});

Deno.test("without its working folder Neovim says what to do, and a chat closes", async () => {
  await using editor = await sharedEditor();
  const { nvim } = editor;
  await nvim.command("Agent hello");
  await nvim.waitForScreen("❯ hello");
  await nvim.lua(`_G.before = vim.fn.getcwd()
    local gone = vim.fn.tempname()
    vim.fn.mkdir(gone, "p")
    vim.cmd.cd(gone)
    vim.fn.delete(gone, "rf")`);
  await nvim.keys("<Esc>:Agent and more<CR>");
  await nvim.waitForScreen("agent: Neovim's working folder was deleted. Choose another one with :cd");
  assert.equal(await nvim.lua(`return require("agent.projects").place().root`), "");
  await nvim.lua(`local chats = require("agent.chat")
    vim.iter(chats.list()):each(chats.close)
    vim.cmd.cd(_G.before)`);
});
