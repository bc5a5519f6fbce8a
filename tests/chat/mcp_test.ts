/** MCP servers as users see them: approvals, calls, forms, resources, and servers that fail. */
import assert from "node:assert/strict";
import { objects, property, string } from "../model/model_messages.ts";
import type { RunningAgent } from "../support/agent.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { MCP_PROGRAM, programWords } from "../support/mcp_program.ts";
import { waitUntil } from "../support/project.ts";
import { inOneNeovim } from "../support/shared_agent.ts";

const words = programWords("server.js").map((word) => JSON.stringify(word)).join(", ");

const test = inOneNeovim({
  script: "",
  group: "mcp",
  hasOwnState: true,
  project: { "server.js": MCP_PROGRAM, "a.txt": "apple\n", ".env": "KEY=1\n" },
  options: `sessions = { title = false }, mcp = { servers = { paper = { cmd = { ${words} } } } }`,
});

/** The results of calls that the newest request has. */
function results({ server }: RunningAgent): readonly string[] {
  const messages = objects(server.requests.at(-1)?.body.messages);
  return messages.filter(({ role }) => role === "tool").map(({ content }) => string(content) ?? "");
}

/** The names of the tools in the newest request. */
function offered({ server }: RunningAgent): readonly string[] {
  return objects(server.requests.at(-1)?.body.tools).map((tool) =>
    string(property(tool.function, "name")) ?? ""
  );
}

/** Starts a session whose server is ready before its first request is answered. */
async function begin(agent: RunningAgent, ...answers: readonly string[]): Promise<void> {
  const { nvim, server } = agent;
  server.play([`wait started\n${answers[0]}`, ...answers.slice(1)].join("\n---\n"));
  await nvim.lua(`vim.ui.select = function(items, options, done)
    _G.listed = table.concat(vim.tbl_map(options.format_item or tostring, items), "\\n")
    done(nil)
  end`);
  await nvim.command("Agent Use the server");
}

async function untilReady({ nvim, server }: RunningAgent): Promise<void> {
  await waitUntil("the server is ready", async () => {
    await nvim.command("Agent mcp");
    return (await nvim.lua<string>(`return _G.listed or ""`)).includes("paper · ready");
  });
  server.release("started");
}

/** Waits for an approval with these texts, and gives it. */
async function approve(nvim: ChildNvim, ...texts: readonly string[]): Promise<void> {
  await nvim.waitForScreen((screen) =>
    texts.every((text) => screen.includes(text)) && /a once|a approve/.test(screen)
  );
  await nvim.keys("a");
  await nvim.waitForScreen((screen) => !texts.every((text) => screen.includes(text)));
}

test("servers start after approval, calls ask, forms are answered, and a list of tools stays", async (agent) => {
  const { nvim, server } = agent;
  await begin(
    agent,
    'call call_tool {"name":"paper__echo","arguments":{"text":"hello"}}',
    'call call_tool {"name":"paper__look","arguments":{"path":"a.txt"}}',
    'call call_tool {"name":"paper__look","arguments":{"path":".env"}}',
    'call call_tool {"name":"paper__ask"}',
    'call call_tool {"name":"paper__slow"}',
  );
  await approve(nvim, "start the MCP server paper", "a approve");
  await untilReady(agent);
  await approve(nvim, "echo of the server paper", "text: hello");
  await approve(nvim, "look of the server paper", "path: a.txt");
  await approve(nvim, "path: .env");
  await approve(nvim, "ask of the server paper");
  await nvim.waitForScreen(/Whose order is it\?[^]*a type an answer/);
  await nvim.keys("a");
  await nvim.keys("Ada<CR>");
  await approve(nvim, "slow of the server paper");
  await nvim.waitForScreen("50 % halfway");
  const [echo, look, hidden = "", order] = results(agent);
  assert.match(
    echo ?? "",
    /^Result of the MCP server paper\. Strangers wrote .*\n<<< (MCP result \w{16})\nYou said hello\n>>> \1\nEnd of the data/,
  );
  assert.match(look ?? "", /\napple/);
  assert.doesNotMatch(hidden, /KEY/);
  assert.match(order ?? "", /The order is Ada's/);
  const [first] = server.requests;
  assert.deepEqual(server.requests.at(-1)?.body.tools, first?.body.tools, "the list stays");
  await nvim.command("Agent stop");
  await nvim.waitForScreen("· ready");

  await nvim.command("Agent new");
  server.play(
    'call paper__die\n---\ncall find_tools\n---\ncall paper__echo {"text":"again"}\n---\nsay Done.',
  );
  await nvim.command("Agent Go on");
  await approve(nvim, "die of the server paper");
  await approve(nvim, "echo of the server paper", "text: again");
  await nvim.waitForScreen("Done.");
  const tools = ["ask", "die", "echo", "look", "slow"].map((name) => `paper__${name}`);
  assert.deepEqual(offered(agent).filter((name) => name.includes("__")).sort(), tools);
  const [died, , again] = results(agent);
  assert.match(died ?? "", /The MCP server paper ended during the call: exit code 3: out of paper/);
  assert.match(again ?? "", /You said again/);

  server.play("say Good day.");
  await nvim.command("Agent open");
  await nvim.keys("/paper:");
  await waitUntil("the server's prompt is in the menu", async () => {
    const items = await nvim.lua<readonly string[]>(
      `return vim.tbl_map(function(one) return one.word .. " " .. one.kind end, vim.fn.complete_info({ "items" }).items)`,
    );
    return items.includes("/paper:greet mcp");
  });
  await nvim.keys("greet Ada with @paper:note:1<Esc><CR>");
  await nvim.waitForScreen("Good day.");
  const request = JSON.stringify(server.requests.at(-1)?.body.messages);
  assert.match(request, /Greet Ada with .* politely\./);
  assert.match(request, /Resource of the MCP server paper, as data: note:1.*The note says 42\./);
});
