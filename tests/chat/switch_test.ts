/** Another model, and another provider, in the middle of a session. Whole program. */
import assert from "node:assert/strict";
import { PRESETS } from "../../denops/agent/protocol/providers.ts";
import { ModelServer } from "../model/model_server.ts";
import { type RunningAgent, SECRET } from "../support/agent.ts";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { waitUntil } from "../support/project.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";

const FIRST = `
call read_file {"path": "src/greet.ts"}
---
call edit_file {"path": "src/greet.ts", "old_str": "Hello", "new_str": "Good day"}
---
say Said politely.
---
new-history
say Still the first provider.
`;
const SECOND = `
expect And shorter
call edit_file {"path": "src/greet.ts", "old_str": "Good day", "new_str": "Hi"}
---
say Shorter.
---
new-history
say Going on.
---
new-history
say From the copy.
`;

/** Menus are answered by this; the lines of the last one are kept. */
const PICK = `
vim.ui.select = function(items, options, done)
  _G.menu = { prompt = options.prompt, lines = vim.tbl_map(options.format_item, items) }
  local pick = _G.pick
  for _, item in ipairs(items) do
    if item.name == pick then
      return done(item)
    end
  end
  done(nil)
end`;

function own(name: string, wire: string, url: string, key = "TEST_API_KEY"): string {
  return `${name} = { wire = "${wire}", base_url = "${url}", api_key = "env:${key}" }`;
}

interface Menu {
  readonly prompt: string;
  readonly lines: readonly string[];
}

async function menu(nvim: ChildNvim, command: string, pick = ""): Promise<Menu> {
  await nvim.lua("_G.menu, _G.pick = nil, ...", pick);
  await nvim.command(command);
  return await waitUntil("the menu", () => nvim.lua<Menu | null>("return _G.menu"));
}

const RUNNING = `
call read_file {"path": "src/greet.ts"}
wait gate
---
say First done.
`;
const SUBAGENT = `
say Second.
---
call run_subagent {"title": "Endless", "task": "endless task", "background": true}
---
say It looks.
---
when endless task
new-history
wait subagent
say Looked.
`;

/** What the first provider lists. */
const LISTED = [
  { id: "scripted", context_window: 32_768 },
  {
    id: "large",
    context_length: 200_000,
    supported_parameters: ["tools"],
    pricing: { prompt: "0.000001", completion: "0.000002" },
  },
];
const OTHER_LISTED = [{
  type: "model",
  id: "claude-x",
  max_input_tokens: 100_000,
  capabilities: { image_input: { supported: true } },
}];

interface World {
  readonly agent: RunningAgent;
  readonly first: ModelServer;
  readonly second: ModelServer;
  /** Lua fields of the user's options. */
  options(...providers: readonly string[]): string;
  readonly test: string;
  readonly other: string;
}

Deno.test("while a turn runs another provider waits for its end, what is queued goes there; sub-agents at work keep the session; a session changes its model, then its provider, with all calls, results and edits; and is found so again", async () => {
  await using first = await ModelServer.start(RUNNING, { secrets: [SECRET], model: { listed: LISTED } });
  await using second = await ModelServer.start(SUBAGENT, {
    secrets: [SECRET],
    model: { listed: OTHER_LISTED },
  });
  const test = own("test", "openai_chat", `${first.url}/v1`);
  const other = own("other", "anthropic_messages", second.url);
  const broken = own("broken", "openai_chat", second.url, "NOT_SET_KEY");
  const dead = own("dead", "openai_chat", "http://127.0.0.1:65529/v1");
  const options = (...providers: readonly string[]) =>
    `sessions = { title = false }, models = { ["claude-x"] = { price = { input = 3, output = 15 } } }, providers = { ${
      providers.join(", ")
    } }`;
  await using agent = await sharedAgent({
    script: "",
    options: options(test, other, broken, dead),
    lua: PICK,
    lines: 40,
    hasOwnState: true,
  });
  const world = { agent, first, second, options, test, other };
  await changeWhileWorking(world);
  await agent.nvim.lua("vim.ui.select = _G.answer");
  await agent.nvim.lua(`vim.iter(require("agent.chat").list()):each(require("agent.chat").close)`);
  first.restart(FIRST);
  second.restart(SECOND);
  await changeModel(world);
  await changeProvider(world);
  await resumeElsewhere(world);
});

async function changeWhileWorking({ agent: { nvim }, first, second }: World): Promise<void> {
  await nvim.lua("_G.answer, vim.ui.select = vim.ui.select, _G.before_tests.ui.select");
  await nvim.command("Agent");
  await nvim.keys("<Esc>:Agent model<CR>");
  await nvim.waitForScreen((screen) =>
    screen.includes("Model of test (now scripted)") && screen.includes("1: * scripted")
  );
  await nvim.keys("<CR>");
  await nvim.command("Agent provider dead");
  await waitForChat(nvim, "Cannot ask dead for its models at http://127.0.0.1:65529/v1: connection refused.");
  // A session without a message is open, which nothing is stored of.
  await nvim.lua(`vim.ui.select = function() end; require("agent").tools()`);
  await nvim.waitFor(`require("agent.chat").current().timeline.session ~= nil`);
  await nvim.command("Agent provider other claude-x");
  await nvim.waitForScreen("claude-x · ");
  await nvim.command("Agent provider default");
  await nvim.waitForScreen("scripted · ");
  assert.doesNotMatch(nvim.text(), /not stored/);
  await nvim.command("Agent Read");
  await first.reached("gate");
  await nvim.command("Agent provider other claude-x");
  await waitForChat(nvim, "After this turn the session continues with other.");
  await nvim.command("Agent And then?");
  await nvim.keys("ia draft<Esc>");
  first.release("gate");
  await waitForChat(nvim, "First done.");
  await waitForChat(nvim, "Second.");
  await nvim.waitForScreen("claude-x · ");
  await waitForTurn(nvim);
  assert.equal(first.requests.length, 2);
  await nvim.waitForScreen("a draft");

  await nvim.command("Agent Look around");
  await waitForChat(nvim, "It looks.");
  await waitForTurn(nvim);
  await nvim.command("Agent provider default");
  await waitForChat(nvim, "Sub-agents of this session are at work. `:Agent agents` stops them.");
  await nvim.waitForScreen("claude-x · ");
  second.release("subagent");
  assert.deepEqual([...first.problems, ...second.problems], []);
}

async function changeModel({ agent: { nvim }, first }: World): Promise<void> {
  assert.deepEqual(await nvim.lua(`return require("agent.menus.models").providers`), Object.keys(PRESETS));

  await nvim.command("Agent");
  const models = await menu(nvim, "Agent model");
  assert.ok(models.lines.every((line) => line.length <= 76), "80 columns");
  assert.equal(models.prompt, "Model of test (now scripted)");
  assert.deepEqual(models.lines, ["* scripted  33k", "- large     200k · $1/$2 · tools"]);
  const completed = await nvim.lua(`return vim.fn.getcompletion("Agent model la", "cmdline")`);
  assert.deepEqual(completed, ["large"]);
  await nvim.command("Agent model larg");
  await waitForChat(nvim, 'test has no model "larg". Near: large.');
  await nvim.command("Agent model large");
  await nvim.waitForScreen("large · ready");
  await nvim.command("Agent Make it polite");
  await waitForTurn(nvim);
  await waitForChat(nvim, "Said politely.");
  assert.deepEqual(first.requests.map(({ body }) => body.model), ["large", "large", "large"]);
  await nvim.waitForScreen("of 200k tokens");
}

async function changeProvider({ agent: { nvim, project }, first, second }: World): Promise<void> {
  const providers = await menu(nvim, "Agent provider");
  assert.equal(providers.prompt, "Provider (now test)");
  assert.deepEqual(providers.lines.slice(0, 3), [
    "- dead        key from TEST_API_KEY",
    "- other       key from TEST_API_KEY",
    "* test        key from TEST_API_KEY",
  ]);
  assert.ok(providers.lines.includes("- broken      NOT_SET_KEY is not set"));
  assert.ok(providers.lines.includes("- groq        GROQ_API_KEY is not set"));
  assert.ok(providers.lines.every((line) => line.length <= 76), "80 columns");

  await nvim.command("Agent provider broken any");
  await waitForChat(nvim, "Cannot use broken: NOT_SET_KEY is not set.");
  await nvim.command("Agent provider nobody");
  await waitForChat(nvim, 'Unknown provider "nobody".');
  await nvim.waitForScreen("large · ");
  assert.equal((await menu(nvim, "Agent provider other", "claude-x")).prompt, "Model of other");
  await nvim.waitForScreen("claude-x · ");
  await nvim.command("Agent review");
  await nvim.waitFor("vim.fn.getqflist({ size = 0 }).size > 0");
  await nvim.command("cclose");
  await nvim.command("Agent And shorter");
  await waitForTurn(nvim);
  await waitForChat(nvim, "Shorter.");
  const [request] = second.requests;
  assert.equal(request?.body.model, "claude-x");
  assert.equal(request?.headers["x-api-key"], SECRET);
  const sent = JSON.stringify(request?.body.messages);
  for (
    const part of ['"tool_use"', '"name":"read_file"', '"name":"edit_file"', '"tool_result"', "Hello ${name}"]
  ) {
    assert.ok(sent.includes(part), `${part} in ${sent}`);
  }
  assert.match(await Deno.readTextFile(project.path("src/greet.ts")), /Hi \$/);
  await nvim.command("Agent undo");
  await waitUntil(
    "the edit to be taken back",
    async () => (await Deno.readTextFile(project.path("src/greet.ts"))).includes("Good day"),
  );
  await nvim.command("Agent undo 1");
  await waitUntil(
    "the first provider's edit to be taken back",
    async () => (await Deno.readTextFile(project.path("src/greet.ts"))).includes("Hello"),
  );
  await nvim.command("Agent usage");
  await nvim.waitForScreen("claude-x");
  await nvim.waitForScreen("large");
  assert.deepEqual([...first.problems, ...second.problems], []);
}

/** Another engine goes on with the provider, and without it with that of the options. */
async function resumeElsewhere({ agent, first, second, options, test, other }: World): Promise<void> {
  const { nvim } = agent;
  await endEngines(agent);
  const dearer = options(test, other).replace("input = 3", "input = 3000");
  await nvim.lua(`require("agent").setup({ ${dearer} })`);
  await nvim.command("Agent resume");
  await nvim.waitForScreen("claude-x · ");
  await nvim.command("Agent And now?");
  await waitForChat(nvim, "Going on.");
  await waitForTurn(nvim);
  // The price of the options of this moment, for some thousand tokens.
  await nvim.waitForScreen(/of 100k tokens · \$[1-9]/);
  assert.equal(second.requests.length, 3);
  await nvim.command("Agent fork");
  await nvim.waitFor(`#require("agent.chat").list() == 2`);
  await nvim.command("Agent And here?");
  await waitForChat(nvim, "From the copy.");
  await waitForTurn(nvim);
  assert.equal(second.requests.at(-1)?.body.model, "claude-x");

  await endEngines(agent);
  await nvim.lua(`require("agent").setup({ ${options(test)} })`);
  await nvim.command("Agent resume");
  await waitForChat(nvim, "Going on.");
  await nvim.command("Agent And then?");
  await waitForTurn(nvim);
  await waitForChat(nvim, "This session continues with the provider of your options.");
  await waitForChat(nvim, "Still the first provider.");
  assert.equal(first.requests.at(-1)?.body.model, "scripted");
  assert.deepEqual([...first.problems, ...second.problems], []);
}
