/** Review: what the agent has changed is marked in the buffers, to be kept or undone. Whole program. */
import assert from "node:assert/strict";
import { type AgentOptions, type RunningAgent, startAgent } from "./support/agent.ts";

const LINES = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`);
const FILE = LINES.join("\n") + "\n";

/** One turn that makes these calls, after reading the file. */
function turn(...calls: readonly string[]): string {
  return [`call read_file {"path": "a.txt"}`, ...calls, "say Done."].join("\n---\n");
}

function write(content: string, path = "a.txt"): string {
  return `call write_file ${JSON.stringify({ path, content })}`;
}

async function reviewed(options: Omit<AgentOptions, "script"> & { script: string }): Promise<RunningAgent> {
  const agent = await startAgent({ project: { "a.txt": FILE }, files: ["a.txt"], ...options });
  try {
    await agent.nvim.command("Agent! edit it");
    await agent.nvim.waitFor(`require("agent").status():find("ready$")`);
    return agent;
  } catch (error) {
    await agent[Symbol.asyncDispose]();
    throw error;
  }
}

Deno.test("x", async () => {
  await using agent = await reviewed({
    script: turn(write(FILE.replace("line 3\n", "LINE 3\nnew\n").replace("line 8\n", ""))),
  });
  console.log(agent.nvim.text());
  console.log(await agent.nvim.lua("return vim.fn.execute('messages')"));
});
