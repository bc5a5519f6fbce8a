/** Another agent is chosen like a provider, by an option or for a session. */
import assert from "node:assert/strict";
import { foreignAgentNames } from "../../denops/agent/protocol/options/foreign_agents.ts";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import { waitUntil } from "../support/project.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const AGENTS = `agents = { missing = { title = "Missing", cmd = { "no-such-agent" } } }`;

Deno.test("a session changes to another agent and back; a missing program says how to get it", async () => {
  await using agent = await sharedAgent({
    script: "say Hello.\n---\nsay Back again.",
    options: `sessions = { title = false }, ${AGENTS}`,
    hasOwnState: true,
  });
  const { nvim, server } = agent;
  assert.deepEqual(
    await nvim.lua(`return require("agent.menus.models").agents`),
    foreignAgentNames({}),
  );
  const completed = (words: string) =>
    nvim.lua<readonly string[]>(`return vim.fn.getcompletion("Agent provider ${words}", "cmdline")`);
  assert.deepEqual(await completed("agen"), ["agent"]);
  assert.deepEqual(await completed("agent m"), ["missing"]);

  await nvim.command("Agent Hello");
  await waitForTurn(nvim);
  await nvim.command("Agent provider agent nobody");
  await waitForChat(nvim, 'Unknown agent "nobody". Known are: missing, claude');
  await nvim.command("Agent provider agent missing");
  await nvim.waitForScreen("Missing · ");
  await nvim.command("Agent model");
  await waitForChat(nvim, "Cannot start Missing: no-such-agent is not on the PATH outside of the project.");
  await nvim.command("Agent And now?");
  await waitForChat(nvim, "Cannot start Missing: no-such-agent is not on the PATH outside of the project.");
  await nvim.command("Agent provider default");
  await nvim.waitForScreen("scripted · ");
  await nvim.command("Agent And now?");
  await waitForChat(nvim, "Back again.");
  assert.equal(server.requests.length, 2);
});

Deno.test("with the option agent no provider is needed", async () => {
  await using agent = await sharedAgent({
    script: "",
    options: `sessions = { title = false }, agent = "missing", provider = "nowhere", ${AGENTS}`,
    hasOwnState: true,
  });
  const { nvim, server } = agent;
  await nvim.command("Agent Hello");
  await waitForChat(nvim, "Cannot start Missing: no-such-agent is not on the PATH outside of the project.");
  await nvim.waitForScreen("Missing · ");
  assert.equal(server.requests.length, 0);
  await nvim.command("checkhealth agent");
  const report = () =>
    nvim.lua<string>(`return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\\n")`);
  const text = await waitUntil("the report", async () => {
    const lines = await report();
    return lines.includes("provider: agent missing") ? lines : undefined;
  });
  assert.match(text, /missing: Cannot start Missing: no-such-agent is not on the PATH/);
  assert.ok(!text.includes("nowhere"), text);
  await nvim.command("bwipeout");
});

Deno.test("a new chat with another agent", async () => {
  await using agent = await sharedAgent({
    script: "say Hello.",
    options: `sessions = { title = false }, ${AGENTS}`,
    hasOwnState: true,
  });
  const { nvim, server } = agent;
  assert.deepEqual(await nvim.lua(`return vim.fn.getcompletion("Agent new mi", "cmdline")`), ["missing"]);
  await nvim.command("Agent Hello");
  await waitForTurn(nvim);
  await nvim.command("Agent new missing");
  await nvim.waitForScreen("Missing · ");
  await nvim.command("Agent And now?");
  await waitForChat(nvim, "Cannot start Missing: no-such-agent is not on the PATH outside of the project.");
  assert.equal(await nvim.lua(`return #require("agent.chat").list()`), 2);
  await nvim.command("Agent new");
  await nvim.waitForScreen("scripted · ");
  assert.equal(server.requests.length, 1);
});
