/** Money: shown while it is spent, and asked about over a cap. Whole program. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { inOneNeovim } from "../support/shared_agent.ts";

const PRICES = "models = { scripted = { price = { input = 100, output = 1000 } } }";

const test = inOneNeovim({ script: "", options: "sessions = { title = false }" });

/** The tests share a program; each has an engine with its own options. */
async function begin({ nvim, server }: RunningAgent, script: string, options: string): Promise<void> {
  server.play(script);
  await nvim.lua(`require("agent").setup({ ${options} })`);
  await nvim.command("Agent go");
}

// First: money by the day counts what all tests before have cost.
test("a turn's cap of tokens, and money by the day over several engines", async (agent) => {
  const script = `call read_file {"path": "README.md"}\nusage 900 200\n---\nsay Done here.\nusage 900 100`;
  await begin(agent, script, `${PRICES}, limits = { max_tokens_per_turn = 1000 }`);
  await agent.nvim.waitForScreen("this turn has used 1100 tokens; the cap is 1000");
  await agent.nvim.command("Agent approve");
  await agent.nvim.waitForScreen("Done here.");
  await agent.nvim.waitForScreen("· ready");

  // Another configuration is another engine; what the first one has cost today counts.
  agent.server.play("new-history\nsay Never.");
  await agent.nvim.lua(`require("agent").setup({ ${PRICES}, limits = { max_cost_per_day = 0.1 } })`);
  await agent.nvim.command("Agent new");
  await agent.nvim.command("Agent again");
  await agent.nvim.waitForScreen("this day has cost 0.48; the cap is 0.10");
});

test("over a cap nothing is sent before the user agrees; no stops the turn, and the next message asks again", async (agent) => {
  const script = `
call read_file {"path": "README.md"}
usage 10000 1000
---
say This is the answer.
usage 10000 100
---
say Later.
usage 100 10
`;
  const { nvim, server } = agent;
  await begin(agent, script, `${PRICES}, limits = { max_cost_per_session = 1.5 }`);
  await nvim.waitForScreen("this session has cost 2.00; the cap is 1.50");
  assert.equal(server.requests.length, 1);
  await nvim.waitForScreen("2.00 · waiting for you");
  await nvim.command("Agent approve");
  await nvim.waitForScreen("This is the answer.");
  await nvim.waitForScreen("3.10 · ready");

  await nvim.keys("iMore<Esc><CR>");
  await nvim.waitForScreen("this session has cost 3.10");
  // A reason is asked for; none is given.
  await nvim.keys(":Agent reject<CR>");
  await nvim.keys("<CR>");
  await nvim.waitForScreen("stopped at the cap");
  await nvim.waitForScreen("· ready");
  assert.equal(server.requests.length, 2);
  assert.deepEqual(server.problems, []);
});

test("at the limit of steps it asks: yes goes on, no ends the turn and says so", async (agent) => {
  const read = (path: string) => `call read_file {"path": "${path}"}`;
  const script = `${read("README.md")}\n---\n${read("src/greet.ts")}\n---\n${read("none.ts")}\nrepeat`;
  const { nvim, server } = agent;
  await begin(agent, script, "limits = { max_iterations = 1 }");
  await nvim.waitForScreen("1 step done. Go on for 1 more?");
  assert.equal(server.requests.length, 1);
  await nvim.command("Agent approve");
  await nvim.waitForScreen("2 steps done. Go on for 1 more?");
  await nvim.keys(":Agent reject<CR>");
  await nvim.keys("<CR>");
  await nvim.waitForScreen('Stopped at the limit of steps. Send "continue" to go on.');
  await nvim.waitForScreen("· ready");
  assert.equal(server.requests.length, 2);
  assert.deepEqual(server.problems, []);
});

test("a turn that ends without a word shows a summary, or what was done", async (agent) => {
  const write = (path: string) => `call write_file {"path": "${path}", "content": "x\\n"}`;
  const script = [
    write("a.txt"),
    "stop end_turn",
    "expect Your answer was empty\nsay I wrote a.txt.",
    write("b.txt"),
    "stop end_turn",
    "stop end_turn",
  ].join("\n---\n");
  const { nvim, server } = agent;
  await begin(agent, script, "");
  await nvim.waitForScreen("I wrote a.txt.");
  await nvim.waitForScreen("· ready");
  await nvim.keys("iMore<Esc><CR>");
  await nvim.waitForScreen("Done: write b.txt +1.");
  await nvim.waitForScreen("· ready");
  assert.deepEqual(server.problems, []);
});
