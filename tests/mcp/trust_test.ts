/** The question about an MCP server: once for exactly one entry, and nothing runs before the answer. */
import assert from "node:assert/strict";
import { objects, property, string } from "../model/model_messages.ts";
import type { RunningAgent } from "../support/agent.ts";
import { MCP_PROGRAM, programWords } from "../support/mcp_program.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { marked } from "../support/processes.ts";
import { waitUntil } from "../support/project.ts";
import { endEngines, inOneNeovim } from "../support/shared_agent.ts";

const FILE = ".mcp.json";
const [command, ...words] = programWords("server.js");

/** A project's file with one server. @param mark an argument, by which its process is found */
const fileWith = (mark: string) =>
  JSON.stringify({ mcpServers: { paper: { command, args: [...words, mark] } } });

const test = inOneNeovim({
  script: "",
  group: "mcp trust",
  hasOwnState: true,
  project: { "server.js": MCP_PROGRAM, [FILE]: fileWith("first-mark") },
  options: `sessions = { title = false }`,
});

const QUESTION = "start the MCP server paper";

function offered({ server }: RunningAgent): readonly string[] {
  const tools = objects(server.requests.at(-1)?.body.tools);
  return tools.map((tool) => string(property(tool.function, "name")) ?? "");
}

/** Neovim takes no key for an answer before the user has had time to see the question. */
async function answer(nvim: ChildNvim, key: string): Promise<void> {
  await nvim.command("stopinsert");
  await nvim.command("Agent approval");
  await nvim.waitForScreen("r reject");
  await nvim.keys(key);
}

async function send(agent: RunningAgent, text: string): Promise<void> {
  agent.server.play("say Done.");
  await agent.nvim.command(`Agent ${text}`);
}

test("nothing runs before the answer, and a refused entry is not asked about again", async (agent) => {
  const { nvim, server } = agent;
  const before = server.requests.length;
  await send(agent, "First");
  await nvim.waitForScreen((screen) => screen.includes(QUESTION) && screen.includes("From .mcp.json"));
  assert.deepEqual(await marked("first-mark"), []);
  assert.equal(server.requests.length, before, "the message waits for the user, not for a server");
  await nvim.command("Agent stop");
  await nvim.waitForScreenGone(QUESTION);
  await nvim.waitForScreen("· ready");
  await send(agent, "Once more");
  await nvim.waitForScreen(QUESTION);
  await answer(nvim, "r");
  await nvim.waitForScreen("Done.");
  assert.deepEqual(await marked("first-mark"), []);
  await send(agent, "Second");
  await waitUntil("the second message is sent", () => server.requests.length >= before + 2);
  await nvim.waitForScreen((screen) => screen.includes("Second") && !screen.includes(QUESTION));
});

test("an approved entry starts unasked in a new session, and a changed one asks again", async (agent) => {
  const { nvim, project } = agent;
  await nvim.lua(`vim.ui.select = function(items, options, done)
    local start = vim.iter(items):find(function(item) return (item.text or item.name) == "Start it" end)
    done(start or items[1])
  end`);
  await nvim.command("Agent open");
  await nvim.command("Agent mcp");
  await nvim.waitForScreen(QUESTION);
  await answer(nvim, "a");
  await waitUntil("the server runs", async () => (await marked("first-mark")).length > 0);
  await endEngines(agent);
  await nvim.command("Agent new");
  await send(agent, "Third");
  await waitUntil("the tools are offered", () => offered(agent).includes("paper__echo"));
  await project.write(FILE, fileWith("second-mark"));
  await endEngines(agent);
  await nvim.command("Agent new");
  await send(agent, "Fourth");
  await nvim.waitForScreen(QUESTION);
  assert.deepEqual(await marked("second-mark"), []);
  await answer(nvim, "a");
  await waitUntil("the changed server runs", async () => (await marked("second-mark")).length > 0);
});
