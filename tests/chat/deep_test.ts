/** Text of a model whose markdown would end Neovim, wherever it is shown: Neovim lives, and the text is there. */
import assert from "node:assert/strict";
import { transcript, waitForTurn } from "../support/chat.ts";
import { sharedAgent } from "../support/shared_agent.ts";

/** More blocks within each other than the scanner of tree-sitter has room for. */
const DEEP = [
  ">".repeat(300),
  `${"> ".repeat(260)}end`,
  `${"- ".repeat(300)}end`,
  `${"1. ".repeat(300)}end`,
  Array.from({ length: 300 }, (_, level) => `${"  ".repeat(level)}- end`).join("\n"),
  Array.from({ length: 300 }, (_, level) => `${"\t".repeat(level / 2)}${level % 2 ? "  " : ""}- end`).join(
    "\n",
  ),
];

const OPTIONS = "sessions = { title = false }";
/** In the window that is not the chat's. */
const EDITOR = `
  vim.cmd("wincmd t")
  vim.cmd.edit(...)
  vim.treesitter.start(0, "markdown")
  vim.wo.foldmethod, vim.wo.foldexpr = "expr", "v:lua.vim.treesitter.foldexpr()"`;

Deno.test("an answer that is deep is shown, also as code, streamed, and in a preview of the session", async () => {
  const pieces = DEEP.flatMap((text) => [text, `\`\`\`markdown\n${text}\n\`\`\``]);
  await using agent = await sharedAgent({
    options: OPTIONS,
    script: [...pieces, "The end."].join("\n\n").replaceAll(/^/gm, "say "),
  });
  const { nvim } = agent;
  await nvim.lua(`require("agent").send("Go")`);
  await waitForTurn(nvim);
  for (const key of ["gg", "<C-f>", "<C-f>", "50%", "G"]) {
    await nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`);
    await nvim.keys(key);
    await nvim.command("redraw");
  }
  await nvim.waitForScreen("The end.");
  // A plugin may parse all of it.
  await nvim.lua(
    `vim.treesitter.get_parser(require("agent.chat").current().transcript.buffer, "markdown"):parse(true)`,
  );
  const shown = (await transcript(nvim)).join("\n");
  for (const text of DEEP) assert.ok(shown.includes(text.split("\n").at(-1) ?? ""), text);
  await nvim.command("Agent sessions");
  await nvim.waitForScreen("The end.");
  await nvim.command("Agent export");
  await nvim.waitFor(`vim.api.nvim_buf_line_count(0) > 300`);
  await nvim.command("redraw");
});

Deno.test("a file that becomes deep loses its colours, in its buffer and in the comparison of an approval", async () => {
  const notes = DEEP.map((_, at) => [`notes${at}.md`, "# Notes\n"]);
  const rules = DEEP.map((_, at) => [`${at}/AGENTS.md`, "# Rules\n"]);
  await using agent = await sharedAgent({
    options: `${OPTIONS}, review = { show_diffs = "open" }`,
    project: Object.fromEntries([...notes, ...rules]),
    script: "",
  });
  const { nvim, server } = agent;
  for (const [at, deep] of DEEP.entries()) {
    const note = `notes${at}.md`;
    const write = (path: string) =>
      `call write_file ${JSON.stringify({ path, content: `# Now\n\n${deep}\n` })}\n---\n`;
    server.play(
      `call read_file {"path": "${note}"}\ncall read_file {"path": "${at}/AGENTS.md"}\n---\n` +
        `${write(note)}${write(`${at}/AGENTS.md`)}say Written.`,
    );
    await nvim.lua(EDITOR, note);
    await nvim.lua(`require("agent").send("Go")`);
    await nvim.waitForScreen(`write ${at}/AGENTS.md`);
    await nvim.waitForScreen("d diff");
    await nvim.command("Agent approval");
    await nvim.waitFor(`vim.api.nvim_win_get_config(0).relative ~= ""`);
    await nvim.keys("d");
    await nvim.waitFor(`vim.fn.tabpagenr("$") > 1`);
    await nvim.command("redraw");
    await nvim.keys("q");
    await nvim.keys("a");
    await waitForTurn(nvim);
    await nvim.lua("vim.cmd.drop(...)", note);
    await nvim.waitFor(`vim.fn.getline(1) == "# Now"`);
    await nvim.command("normal! zx");
    await nvim.command("redraw");
  }
  assert.deepEqual(server.problems, []);
});
