/** Neovim is asked only about files that it has open, and none that it has open is missed. Whole program. */
import assert from "node:assert/strict";
import { existsSync, symlinkSync } from "node:fs";
import type { RunningAgent } from "../support/agent.ts";
import { sharedAgent } from "../support/shared_agent.ts";
import { ask, toolResults, turn } from "../support/language_servers.ts";
import { waitUntil } from "../support/project.ts";

const PROJECT = { "a.txt": "on disk\n", "sub/b.txt": "other\n" };
const READ = turn(["read_file", { path: "a.txt" }]);

/** What the tool reads after these commands, with text typed into the buffer. */
async function readAfter(
  prepare: (agent: RunningAgent) => Promise<unknown>,
  path = "a.txt",
): Promise<string | undefined> {
  const script = `say Hello.\n---\n${turn(["read_file", { path }])}`;
  await using agent = await sharedAgent({ script, project: PROJECT });
  // The supervisor knows what was open then.
  await agent.nvim.command("Agent hello");
  await agent.nvim.waitForScreen("Hello.");
  await agent.nvim.waitForScreen("· ready");
  await agent.nvim.keys("<Esc><C-w>p");
  await prepare(agent);
  const [text] = await ask(agent);
  return text;
}

for (
  const [what, prepare] of Object.entries(
    {
      "opened later": ({ nvim }) => nvim.keys(":edit a.txt<CR>ityped <Esc>"),
      "opened without events": ({ nvim }) => nvim.keys(":noautocmd edit a.txt<CR>ityped <Esc>"),
      "opened by another name": ({ nvim, project }) => {
        symlinkSync(project.path("a.txt"), project.path("link.md"));
        return nvim.keys(":edit link.md<CR>ityped <Esc>");
      },
      "given the name": ({ nvim }) => nvim.keys(":enew<CR>ityped on disk<Esc>:silent file a.txt<CR>"),
      "opened from another folder": ({ nvim }) => nvim.keys(":edit sub/../a.txt<CR>ityped <Esc>"),
    } satisfies Record<string, (agent: RunningAgent) => Promise<unknown>>,
  )
) {
  Deno.test(`unsaved text is read as it is on screen: a file ${what}`, async () => {
    assert.match(await readAfter(prepare) ?? "", /with unsaved changes\]\n1\ttyped on disk/);
  });
}

Deno.test("unsaved text of a file that is new is read", async () => {
  const open = ({ nvim }: RunningAgent) => nvim.keys(":edit sub/New.txt<CR>inothing on disk<Esc>");
  assert.match(await readAfter(open, "sub/New.txt") ?? "", /unsaved changes\]\n1\tnothing on disk/);
});

Deno.test("a file that is closed is read from disk, though another of its name is open", async () => {
  const open = ({ nvim }: RunningAgent) =>
    nvim.keys(":edit sub/b.txt<CR>ityped <Esc>:edit! a.txt<CR>:bd!<CR>");
  assert.equal(await readAfter(open), "1\ton disk");
});

Deno.test("unsaved text of a file that was opened while the turn runs is read", async () => {
  await using agent = await sharedAgent({ script: `wait go\n${READ}`, project: PROJECT });
  const { nvim, server } = agent;
  await nvim.command("Agent hello");
  await server.reached("go");
  await nvim.keys("<Esc><C-w>p:edit a.txt<CR>ityped <Esc>");
  await nvim.waitFor(`vim.api.nvim_get_current_line() == "typed on disk"`);
  server.release("go");
  await waitUntil("the file to be read", () => toolResults(server).length === 1);
  assert.match(toolResults(server)[0] ?? "", /with unsaved changes\]\n1\ttyped on disk/);
});

Deno.test("a Neovim that waits for a key is not waited for where no file of it is meant", async () => {
  await using agent = await sharedAgent({ script: `wait go\n${READ}`, project: PROJECT });
  await agent.nvim.command("Agent hello");
  await agent.server.reached("go");
  await agent.nvim.keys("<Esc>:call getchar()<CR>");
  agent.server.release("go");
  await waitUntil("the file to be read", () => toolResults(agent.server).length === 1);
  assert.equal(toolResults(agent.server)[0], "1\ton disk");
  await agent.nvim.keys("x");
});

for (const background of [false, true]) {
  const where = background ? "in the background" : "";
  Deno.test(`what the user saves while a command runs ${where} is not taken back with its change`, async () => {
    const command =
      "touch started; until [ -e go ]; do sleep 0.02; done; sed -i s/one/ONE/ a.txt; touch done";
    const call = JSON.stringify({ command, access: "write", direct: true, background });
    const script = `call run_terminal_command ${call}\n---\nwait end\nsay All done.`;
    await using agent = await sharedAgent({ script, project: { "a.txt": "one\ntwo\n" } });
    const { nvim, project, server } = agent;
    const isThere = (name: string) => () => existsSync(project.path(name));
    await nvim.command("edit a.txt");
    await nvim.command("Agent! go");
    await nvim.waitFor(`require("agent.approval").count() > 0`);
    await nvim.command("Agent approve");
    await waitUntil("the command to run", isThere("started"));
    await nvim.keys("Gothree<Esc>:w<CR>");
    await waitUntil("the text to be saved", async () => (await project.read("a.txt")).includes("three"));
    await project.write("go", "");
    await waitUntil("the command to end", isThere("done"));
    await server.reached("end");
    server.release("end");
    await nvim.waitFor(`require("agent").status():find("ready$")`);
    assert.equal(await project.read("a.txt"), "ONE\ntwo\nthree\n");
    await nvim.command("Agent undo");
    await waitUntil("the undo", async () => (await project.read("a.txt")).startsWith("one"));
    assert.equal(await project.read("a.txt"), "one\ntwo\nthree\n");
    await nvim.waitFor(`vim.api.nvim_buf_get_lines(vim.fn.bufnr("a.txt"), 0, -1, true)[3] == "three"`);
  });
}
