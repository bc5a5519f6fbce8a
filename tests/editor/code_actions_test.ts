/** Code actions of the agent's in the user's buffers, while there is something to act on. Whole program. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { sharedAgent } from "../support/shared_agent.ts";

/** Opens Neovim's menu of code actions at a line. */
async function actionsAt({ nvim }: RunningAgent, line: number): Promise<string> {
  await nvim.keys(`<Esc>${line}G<Cmd>lua vim.lsp.buf.code_action()<CR>`);
  return await nvim.waitForScreen(/Code actions:|No code actions/);
}

const OPTIONS =
  `files = { safe_to_write = { { "src/greet.ts", true } } }, rules = { ask = { "write(src/other.ts)" }, allow = { "write(src/greet.ts)" } }`;

const ATTACHED = `return #vim.lsp.get_clients({ name = "agent", bufnr = 0 })`;

Deno.test("code actions: approve, keep and undo a hunk, fix diagnostics; attached only for as long", async () => {
  const edit = { path: "src/greet.ts", old_str: "Hello", new_str: "Welcome" };
  const other = { path: "src/other.ts", old_str: "1", new_str: "2" };
  await using agent = await sharedAgent({
    script: `call read_file {"path":"src/greet.ts"}
call read_file {"path":"src/other.ts"}
---
call edit_file ${JSON.stringify(edit)}
---
call edit_file ${JSON.stringify(other)}
---
say Done.
---
say Fixed.`,
    project: { "src/greet.ts": "one\nHello\nthree\n", "src/other.ts": "const other = 1;\n" },
    files: ["src/greet.ts"],
    options: OPTIONS,
    columns: 100,
  });
  const { nvim, project, server } = agent;
  assert.equal(await nvim.lua(ATTACHED), 0);
  await nvim.command("Agent! go");
  await nvim.waitForScreen("src/other.ts");
  await nvim.waitFor(`#vim.lsp.get_clients({ name = "agent", bufnr = 0 }) == 1`);
  // It is nothing that the model's tools may ask.
  assert.equal(await nvim.lua(`return require("agent.editor.state").get().servers`), false);

  const both = await actionsAt(agent, 2);
  for (const title of ["keep this hunk", "undo this hunk", "show the turn", "approve: ", "reject: "]) {
    assert.ok(both.includes(`Agent: ${title}`), both);
  }
  const approve = /(\d): Agent: approve/.exec(both)?.[1];
  await nvim.keys(`${approve}<CR>`);
  await nvim.waitFor(`require("agent").status():find("ready")`);
  assert.equal(await project.read("src/other.ts"), "const other = 2;\n");

  const hunk = await actionsAt(agent, 2);
  assert.doesNotMatch(hunk, /approve/);
  await nvim.keys(`${/(\d): Agent: undo/.exec(hunk)?.[1]}<CR>`);
  await nvim.waitFor(`vim.api.nvim_buf_get_lines(0, 1, 2, true)[1] == "Hello"`);
  await nvim.waitFor(`#vim.lsp.get_clients({ name = "agent", bufnr = 0 }) == 0`);

  await nvim.lua(`vim.diagnostic.set(vim.api.nvim_create_namespace("test"), 0, {
    { lnum = 2, col = 0, message = "three is\\nwrong", severity = vim.diagnostic.severity.ERROR } })`);
  await nvim.waitFor(`#vim.lsp.get_clients({ name = "agent", bufnr = 0 }) == 1`);
  await nvim.keys(
    "<Esc>3G<Cmd>lua vim.lsp.buf.code_action({ apply = true, filter = function(action) return action.title == 'Agent: fix this' end })<CR>",
  );
  await nvim.waitForScreen("Fixed.");
  assert.match(server.requests.at(-1)?.text ?? "", /\/fix\n.*:3 error three is wrong/s);
  assert.match(server.requests.at(-1)?.text ?? "", /User's selected code from src\/greet\.ts:L3-L3/);
});

Deno.test("the option code_actions switches them off", async () => {
  for (const [option, count] of [["", 1], ["ui = { code_actions = false }", 0]] as const) {
    await using agent = await sharedAgent({ script: "say Done.", files: ["src/greet.ts"], options: OPTIONS });
    const { nvim } = agent;
    await nvim.lua(`require("agent").setup({ ${option} })`);
    await nvim.command("Agent go");
    await nvim.waitForScreen("Done.");
    await nvim.keys("q");
    await nvim.lua(`vim.diagnostic.set(vim.api.nvim_create_namespace("test"), 0, {
      { lnum = 0, col = 0, message = "wrong", severity = vim.diagnostic.severity.ERROR } })
      vim.wait(50)`);
    if (count === 1) await nvim.waitFor(`#vim.lsp.get_clients({ name = "agent", bufnr = 0 }) == 1`);
    assert.equal(await nvim.lua(ATTACHED), count);
  }
});
