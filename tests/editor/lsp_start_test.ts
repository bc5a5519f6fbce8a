/** A language server that does not run runs code of the project: a tool starts it only after a question. Whole program. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { ask, sharedWithServers, toolResults, turn } from "../support/language_servers.ts";

/** What a project can bring along: it is run as soon as anybody starts the server. */
const SERVER = "node_modules/server.sh";
const CANARY = "started";

const DIAGNOSE = ["get_diagnostics", { path: "a.fake" }] as const;
const WRITE = ["write_file", { path: "a.fake", content: "changed\n" }] as const;
const NOT_RUNNING = /^The language server fake is not running/;

async function start(script: string, options = ""): Promise<RunningAgent> {
  const agent = await sharedWithServers({
    script,
    project: {
      "a.fake": "one\n",
      "b.fake": "two\n",
      "own.txt": "",
      [SERVER]: `echo x >> ${CANARY}\nexec sleep 60\n`,
    },
    lua: `vim.filetype.add({ extension = { fake = "fake" } })
      vim.lsp.config("fake", { cmd = { "sh", "${SERVER}" }, filetypes = { "fake" }, root_markers = { ".git" } })
      vim.lsp.enable("fake")
      -- What a linter's plugin does with each file that is opened.
      vim.api.nvim_create_autocmd({ "BufReadPost", "FileType" }, { pattern = { "*.fake", "fake" }, callback = function()
        vim.fn.writefile({ "x" }, "linted", "a")
      end })
      require("agent.editor.lsp.clients").start_ms = 300`,
  });
  await agent.nvim.lua(`require("agent").setup({ ${options} })`);
  return agent;
}

async function isStarted({ project }: RunningAgent): Promise<boolean> {
  return await Deno.stat(project.path(CANARY)).then(() => true, () => false);
}

Deno.test("no server of the project is started before a person agrees, nor after a no, and nobody is asked twice", async () => {
  await using agent = await start(
    turn(DIAGNOSE, ["get_document_symbols", { path: "b.fake" }], WRITE, DIAGNOSE),
  );
  const { nvim, project } = agent;
  await nvim.command("Agent look");
  const shown = await nvim.waitForScreen("a once");
  assert.match(shown, /start the language server fake: sh node_modules\/server\.sh/);
  assert.match(shown, /runs outside the sandbox and runs this project's code/);
  assert.equal(await isStarted(agent), false);
  await nvim.keys("r");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  const [first, second, written, third] = toolResults(agent.server);
  for (const text of [first, second, third]) assert.match(text ?? "", NOT_RUNNING);
  assert.doesNotMatch(written ?? "", /diagnostics/i);
  assert.equal(await isStarted(agent), false);
  await assert.rejects(Deno.stat(project.path("linted")), Deno.errors.NotFound);
  assert.deepEqual(agent.server.problems, []);
});

Deno.test("with a yes it is started, once for the session", async () => {
  await using agent = await start(turn(DIAGNOSE, DIAGNOSE));
  const { nvim } = agent;
  await nvim.command("Agent look");
  await nvim.waitForScreen("a once");
  await nvim.keys("a");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  assert.equal(await isStarted(agent), true);
  assert.equal(await agent.project.read(CANARY), "x\n");
});

Deno.test("what was written is checked by running servers only, and the user is never asked for it", async () => {
  await using agent = await start(turn(WRITE, ["write_file", { path: "b.fake", content: "changed\n" }]));
  await ask(agent);
  assert.equal(await isStarted(agent), false);
});

Deno.test("lsp_start: never asks nobody, always starts unasked, but in no mode that changes nothing", async () => {
  for (const [option, mode] of [["never", "agent"], ["always", "ask"], ["always", "agent"]] as const) {
    await using agent = await start(turn(DIAGNOSE), `tools = { lsp_start = "${option}" }`);
    await agent.nvim.command(`Agent mode ${mode}`);
    const [text] = await ask(agent);
    const starts = option === "always" && mode === "agent";
    if (!starts) assert.match(text ?? "", NOT_RUNNING);
    assert.equal(await isStarted(agent), starts);
  }
});

Deno.test("a stopped turn is no answer: the next one asks again", async () => {
  await using agent = await start(turn(DIAGNOSE));
  const { nvim, server } = agent;
  await nvim.command("Agent look");
  await nvim.waitForScreen("a once");
  await nvim.command("Agent stop");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  server.play(turn(DIAGNOSE));
  await nvim.command("Agent again");
  await nvim.waitForScreen("a once");
  assert.equal(await isStarted(agent), false);
});

Deno.test("a file that was loaded without its autocommands gets them when the user opens it", async () => {
  await using agent = await start(turn(DIAGNOSE), `tools = { lsp_start = "never" }`);
  await ask(agent);
  await agent.nvim.command("edit a.fake");
  await agent.nvim.waitFor(`vim.fn.filereadable("linted") == 1 and vim.bo.filetype == "fake"`);
  await agent.nvim.waitFor(`vim.fn.filereadable("${CANARY}") == 1`);
});
