/** A worktree per session: its own tab page and engine; what differs comes back as hunks to review. In a real Neovim. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import { git, waitUntil } from "../support/project.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const FILE = "src/greet.ts";

Deno.test("a session in a worktree changes nothing here until it is merged, by review; it is removed when clean, asked about when it has files", async () => {
  await using agent = await sharedAgent({
    script:
      `call read_file {"path": "${FILE}"}\n---\ncall edit_file {"path": "${FILE}", "old_str": "Hello", "new_str": "Bye"}\n---\n` +
      `call write_file {"path": "new.txt", "content": "new\\n"}\n---\n` +
      `call run_terminal_command {"command": "pwd; git branch --show-current; ls .git && echo x >> .git"}\n---\nsay Done there.`,
    files: [FILE],
    options: "sessions = { title = false }",
    lines: 30,
  });
  const { nvim, server, project } = agent;
  const root = await Deno.realPath(project.root);
  await nvim.command("Agent new --worktree ../x");
  await nvim.waitForScreen('../x: use letters, digits, ".", "_", "-"');
  await nvim.command("Agent new --worktree fix");
  await waitForChat(nvim, "Worktree fix on branch agent/fix");
  const tree = await nvim.lua<string>("return vim.fn.getcwd()");
  assert.match(tree, /\/worktrees\/[^/]+\/fix$/);
  assert.deepEqual(await nvim.lua("return { #vim.api.nvim_list_tabpages(), vim.fn.getcwd(-1, 1) }"), [
    2,
    root,
  ]);
  assert.equal(await nvim.lua("return vim.fn.bufwinnr(...) > 0", join(tree, FILE)), true, "the same file");
  await nvim.keys("Say bye<C-s>");
  await nvim.waitFor(`require("agent.approval").count() == 1`);
  await nvim.command("Agent approve");
  await waitForTurn(nvim);
  await waitForChat(nvim, "Done there.");
  assert.match(await Deno.readTextFile(join(tree, FILE)), /Bye/);
  assert.match(await project.read(FILE), /Hello/, "the project is as it was");
  const result = JSON.stringify(server.requests.at(-1)?.body);
  assert.ok(result.includes(`${tree}\\nagent/fix`), "the command ran there, on the branch");
  assert.match(
    result,
    /Read-only file system|Device or resource busy|Permission denied/,
    "its .git is read-only",
  );

  // Meanwhile the user goes on in the project.
  await nvim.keys("<Esc>");
  await nvim.command("tabfirst");
  await nvim.lua(`vim.cmd.edit("${FILE}") vim.api.nvim_buf_set_lines(0, 0, 0, false, { "// mine" })`);
  await nvim.command("Agent worktree merge");
  await waitForChat(nvim, "Merged the worktree fix: 2 files.");
  await waitForTurn(nvim);
  assert.equal(await nvim.lua("return vim.fn.tabpagenr()"), 1);
  assert.deepEqual(
    await nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, 3, false)", join(root, FILE)),
    [
      "// mine",
      "export function greet(name: string) {",
      "  return `Bye ${name}`;",
    ],
  );
  assert.equal(await project.read("new.txt"), "new\n");
  assert.equal(server.requests.length, 5, "no model was asked");
  await nvim.keys("<Esc>");
  await nvim.command("Agent review");
  await nvim.waitFor("#vim.fn.getqflist() >= 2");
  await nvim.command("cclose");
  await nvim.command("Agent undo");
  await waitUntil("the merge to be undone", () => project.read("new.txt").then(() => false, () => true));
  await nvim.command("messages clear");

  await nvim.command("Agent worktree remove fix");
  await nvim.waitForScreen(/1: Keep it/);
  await nvim.keys("1<CR>");
  assert.match(await Deno.readTextFile(join(tree, FILE)), /Bye/);
  await nvim.command("Agent worktree remove fix");
  await nvim.waitForScreen(/The worktree fix: 2 files differ/);
  await nvim.keys("2<CR>");
  await nvim.waitForScreen("removed the worktree fix");
  await assert.rejects(Deno.lstat(tree), Deno.errors.NotFound);
  assert.equal(await nvim.lua("return #vim.api.nvim_list_tabpages()"), 1);
  assert.equal(await git(project.root, "branch", "--list", "agent/*"), "");

  await nvim.command("Agent new --worktree");
  await waitForChat(nvim, "Worktree worktree-1 on branch agent/worktree-1");
  await nvim.keys("<Esc>");
  await nvim.command("tabclose");
  await nvim.waitForScreen("removed the worktree worktree-1: nothing differed");

  // A file that git ignores is the user's as well.
  await project.write(".git/info/exclude", "*.log\n");
  await nvim.command("Agent new --worktree");
  await waitForChat(nvim, "Worktree worktree-1 on branch agent/worktree-1");
  await nvim.keys("<Esc>");
  const kept = await nvim.lua<string>("return vim.fn.getcwd() .. '/run.log'");
  await Deno.writeTextFile(kept, "1234");
  await nvim.command("tabclose");
  await nvim.waitForScreen("the worktree worktree-1 stays, 1 ignored file (4 bytes)");
  await nvim.command("Agent worktree");
  await nvim.waitForScreen(/1: worktree-1/);
  await nvim.keys("1<CR>");
  await nvim.waitFor("#vim.api.nvim_list_tabpages() == 2");
  assert.equal(
    await nvim.lua("return vim.fn.getcwd()"),
    join(kept, ".."),
    "it is there, and asks for no key",
  );
  await nvim.keys("<Esc>");
  await nvim.command("Agent worktree remove");
  await nvim.waitForScreen("The worktree worktree-1: 1 ignored file (4 bytes)");
  await Deno.writeTextFile(kept, "12345");
  await nvim.keys("2<CR>");
  await nvim.waitForScreen("The worktree worktree-1: 1 ignored file (5 bytes)");
  assert.equal(await Deno.readTextFile(kept), "12345");
  await nvim.keys("2<CR>");
  await nvim.waitForScreen("removed the worktree worktree-1");
  await assert.rejects(Deno.lstat(kept), Deno.errors.NotFound);
  assert.equal(await git(project.root, "worktree", "list").then((text) => text.split("\n").length), 1);
  assert.deepEqual(server.problems, []);
});
