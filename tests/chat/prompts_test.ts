/** Prompt templates, in a real Neovim: what reaches the model, what is shown of it, and what completes. */
import assert from "node:assert/strict";
import { messagesOf } from "../model/model_messages.ts";
import { GREET, type RunningAgent, startAgent } from "../support/agent.ts";
import { transcript, waitForTurn } from "../support/chat.ts";

const PROJECT = {
  ...GREET,
  ".agents/commands/port.md":
    "---\ndescription: Port it\nargument-hint: [to]\n---\nPort this to $1. All: $ARGUMENTS",
  ".claude/commands/explain.md": "---\nallowed-tools: Bash(*)\n---\nExplain it to a child. $ARGUMENTS",
  ".claude/commands/two words.md": "It has no name.",
};

async function ask(agent: RunningAgent, command: string): Promise<string> {
  const { nvim, server } = agent;
  const before = server.requests.length;
  await nvim.command(command);
  await nvim.waitForScreen(() => server.requests.length > before);
  await waitForTurn(nvim);
  const body = server.requests.at(-1)?.body ?? {};
  return messagesOf("openai_chat", body).findLast(({ role }) => role === "user")?.text ?? "";
}

Deno.test("a message calls a prompt: the model is told what it stands for, the chat shows its name", async () => {
  await using agent = await startAgent({
    script: "say Done.\nrepeat",
    project: PROJECT,
    files: ["src/greet.ts"],
    options: "title = false",
  });
  const { nvim } = agent;
  const ported = await ask(agent, "Agent /port go now");
  assert.match(ported, /\/port go now\n\nWhat the user asks for .*:\n\nPort this to go\. All: go now/s);
  assert.deepEqual((await transcript(nvim)).slice(0, 2), ["/port go now", "▸ prompt port"]);
  const explained = await ask(agent, "Agent! explain");
  assert.match(explained, /Explain it to a child\./, "a project's file takes the place of our own");
  await nvim.lua(`
    local namespace = vim.api.nvim_create_namespace("test")
    local buffer = vim.fn.bufnr("greet.ts")
    vim.diagnostic.set(namespace, buffer, {
      { lnum = 0, col = 0, message = "first", severity = 1 },
      { lnum = 1, col = 0, message = "second", severity = 1 },
    })`);
  await nvim.command("wincmd p");
  await nvim.command("buffer greet.ts");
  const fixed = await ask(agent, "2,3Agent fix");
  assert.match(fixed, /Fix the problems that the diagnostics/);
  assert.match(fixed, /src\/greet\.ts:2 error second/);
  assert.doesNotMatch(fixed, /error first/, "of the range only");
  assert.match(fixed, /User's selected code from src\/greet\.ts:L2-L3/);
  assert.match(await ask(agent, "Agent /etc/passwd is odd"), /^(?!.*What the user asks for)/s);
  assert.match(await ask(agent, "Agent fix the tests now"), /fix the tests now/);
  await nvim.command("Agent");
  await nvim.keys("/");
  await nvim.waitForScreen(/\/port +\[to\] +Port it/);
  await nvim.waitForScreen("/tests");
  await nvim.keys("po<C-n><C-y> rust");
  assert.equal(await nvim.lua(`return require("agent.chat").current().input:text()`), "/port rust");
});
