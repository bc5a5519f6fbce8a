/** What goes along with a message, in a real Neovim: what reaches the model, and what is shown of it. */
import assert from "node:assert/strict";
import { mentionsIn } from "../../denops/agent/engine/context/mentions.ts";
import { messagesOf, objects, string, withoutMode } from "../model/model_messages.ts";
import { type AgentOptions, GREET, type RunningAgent } from "../support/agent.ts";
import { chatShows, say, transcript, waitForChat, waitForTurn } from "../support/chat.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";
import { pngFile } from "../support/pictures.ts";
import { scratch, waitUntil } from "../support/project.ts";

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
  options: "sessions = { title = false }",
};

/** A program that the tests share; a test has its own project and script, and Lua fields over the options of all. */
async function start(options = "", own: Partial<AgentOptions> = {}): Promise<RunningAgent> {
  const agent = await sharedAgent({ ...HERE, files: [], ...own });
  await agent.nvim.lua(`require("agent").setup({ ${options} })`);
  return agent;
}

/** Of tests that share an engine. */
const RULED = `models = { ["*"] = { vision = true } },
  rules = { allow = { "write(src/**)" }, ask = { "read(src/other.ts)" } }`;

function test(name: string, body: (agent: RunningAgent) => Promise<void>, options = ""): void {
  Deno.test(name, async () => {
    await using agent = await start(options, { files: HERE.files });
    await body(agent);
  });
}

test("words stand for what only Neovim knows, and their names are shown below the message, after a restart of the engine too", async (agent) => {
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
  const words = await nvim.lua<readonly string[]>(`return require("agent.context.attachment").words()`);
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
  await endEngines(agent);
  await nvim.command("Agent resume");
  await waitUntil("the label", async () => (await transcript(nvim)).includes(label));
  assert.equal(await project.read(".env"), "KEY=secret\n");
});

test("the last lines of a terminal", async (agent) => {
  await agent.nvim.command("split | terminal printf 'one\\ntwo tests failed\\n'");
  await agent.nvim.waitForScreen("[Process exited 0]");
  await agent.nvim.command("wincmd p");
  assert.match(await ask(agent, "Why? @terminal"), /terminal, last \d+ lines .*two tests failed/s);
  // The chat offers the output of a command that fails.
  await agent.nvim.command("bwipeout! term://* | split | terminal printf 'three failed\\n'; exit 3");
  await agent.nvim.waitForScreen(/printf.* failed .*· ga adds/);
  await agent.nvim.command("Agent");
  await agent.nvim.keys("<Esc>ga");
  await agent.nvim.waitForScreen("(exit 3)");
  const text = await ask(agent, "And now?");
  assert.match(
    text,
    /From the user's terminal: output of printf .* \(exit 3\) \(already provided.*\n\$ printf .*exit 3\nthree failed\n```/s,
  );
  assert.equal(text.match(/^(?:\| )?three failed$/gm)?.length, 1, text);
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
  assert.doesNotMatch(await ask(agent, "Two"), /greet\.ts:/);
  await nvim.keys("ga");
  await nvim.waitForScreen("▸ src/greet.ts:3 · 1 diagnostic");
  assert.match(await ask(agent, "Three"), /The user looks at src\/greet\.ts:3/);
});

test("nothing goes along by itself where the option says so", async (agent) => {
  const text = await ask(agent, "Hello");
  assert.doesNotMatch(text, /greet\.ts|Diagnostics/);
  assert.doesNotMatch(agent.nvim.text(), /▸/);
}, "attach = {}");

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
  await waitUntil("the code", () => said(agent).includes("User's selected code from src/greet.ts:L2-L3"));
});

const PROMPTS = {
  ...GREET,
  ".agents/commands/port.md":
    "---\ndescription: Port it\nargument-hint: [to]\n---\nPort this to $1. All: $ARGUMENTS",
  ".claude/commands/explain.md": "---\nallowed-tools: Bash(*)\n---\nExplain it to a child. $ARGUMENTS",
  ".claude/commands/two words.md": "It has no name.",
};

/** As {@link ask}, by a command of Neovim's. */
async function command(agent: RunningAgent, line: string): Promise<string> {
  const { nvim, server } = agent;
  const before = server.requests.length;
  await nvim.command(line);
  await nvim.waitForScreen(() => server.requests.length > before);
  await waitForTurn(nvim);
  return said(agent);
}

Deno.test("a message calls a prompt: the model is told what it stands for, the chat shows its name", async () => {
  await using agent = await start("", { project: PROMPTS, files: HERE.files });
  const { nvim } = agent;
  const ported = await command(agent, "Agent /port go now");
  assert.match(ported, /\/port go now\n\nWhat the user asks for .*:\n\nPort this to go\. All: go now/s);
  assert.deepEqual((await transcript(nvim)).slice(0, 2), ["/port go now", "▸ prompt port"]);
  const explained = await command(agent, "Agent! explain");
  assert.match(explained, /Explain it to a child\./, "a project's file takes the place of our own");
  const replaced = /^.*The project's \.claude\/commands\/explain\.md replaces \/explain\.$/gm;
  await waitForChat(nvim, "replaces /explain.");
  await command(agent, "Agent! explain");
  assert.equal((await transcript(nvim)).join("\n").match(replaced)?.length, 1, "said once");
  await nvim.lua(`
    local namespace = vim.api.nvim_create_namespace("test")
    local buffer = vim.fn.bufnr("greet.ts")
    vim.diagnostic.set(namespace, buffer, {
      { lnum = 0, col = 0, message = "first", severity = 1 },
      { lnum = 1, col = 0, message = "second", severity = 1 },
    })`);
  await nvim.command("wincmd p");
  await nvim.command("buffer greet.ts");
  const fixed = await command(agent, "2,3Agent fix");
  assert.match(fixed, /Fix the problems that the diagnostics/);
  assert.match(fixed, /src\/greet\.ts:2 error second/);
  assert.doesNotMatch(fixed, /error first/, "of the range only");
  assert.match(fixed, /User's selected code from src\/greet\.ts:L2-L3/);
  assert.match(await command(agent, "Agent /etc/passwd is odd"), /^(?!.*What the user asks for)/s);
  assert.match(await command(agent, "Agent fix the tests now"), /fix the tests now/);
  await nvim.command("Agent");
  await nvim.keys("/");
  await nvim.waitForScreen(/\/port +prompt \[to\] +Port it/);
  await nvim.waitForScreen("/tests");
  await nvim.keys("po<C-n><C-y> rust");
  assert.equal(await nvim.lua(`return require("agent.chat").current().input:text()`), "/port rust");
});

const RULES = {
  ...GREET,
  "AGENTS.md": "Use tabs.\n",
  "src/AGENTS.md": "Name things in full.\n",
  ".env": "KEY=1\n",
};

const CONTEXT = `
call read_file {"path": "src/greet.ts"}
---
expect Name things in full.
say Hm.
---
say Well.
---
new-history
say Other.
`;

Deno.test("the model is told where the user is, what is open, and what was edited meanwhile", async () => {
  await using agent = await start("", { script: CONTEXT, project: RULES, lines: 60 });
  const { nvim, server, project } = agent;
  const newest = () =>
    withoutMode(
      string(
        objects(server.requests.at(-1)?.body.messages).findLast(({ role }) => role === "user")?.content,
      ) ?? "",
    );
  await nvim.command("edit .env");
  await nvim.command(`edit ${project.path("src/greet.ts")}`);
  await nvim.command("normal! 2G");
  await nvim.command("Agent Hello");
  await nvim.waitForScreen("Hm.");
  await waitForTurn(nvim);
  const system = string(objects(server.requests[0]?.body.messages)[0]?.content) ?? "";
  assert.match(system, /<rules_(\w+) file="AGENTS\.md">\nUse tabs\.\n<\/rules_\1>/);
  assert.match(
    newest(),
    /^<context_\w+>\nDate: .*\n(?:Git: .*\n)*The user looks at src\/greet\.ts:2\nDiagnostics/,
  );
  assert.doesNotMatch(JSON.stringify(server.requests.map(({ body }) => body)), /\.env/);

  await nvim.command(`call setbufline(bufnr("greet.ts"), 1, "export function greet(whom: string) {")`);
  await nvim.command("Agent Again");
  await nvim.waitForScreen("Well.");
  await waitForTurn(nvim);
  assert.match(newest(), /The user looks at src\/greet\.ts:2 \(unsaved\)/);
  assert.match(
    newest(),
    /\nsrc\/greet\.ts \+1 −1\n@@[^\n]*\n-export[^\n]*name: string\) \{\n\+export[^\n]*whom: string/,
  );

  await nvim.command("Agent context");
  await nvim.waitForScreen("Files of rules");
  await nvim.waitForScreen("<CR> read  d drop  p pin  q close");
  await nvim.waitForScreen("AGENTS.md (10 bytes)");
  await nvim.waitForScreen("Each request began as the one before.");
  await nvim.waitForScreen("The context window is 128000 tokens (default).");
  // The bar in the order of the request, with the mark where compaction begins.
  await nvim.waitForScreen(/^×+═+≡+▓+█+·+│·+ *\n× Tools .*%/m);
  await nvim.waitForScreen(/^│ Compacts above +9\d\.\dk +7\d%/m);
  await nvim.command('call search("src/greet.ts ")');
  await nvim.keys("p");
  await nvim.waitForScreen("%  pinned");
  await nvim.keys("d");
  await nvim.waitForScreen("%  dropped");
  await nvim.keys("q");
  await nvim.waitForScreenGone("Files of rules");
  const whole = JSON.stringify(server.requests.at(-1)?.body);
  assert.match(whole, /name: string/);

  await nvim.lua(`
    vim.cmd("topleft 5split")
    local buffer = vim.api.nvim_create_buf(true, false)
    vim.api.nvim_win_set_buf(0, buffer)
    vim.fn.jobstart({ "/bin/sh", "-c", "printf '3 tests failed\\n'; exec sleep 100" }, { term = true })
    vim.cmd("wincmd p")
  `);
  await nvim.waitForScreen("3 tests failed");
  await nvim.lua(`vim.ui.select = function() end; require("agent").tools(nil, { toggle = "plan" })`);
  await nvim.command("Agent Other");
  await nvim.waitForScreen("Other.");
  await waitForTurn(nvim);
  assert.match(newest(), /\nThe end of the user's terminal \(.*sh\):\n\| 3 tests failed\n/);
  await nvim.command("Agent context");
  await nvim.waitForScreen("switched off: plan");
  // The list of files comes with a later message if the first one would have to wait for it.
  const last = JSON.stringify(server.requests.at(-1)?.body);
  assert.match(last, /\\nsrc\/\\n {2}AGENTS\.md\\n {2}greet\.ts\\nAGENTS\.md\\nREADME\.md/);
  assert.match(
    last,
    /\[read src\/greet\.ts, \d lines: dropped by the user; call it again if you need it\]/,
  );
  await nvim.waitForScreen("It differed from tool ");
  assert.deepEqual(server.problems, []);
});

Deno.test("a sub-command behind a slash is carried out; a prompt of that name and other words are messages", async () => {
  await using agent = await start("", {
    project: { ".agents/commands/usage.md": "Tell how this program is used." },
    script: "expect how this program is used\nsay By hand.\n---\nexpect /stop doing that\nsay Why?",
  });
  const { nvim, server } = agent;
  await nvim.command("Agent");
  const first = await nvim.lua<number>(`return require("agent.chat").current().id`);
  await nvim.keys("/mo");
  await nvim.waitForScreen(/\/mode +:Agent Choose how the agent works/);
  await nvim.keys("<C-e><C-u><Esc>");
  await say(nvim, "/mode plan");
  await nvim.waitForScreen("plan · scripted");
  assert.equal(await nvim.lua('return require("agent.chat").current().input:text()'), "");
  await say(nvim, "/usage");
  await waitForChat(nvim, "By hand.");
  await say(nvim, "/stop doing that");
  await waitForChat(nvim, "Why?");
  assert.deepEqual(server.problems, []);
  assert.deepEqual((await transcript(nvim)).filter((line) => line.startsWith("/")), [
    "/usage",
    "/stop doing that",
  ]);
  await say(nvim, ":Agent mode ask");
  await nvim.waitForScreen("ask · scripted");
  await say(nvim, ":Agent session nothing");
  await nvim.waitForScreen("agent: cannot run :Agent session nothing: no such command. Type / for all");
  assert.equal(
    await nvim.lua('return require("agent.chat").current().input:text()'),
    ":Agent session nothing",
  );
  await nvim.keys("cc");
  await nvim.keys(":Agent reveiw<C-s>");
  await nvim.waitForScreen("agent: cannot run :Agent reveiw: no such command. Did you mean :Agent review?");
  await nvim.keys("<Esc>cc");
  await nvim.keys("/reveiw<C-s>");
  await nvim.waitForScreen("agent: did you mean /review? To send the word as a message: :Agent send /reveiw");
  assert.equal(await nvim.lua('return require("agent.chat").current().input:text()'), "/reveiw");
  for (const wrong of ["/effort huge", ":Agent effort huge"]) {
    await nvim.keys("<Esc>cc");
    await nvim.keys(`${wrong}<C-s>`);
    await nvim.waitForScreen("agent: effort takes default, none, low, medium, high or max.");
    assert.equal(await nvim.lua('return require("agent.chat").current().input:text()'), wrong);
    // A key closes the message unless it was typed before the message could be read.
    await waitUntil("the message to close", async () => {
      await nvim.keys("<Esc>");
      return !nvim.text().includes("effort takes");
    });
  }
  await nvim.keys("<Esc>cc");
  await nvim.keys("/new<C-s>");
  await nvim.waitFor(`require("agent.chat").current().id > ${first}`);
  await nvim.waitFor('vim.fn.mode() == "i"');
  const isNew = async (mode: string) => {
    await nvim.waitFor(`vim.fn.mode() == "${mode}" and vim.bo.filetype == "agent-input" and
      require("agent.chat").current().id > _G.last`);
  };
  const note = () => nvim.lua(`_G.last = require("agent.chat").current().id`);
  await note();
  await nvim.keys("<Esc>:Agent new<CR>");
  await isNew("n");
  await note();
  await nvim.keys("i<Cmd>Agent new<CR>");
  await isNew("i");
  for (const [keys, mode] of [["<Esc>:Agent sessions<CR>", "n"], ["i/sessions<C-s>", "i"]] as const) {
    await nvim.keys(keys);
    await nvim.waitFor(`vim.bo.filetype == "agent-sessions"`);
    await nvim.keys("<CR>");
    await nvim.waitFor(`vim.bo.filetype == "agent-input" and vim.fn.mode() == "${mode}"`);
  }
});

Deno.test("a file is edited without being read first when its lines were selected, wherever Neovim works", async () => {
  const edit = { path: "src/greet.ts", old_str: "Hello", new_str: "Welcome" };
  await using agent = await start(RULED, {
    script: `expect User's selected code from src/greet.ts:L2-L2 (already provided, do not read again):
call edit_file ${JSON.stringify(edit)}
---
say Done.`,
  });
  const { nvim, project } = agent;
  await nvim.command("cd src");
  await nvim.command("edit greet.ts");
  await nvim.command("2Agent another greeting");
  await nvim.waitForScreen("Done.");
  assert.equal(await project.read("src/greet.ts"), GREET["src/greet.ts"].replace("Hello", "Welcome"));
});

test("an image of the clipboard goes into the message by a key, and to a model that sees", async (agent) => {
  const png = pngFile(40, 30);
  await using bin = await scratch({
    "shot.png": png,
    "xclip": `#!/bin/sh\nexec cat "$(dirname "$0")/shot.png"\n`,
  });
  await Deno.chmod(bin.path("xclip"), 0o755);
  const { nvim, server } = agent;
  await nvim.lua(
    `vim.env.DISPLAY, vim.env.WAYLAND_DISPLAY, vim.env.PATH = ":0", nil, ... .. ":" .. vim.env.PATH`,
    bin.root,
  );
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
}, RULED);

test("of a file that a rule asks about the user is asked, and sees what became of it", async (agent) => {
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
}, RULED);

test("a message of 10,000 lines shows its first ones until it is opened; one that exceeds the window is not sent", async ({ nvim, server }) => {
  const type = async (words: string) => {
    await nvim.lua(
      `
      local words, lines = ..., {}
      for line = 1, 10000 do
        lines[line] = ("%d %s"):format(line, words)
      end
      vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)`,
      words,
    );
    await nvim.keys("<Esc><CR>");
  };
  await nvim.lua(`require("agent").open()`);
  await type("words that fill the line ".repeat(3));
  await nvim.waitForScreen((screen) =>
    chatShows(screen, "has about 202k tokens, and the model's window has 128k. Save the text as a file")
  );
  assert.equal(server.requests.length, 0);
  await nvim.waitFor(`vim.api.nvim_buf_line_count(0) == 10000`);

  await type("words");
  await nvim.waitForScreen("Done.");
  const last = (await transcript(nvim)).slice(-12);
  assert.deepEqual([last[0], last[9], last[10]], ["1 words", "10 words", "▸ 9990 more lines"]);
  await nvim.keys("<C-w>k?more lines<CR><CR>");
  await nvim.waitForScreen("  11 words");
  assert.deepEqual((await transcript(nvim)).slice(-2), ["10000 words", "Done."]);
});

test("a file that is too large to be read is reported as too large", async (agent) => {
  await Deno.truncate(agent.project.path("src/other.ts"), 21_000_000);
  await ask(agent, "@src/other.ts what");
  await waitForChat(agent.nvim, "stays text: src/other.ts is too large (21.0 MB).");
});
