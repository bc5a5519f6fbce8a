/** Neovim copies files before it writes them, while an agent's turn runs: the bases of merges. */
import assert from "node:assert/strict";
import { spoolName } from "../support/foreign/hosted_shell.ts";
import { PLUGIN } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";
import { scratch } from "../support/project.ts";

Deno.test("the text of each file from before the turn is copied before a write, only while a turn runs", async () => {
  await using project = await scratch({ "a b.txt": "one\n", "other.txt": "o\n" });
  await using outside = await scratch({ "c.txt": "c\n" });
  await using spool = await scratch();
  await using nvim = await ChildNvim.start({ runtime: [PLUGIN] });
  const follow = (since?: number) =>
    nvim.lua(`require("agent.reload.spool").follow(...)`, {
      folder: spool.root,
      since,
      roots: [project.root],
    });
  const write = async (path: string, text: string) => {
    await nvim.lua(`vim.cmd.edit(vim.fn.fnameescape(...))`, path);
    await nvim.lua(`vim.api.nvim_buf_set_lines(0, 0, -1, true, { ... })`, text);
    await nvim.command("silent write");
  };
  const copies = () =>
    Object.fromEntries(
      Array.from(Deno.readDirSync(spool.root), ({ name }) => [name, Deno.readTextFileSync(spool.path(name))]),
    );
  await follow(Date.now());
  await write(project.path("a b.txt"), "two");
  await write(project.path("a b.txt"), "three");
  await write(project.path("new.txt"), "n");
  await write(project.path("new.txt"), "o");
  // Another program has written it since the turn began.
  await project.write("b.txt", "b\n");
  await write(project.path("b.txt"), "c");
  await write(outside.path("c.txt"), "d");
  await follow();
  await write(project.path("other.txt"), "p");
  assert.deepEqual(copies(), { [spoolName(project.path("a b.txt"))]: "one\n" });
  assert.equal(await project.read("a b.txt"), "three\n");
});
