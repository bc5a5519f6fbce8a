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

const OPTIONS = {
  project: { "notes.md": "# Notes\n", "AGENTS.md": "# Rules\n" },
  options: "sessions = { title = false }",
};
const EDITOR = `
  vim.cmd.edit("notes.md")
  vim.treesitter.start(0, "markdown")
  vim.wo.foldmethod, vim.wo.foldexpr = "expr", "v:lua.vim.treesitter.foldexpr()"`;

Deno.test("an answer that is deep is shown, also as code, streamed, and in a preview of the session", async () => {
  const pieces = DEEP.flatMap((text) => [text, `\`\`\`markdown\n${text}\n\`\`\``]);
  await using agent = await sharedAgent({
    ...OPTIONS,
    script: [...pieces, "The end."].join("\n\n").replaceAll(/^/gm, "say "),
    files: [],
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
  for (const deep of DEEP) {
    const write = (path: string) =>
      `call write_file ${JSON.stringify({ path, content: `# Now\n\n${deep}\n` })}\n---\n`;
    const script = `call read_file {"path": "notes.md"}\n---\n${write("notes.md")}${
      write("AGENTS.md")
    }say Written.`;
    await using agent = await sharedAgent({
      ...OPTIONS,
      options: 'sessions = { title = false }, review = { show_diffs = "open" }',
      script,
    });
    const { nvim } = agent;
    await nvim.lua(EDITOR);
    await nvim.lua(`require("agent").send("Go")`);
    await nvim.waitForScreen("write AGENTS.md");
    await nvim.waitForScreen("d diff");
    await nvim.command("Agent approval");
    await nvim.waitFor(`vim.api.nvim_win_get_config(0).relative ~= ""`);
    await nvim.keys("d");
    await nvim.waitFor(`vim.fn.tabpagenr("$") > 1`);
    await nvim.command("redraw");
    await nvim.keys("q");
    await nvim.keys("a");
    await waitForTurn(nvim);
    await nvim.lua(`vim.cmd.drop("notes.md")`);
    await nvim.waitFor(`vim.fn.getline(1) == "# Now"`);
    await nvim.command("normal! zx");
    await nvim.command("redraw");
  }
});
