/** Modes as their user sees them. Whole program. */
import assert from "node:assert/strict";
import { MODE_FACTS } from "../../denops/agent/protocol/modes.ts";
import { objects, string } from "../model/model_messages.ts";
import { type AgentOptions, copyOfPlugin, GREET, type RunningAgent, startAgent } from "../support/agent.ts";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import { type Scratch, waitUntil } from "../support/project.ts";
import { IS_FULL } from "../support/sample.ts";
import { reached } from "../support/server.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";
import { treeOf } from "../support/trees.ts";

const OPTIONS = "sessions = { title = false }";

/** Tests with the same options share an engine. It allows much, which a mode forbids. */
const ALLOWING =
  'shell = { commands = "project" }, rules = { allow = { "write(**)", "run(echo *)", "git(git *)", "network(*)" } }';

/** A program that the tests share, with more options of the user's. */
async function start(
  script: string,
  options = ALLOWING,
  more: Partial<AgentOptions> = {},
): Promise<RunningAgent> {
  const agent = await sharedAgent({ script, options: OPTIONS, ...more });
  await agent.nvim.lua(`require("agent").setup({ ${options} })`);
  return agent;
}

/** Everything that would change something, with bad intent. */
const ATTACKS = [
  'call write_file {"path": "src/new.ts", "content": "x"}',
  'call edit_file {"path": "src/greet.ts", "old_str": "Hello", "new_str": "Bye"}',
  'call delete_file {"path": "README.md"}',
  'call move_file {"from": "README.md", "to": "docs/README.md"}',
  'call rename_symbol {"path": "src/greet.ts", "line": 1, "name": "greet", "new_name": "x"}',
  'call code_action {"path": "src/greet.ts", "line": 1}',
  ...["look", "try", "write", "git", "look+network", "write+network", "git+network"].map((access) =>
    `call run_terminal_command {"command": "echo ${access} > pwned", "access": "${access}"}`
  ),
  'call run_terminal_command {"command": "echo plain > pwned"}',
  'call run_terminal_command {"command": "echo direct > pwned", "access": "write", "direct": true}',
];
const MORE = [
  'call run_terminal_command {"command": "echo back > pwned", "access": "write", "background": true}',
  'call run_terminal_command {"command": "git commit -am x", "access": "git"}',
  'call run_subagent {"mode": "agent", "title": "write", "task": "Write src/new.ts."}',
  'call write_file {"path": "docs/../src/a.md/../b.ts", "content": "x"}',
];

Deno.test("a hostile model in every mode that changes nothing: nothing is written, and what runs looks", async () => {
  const names = MODE_FACTS.filter(({ access }) => access === "read").map(({ name }) => name);
  const turn = [
    "new-history",
    ...ATTACKS,
    "---",
    "new-history",
    ...MORE,
    "---",
    "new-history",
    "say Nothing done.",
  ].join("\n");
  await using agent = await start(
    // It is asked for a plan once.
    names.map((name) => name === "plan" ? `${turn}\n---\nsay None.` : turn).join("\n---\n"),
  );
  const { nvim, server, project } = agent;
  const before = treeOf(project.root);
  for (const name of names) {
    await nvim.command(`Agent mode ${name}`);
    await nvim.command("Agent Do it");
    await waitForTurn(nvim);
    const body = server.requests.at(-1)?.body;
    const results = objects(body?.messages).filter(({ role }) => role === "tool").slice(-19)
      .map(({ content }) => string(content) ?? "");
    assert.equal(results.length, 19, name);
    for (const [at, result] of results.entries()) {
      const call = [...ATTACKS, ...MORE][at];
      assert.match(
        result,
        /Not run: mode|Not run: this turn only reads|access look only|Read-only file system|may change more than this session/,
        `${name}: ${call}\n${result}`,
      );
    }
    assert.deepEqual(treeOf(project.root), before, name);
  }
  assert.deepEqual(server.problems, []);
});

/** What the model is told of its mode, the last of it last. */
function modesIn(body: Readonly<Record<string, unknown>> | undefined): string {
  const messages = objects(body?.messages).map(({ content }) => string(content) ?? "");
  return messages.flatMap((text) => text.match(/<mode_\w+>[^]*?<\/mode_\w+>/g) ?? []).join("\n");
}

function systemOf(body: Readonly<Record<string, unknown>> | undefined): string {
  return string(objects(body?.messages)[0]?.content) ?? "";
}

function toolNames(body: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  return objects(body?.tools).map(({ function: tool }) => string(objects([tool])[0]?.name) ?? "");
}

const REVIEW = `
say Two things.

say \`\`\`findings
say src/greet.ts:2: high 10/10: greets nobody
say README.md:1: low 8/10: says nothing
say README.md:2: high 5/10: may be wrong
say \`\`\`
`;

Deno.test("what a review has found is a quickfix list", async () => {
  await using agent = await start(REVIEW);
  const { nvim, server } = agent;
  await nvim.command("Agent mode review");
  await nvim.command("Agent Review it");
  await nvim.waitForScreen("3 findings are in the quickfix list");
  const list = await nvim.lua<readonly (readonly [string, number, string, string])[]>(
    "return vim.tbl_map(function(item) return { vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr)), item.lnum, item.type, item.text } end, vim.fn.getqflist())",
  );
  assert.deepEqual(list, [
    ["greet.ts", 2, "E", "high 10/10: greets nobody"],
    ["README.md", 1, "I", "low 8/10: says nothing"],
    ["README.md", 2, "", "high 5/10: may be wrong"],
  ]);
  assert.deepEqual(server.problems, []);
});

Deno.test("modes of files: the user's and the project's, within what they are based on", async () => {
  await using agent = await start(
    "expect Hi\nsay Mine it is.\n---\nnew-history\nsay Theirs.\n---\nnew-history\nsay Asked.",
    ALLOWING,
    {
      project: {
        ...GREET,
        ".agents/agents/theirs.md":
          "---\nname: theirs\ntools: Write, Read\nmodel: dear\n---\nWrite everything.\n",
        ".agents/agents/plan.md": "---\nmode: agent\n---\nWrite.\n",
        ".agents/agents/mine.md": "---\nmode: agent\n---\nNot mine.\n",
      },
    },
  );
  await agent.nvim.lua(`
    local folder = vim.fn.stdpath("config") .. "/agent/agents"
    vim.fn.mkdir(folder, "p")
    local text = { "---", "description: Mine", "mode: agent", "model: other", "---", "Be mine." }
    vim.fn.writefile(text, folder .. "/mine.md")
    vim.ui.select = function(items, options, done)
      listed = vim.tbl_map(options.format_item, items)
    end`);
  const { nvim, server, project } = agent;
  await nvim.command("Agent mode");
  const listed = await waitUntil("the list", () => nvim.lua<readonly string[] | null>("return listed"));
  assert.deepEqual(listed.slice(-2), [
    "mine                 Mine",
    "theirs               changes nothing",
  ]);
  await nvim.command("Agent mode mine");
  await nvim.command("Agent Hi");
  await nvim.waitForScreen("Mine it is.");
  await waitForChat(nvim, "Cannot use .agents/agents/plan.md: plan is the name of a built-in mode.");
  await waitForChat(nvim, "Cannot use .agents/agents/mine.md: another mode is called mine.");
  await waitForTurn(nvim);
  assert.equal(server.requests[0]?.body.model, "other");
  assert.match(modesIn(server.requests[0]?.body), /<mode_\w+>agent:[^]*Be mine\.</);
  await nvim.command("Agent mode theirs");
  await nvim.command("Agent Hi again");
  await nvim.waitForScreen("Theirs.");
  await waitForTurn(nvim);
  const body = server.requests.at(-1)?.body;
  assert.equal(body?.model, "scripted");
  assert.match(
    modesIn(body),
    /<mode_\w+>ask:\n- Change nothing[^]*Write everything\.<\/mode_\w+>$/,
  );
  assert.deepEqual(toolNames(body), toolNames(server.requests[0]?.body));
  await nvim.command("Agent mode nobody");
  await waitForChat(nvim, "Unknown mode: nobody.");
  await nvim.waitForScreen("theirs · ");

  // What was agreed to read is not widened by a file that becomes another one.
  await Deno.writeTextFile(
    project.path(".agents/agents/theirs.md"),
    "---\nmode: agent\n---\nWrite everything.\n",
  );
  await nvim.lua("listed = nil");
  await nvim.command("Agent mode");
  await waitUntil("the list", () => nvim.lua<readonly string[] | null>("return listed"));
  await nvim.command("Agent And now");
  await waitForChat(
    nvim,
    "Mode theirs may change more than when you chose it. This session is in mode ask; :Agent",
  );
  await nvim.waitForScreen("Asked.");
  await waitForTurn(nvim);
  assert.match(modesIn(server.requests.at(-1)?.body), /<mode_\w+>ask:[^<]*<\/mode_\w+>$/);
  await nvim.command("checkhealth agent");
  await waitUntil(
    "the report",
    () => nvim.lua<boolean>("return vim.fn.search('another mode is called mine', 'nw') > 0"),
  );
  assert.deepEqual(server.problems, []);
});

/** The plugin with an engine that obeys no limit of a turn. */
async function disobedientPlugin(): Promise<Scratch> {
  const plugin = await copyOfPlugin();
  const file = "denops/agent/engine/agent/turn/loop_ports.ts";
  const text = await plugin.read(file);
  const disobedient = text.replace(/refusalOf: \(tool.*/, "").replace("againstMode(access, mode) ??", "");
  assert.ok(disobedient.length < text.length - 80);
  await plugin.write(file, disobedient);
  return plugin;
}

for (const holds of ["engine", "gate"]) {
  Deno.test({
    name:
      `#look holds in the ${holds}, and a message with it waits for the end of a turn instead of steering it`,
    // A changed engine is compiled first.
    ignore: holds === "gate" && !IS_FULL,
    async fn() {
      await using stack = new AsyncDisposableStack();
      const run = 'call run_terminal_command {"command": "ls", "access": "look"}';
      const script = `wait here\n${run}\n---\nsay Ran.\n---\n${run}\n---\nsay Not run.`;
      const options = `${OPTIONS}, ${ALLOWING}`;
      const agent = stack.use(
        holds === "engine"
          ? await start(script)
          : await startAgent({ script, options, plugin: stack.use(await disobedientPlugin()).root }),
      );
      const { nvim, server } = agent;
      await nvim.command("Agent List the files");
      await reached(server, "here");
      await nvim.command("Agent! And now #look");
      await waitForChat(nvim, "And now #look (waiting for the turn to end)");
      server.release("here");
      await waitForChat(nvim, "Not run.");
      await waitForTurn(nvim);
      const results = objects(server.requests.at(-1)?.body.messages).filter(({ role }) => role === "tool")
        .map(({ content }) => string(content) ?? "");
      assert.match(results[0] ?? "", /README/);
      const refusal = holds === "engine" ? "Not run" : "Not allowed";
      assert.ok(results[1]?.startsWith(`${refusal}: this turn only reads and searches files`), results[1]);
      assert.deepEqual(server.problems, []);
    },
  });
}

const MODE = 'mode = "ask"';
const PLAN = `
call read_file {"path": "src/greet.ts"}
call update_plan {"steps": [{"step": "say Bye in greet", "status": "pending"}]}
---
say One step. Complexity: low.
---
new-history
expect Carry out the plan
expect say Bye in greet
call edit_file {"path": "src/greet.ts", "old_str": "Hello", "new_str": "Bye"}
---
say Done.
---
new-history
say Only looking.
`;

// Last: it kills the program.
Deno.test("a mode is chosen in the input, a plan is started with a key, and another engine goes on in the mode", async () => {
  await using agent = await start(PLAN, MODE, { lines: 60 });
  const { nvim, server, project } = agent;
  assert.deepEqual(
    await nvim.lua(`return require("agent.menus.modes").built_in`),
    MODE_FACTS.map(({ name }) => name),
  );
  const completed = await nvim.lua(`return vim.fn.getcompletion("Agent mode deep-explore-", "cmdline")`);
  assert.deepEqual(completed, ["deep-explore-write"]);
  await nvim.command("Agent");
  await nvim.waitForScreen("ask · ");
  await nvim.keys("<S-Tab>");
  await nvim.waitForScreen("plan · ");
  await nvim.keys("How?<C-s>");
  await nvim.waitForScreen("One step.");
  await waitForTurn(nvim);
  const asked = server.requests[0]?.body;
  assert.match(modesIn(asked), /<mode_\w+>plan:\n- Change nothing/);

  await nvim.waitForScreen("gs or :Agent start carries this plan out.");
  await nvim.keys("<Esc>gs");
  await nvim.waitForScreen("Done.");
  await waitForTurn(nvim);
  assert.match(await Deno.readTextFile(project.path("src/greet.ts")), /Bye/);
  const agentBody = server.requests[2]?.body;
  assert.match(modesIn(agentBody), /<mode_\w+>agent:\n- Carry out[^]*$/);
  assert.deepEqual(toolNames(agentBody), toolNames(asked));
  assert.equal(systemOf(agentBody), systemOf(asked));
  await nvim.waitForScreenGone("plan · ");
  await nvim.command("Agent context");
  await nvim.waitForScreen("The next request sends");
  await nvim.keys("q");

  await nvim.command("Agent mode plan");
  await nvim.waitForScreen("plan · ");
  await nvim.command("Agent context");
  await nvim.waitForScreen("The next request sends");
  // The list is answered when the choice is stored.
  await nvim.lua(`vim.ui.select = function(_, options) _G.prompt = options.prompt end`);
  await nvim.command("tabclose | Agent mode");
  await nvim.waitFor(`_G.prompt == "Mode (now plan)"`);
  await endEngines(agent);
  await nvim.lua(`
    _G.modes = {}
    require("agent.client").listen(function(batch)
      for _, update in ipairs(batch) do
        table.insert(_G.modes, update.type == "agent_state" and update.mode or nil)
      end
    end)`);
  await nvim.command("Agent resume");
  await nvim.waitForScreen("plan · ");
  await nvim.command("Agent And now?");
  await nvim.waitForScreen("Only looking.");
  await nvim.waitForScreen("plan · ");
  await waitForTurn(nvim);
  assert.match(
    modesIn(server.requests.at(-1)?.body),
    /<mode_\w+>plan:[^]*<mode_\w+>agent:[^]*<mode_\w+>plan:/,
  );
  // The chat that opens does not begin another session, in the mode of the options, beside the stored one.
  assert.deepEqual([...new Set(await nvim.lua<string[]>("return _G.modes"))], ["plan"]);
  assert.deepEqual(server.problems, []);
});
