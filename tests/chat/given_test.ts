/** What the user hands over with a message, in a real Neovim: what reaches the model, and what is shown of it. */
import assert from "node:assert/strict";
import { mentionsIn } from "../../denops/agent/engine/context/mentions.ts";
import { messagesOf } from "../model/model_messages.ts";
import { GREET, type RunningAgent, startAgent } from "../support/agent.ts";
import { transcript, waitForChat, waitForTurn } from "../support/chat.ts";
import { inOneNeovim } from "../support/one_neovim.ts";
import { pngFile } from "../support/pictures.ts";
import { scratch } from "../support/project.ts";

const PROJECT = { ...GREET, ".env": "KEY=secret\n", "src/other.ts": "export const other = 1;\n" };

/** The user's newest message, as the model has it. */
function said({ server }: RunningAgent): string {
  const body = server.requests.at(-1)?.body ?? {};
  return messagesOf("openai_chat", body).findLast(({ role }) => role === "user")?.text ?? "";
}

async function ask(agent: RunningAgent, text: string): Promise<string> {
  const before = agent.server.requests.length;
  await agent.nvim.lua(`require("agent").send(...)`, text);
  await agent.nvim.waitForScreen(() => agent.server.requests.length > before);
  await waitForTurn(agent.nvim);
  return said(agent);
}

const HERE = {
  script: "say Done.\nrepeat",
  project: PROJECT,
  files: ["src/greet.ts"],
  options: "title = false",
};

const test = inOneNeovim("what is handed over", HERE);

function start(options: Partial<Parameters<typeof startAgent>[0]>): Promise<RunningAgent> {
  return startAgent({ ...HERE, ...options });
}

test("words stand for what only Neovim knows, and their names are shown below the message, after a restart too", async (agent) => {
  const { nvim, project } = agent;
  await nvim.lua(`
    local namespace = vim.api.nvim_create_namespace("test")
    vim.diagnostic.set(namespace, 0, { { lnum = 1, col = 0, message = "no such\\nname", severity = 1 } })
    vim.cmd.badd("src/other.ts")
    vim.fn.bufload("src/other.ts")
    vim.cmd.badd(".env")
    vim.fn.bufload(".env")
    vim.diagnostic.set(namespace, vim.fn.bufnr(".env"), { { lnum = 0, col = 0, message = "KEY=secret" } })
    vim.fn.setqflist({ { filename = "src/other.ts", lnum = 1, text = "look here" }, { text = "and there" } })
    vim.api.nvim_buf_set_lines(0, 0, 0, false, { "// unsaved" })`);
  const words = await nvim.lua<readonly string[]>(`return require("agent.given").words()`);
  const kinds = words.map((word) => mentionsIn(`@${word}`)[0]?.mention.kind);
  assert.deepEqual(kinds, words.map(() => "editor"), "each word of Neovim's is one of the engine's");
  const text = await ask(agent, "See @buffer, @diagnostics and @quickfix");
  assert.match(
    text,
    /Contents of src\/greet\.ts \(already provided, do not read again\):\n```\n\/\/ unsaved\n/,
  );
  assert.match(
    text,
    /2 diagnostics .*\nsrc\/greet\.ts:2 error no such name\n\[1 more, of files that may not be read\]/s,
  );
  assert.match(text, /quickfix, 2 entries .*\nsrc\/other\.ts:1 look here\nand there\n/s);
  assert.doesNotMatch(text, /secret/);
  const label = "▸ src/greet.ts · 2 diagnostics · quickfix, 2 entries";
  assert.deepEqual((await transcript(nvim)).slice(0, 2), ["See @buffer, @diagnostics and @quickfix", label]);
  const buffers = await ask(agent, "All: @buffers");
  assert.match(buffers, /other = 1/);
  assert.doesNotMatch(buffers, /secret/);
  await waitForChat(nvim, "Not handed over: .env may hold secrets and is not readable");
  await using later = await start({ beside: agent });
  await later.nvim.command("Agent resume");
  await later.nvim.waitFor(
    `vim.list_contains(vim.api.nvim_buf_get_lines(vim.fn.bufnr("^agent://chat/1$"), 0, -1, false), "${label}")`,
  );
  assert.equal(await project.read(".env"), "KEY=secret\n");
});

test("the last lines of a terminal", async (agent) => {
  await agent.nvim.command("split | terminal printf 'one\\ntwo tests failed\\n'");
  await agent.nvim.waitForScreen("[Process exited 0]");
  await agent.nvim.command("wincmd p");
  assert.match(await ask(agent, "Why? @terminal"), /terminal, last \d+ lines .*two tests failed/s);
});

test("a selection is shown as a name, opens, and is read from the disk or the buffer, never pasted", async (agent) => {
  const { nvim } = agent;
  await nvim.command("2,3Agent why?");
  await waitForTurn(nvim);
  assert.match(
    said(agent),
    /why\?\n\nUser's selected code from src\/greet\.ts:L2-L3 \(already provided, do not read again\):\n```\n {2}return/,
  );
  assert.deepEqual((await transcript(nvim)).slice(0, 2), ["why?", "▸ src/greet.ts L2–3"]);
  await nvim.keys("<Esc><C-w>kgg/greet<CR><CR>");
  await nvim.waitFor(
    `vim.api.nvim_buf_get_name(0):find("src/greet.ts$") and vim.api.nvim_win_get_cursor(0)[1] == 2`,
  );
});

test("a selection of a file that may not be read is refused; of one outside it is the user's own text", async (agent) => {
  await agent.nvim.command("edit .env");
  const { nvim } = agent;
  await nvim.command("1Agent what is this?");
  await waitForTurn(nvim);
  assert.doesNotMatch(said(agent), /secret/);
  await waitForChat(nvim, "Not handed over: .env may hold secrets and is not readable");
  await nvim.lua(`require("agent").toggle()`);
  await nvim.command(`edit ${agent.state.path("outside.txt")} | call setline(1, "far away")`);
  await nvim.command("1Agent and this?");
  await waitForTurn(nvim);
  assert.doesNotMatch(nvim.text(), /▸ .*outside\.txt:1/, "of where it is nothing is told");
  assert.match(said(agent), /User's selected code from .*outside\.txt L1 .*\nfar away\n/s);
});

test("what goes along by itself is shown above the input, and what is switched off is not sent", async (agent) => {
  const { nvim } = agent;
  await nvim.lua(
    `vim.diagnostic.set(vim.api.nvim_create_namespace("test"), 0, { { lnum = 1, col = 0, message = "x" } })
    vim.ui.select = function(items, options, choose)
      _G.offered = vim.tbl_map(options.format_item, items)
      choose(items[1])
    end`,
  );
  await nvim.command("Agent");
  await nvim.waitForScreen("▸ src/greet.ts:1 · 1 diagnostic");
  assert.match(await ask(agent, "One"), /The user looks at src\/greet\.ts:1/);
  await nvim.keys("<Esc>ga");
  await nvim.waitForScreen("▸ 1 diagnostic");
  assert.deepEqual(await nvim.lua("return _G.offered"), ["on  src/greet.ts:1", "on  1 diagnostic"]);
  await nvim.lua(`vim.api.nvim_win_set_cursor(vim.fn.bufwinid("src/greet.ts"), { 3, 0 })`);
  assert.doesNotMatch(await ask(agent, "Two"), /greet\.ts/);
  await nvim.keys("ga");
  await nvim.waitForScreen("▸ src/greet.ts:3 · 1 diagnostic");
  assert.match(await ask(agent, "Three"), /The user looks at src\/greet\.ts:3/);
});

Deno.test("nothing goes along by itself where the option says so", async () => {
  await using agent = await start({ options: "title = false, attach = {}" });
  const text = await ask(agent, "Hello");
  assert.doesNotMatch(text, /greet\.ts|Diagnostics/);
  assert.doesNotMatch(agent.nvim.text(), /▸/);
});

Deno.test("an image of the clipboard goes into the message by a key, and to a model that sees", async () => {
  const png = pngFile(40, 30);
  await using bin = await scratch({
    "shot.png": png,
    "xclip": `#!/bin/sh\nexec cat "$(dirname "$0")/shot.png"\n`,
  });
  await Deno.chmod(bin.path("xclip"), 0o755);
  await using agent = await start({
    options: "title = false, vision = true",
    env: { PATH: `${bin.root}:${Deno.env.get("PATH")}`, DISPLAY: ":0", WAYLAND_DISPLAY: "" },
  });
  const { nvim, server } = agent;
  await nvim.command("Agent");
  await nvim.keys("<Esc>iwhat is<Esc>gp");
  await nvim.waitForScreen("what is @image:1");
  await nvim.keys("<Esc><CR>");
  await waitForTurn(nvim);
  const images = messagesOf("openai_chat", server.requests[0]?.body ?? {}).flatMap(({ images }) => images);
  assert.deepEqual(images, [{ type: "image/png", data: png.toBase64() }]);
  assert.deepEqual((await transcript(nvim)).slice(0, 2), ["what is @image:1", "▸ image 1"]);
  assert.deepEqual(server.problems, []);
  await Deno.writeTextFile(bin.path("shot.png"), "text");
  await nvim.command("Agent paste");
  await nvim.waitForScreen("agent: the clipboard has no image");
});

Deno.test("of a file that a rule asks about the user is asked, and sees what became of it", async () => {
  await using agent = await start({ options: `title = false, ask = { "read(src/other.ts)" }` });
  const { nvim } = agent;
  await nvim.command("Agent read @src/other.ts");
  await nvim.waitForScreen("a once");
  await nvim.lua(`require("agent").approve()`);
  await waitForTurn(nvim);
  assert.match(said(agent), /Contents of src\/other\.ts .*other = 1/s);
  assert.deepEqual((await transcript(nvim)).slice(0, 3), [
    "read @src/other.ts",
    "▸ src/other.ts",
    "✓ read src/other.ts  handed over",
  ]);
});

test("a message that comes back has its lines again", async (agent) => {
  agent.server.play("wait here\nsay One.\nrepeat");
  const { nvim, server } = agent;
  await nvim.command("Agent first");
  await nvim.waitForScreen("❯ first");
  await nvim.command("wincmd p | 2,3Agent second");
  await nvim.waitForScreen("second (waiting for the turn to end)");
  await nvim.lua(`require("agent").stop()`);
  await nvim.waitForScreen("▸ src/greet.ts:1 · src/greet.ts L2–3");
  server.release("here");
  await waitForTurn(nvim);
  await nvim.keys("<Esc><CR>");
  await nvim.waitForScreen("One.");
  assert.match(said(agent), /User's selected code from src\/greet\.ts:L2-L3/);
});
