/** GitHub Copilot from the login to the bill. Whole program. */
import assert from "node:assert/strict";
import { say, waitForChat, waitForTurn } from "../support/chat.ts";
import { CopilotServer, OAUTH, USER_CODE } from "../support/copilot_server.ts";
import { waitUntil } from "../support/project.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const SCRIPT = `
call read_file {"path": "src/greet.ts"}
---
call edit_file {"path": "src/greet.ts", "old_str": "Hello", "new_str": "Salute"}
---
say It salutes.
`;

const PENDING = { error: "authorization_pending" };

/** What the browser would be opened with, and what is in the clipboard. */
const WORLD = `
_G.opened, _G.clipboard = {}, {}
vim.ui.open = function(url) table.insert(_G.opened, url) end
vim.g.clipboard = {
  name = "scripted",
  copy = { ["+"] = function(lines) _G.clipboard = lines end, ["*"] = function() end },
  paste = { ["+"] = function() return _G.clipboard end, ["*"] = function() return {} end },
}
`;
const RELOAD = `
vim.g.loaded_clipboard_provider = nil
vim.cmd.runtime("autoload/provider/clipboard.vim")
`;

/** @param options Lua fields in the place of the choice of Copilot */
async function start(server: CopilotServer, options = `model = nil, provider = "copilot", ${server.lua}`) {
  const agent = await sharedAgent({
    script: "",
    project: { "src/greet.ts": "export const greet = 'Hello';\n" },
    columns: 100,
    lines: 40,
    options: `sessions = { title = false }, ${options}`,
    lua: `${WORLD} ${RELOAD}`,
  });
  const end = async () => {
    await agent.nvim.lua(`vim.g.clipboard = nil ${RELOAD}`);
    await agent[Symbol.asyncDispose]();
  };
  return { ...agent, [Symbol.asyncDispose]: end };
}

Deno.test("copilot: log in by a code, work, see what is left, log out", async () => {
  const polls = [PENDING, ...Array(20).fill({ error: "slow_down", interval: 0.05 }), { access_token: OAUTH }];
  await using server = await CopilotServer.start({ script: SCRIPT, polls });
  await using agent = await start(server);
  const { nvim, project, state } = agent;
  await nvim.command("Agent");
  await say(nvim, "Salute instead of Hello");
  await waitForChat(nvim, "nobody is logged in. Run :Agent login copilot");

  await nvim.command("Agent login copilot");
  await nvim.waitForScreen(`Your code: ${USER_CODE}  (copied)`);
  await nvim.waitForScreen(`Enter it at ${server.web}/login/device`);
  assert.deepEqual(await nvim.lua("return _G.clipboard"), [USER_CODE]);
  await nvim.keys("<CR>");
  assert.deepEqual(await nvim.waitFor("#_G.opened > 0 and _G.opened"), [`${server.web}/login/device`]);
  await nvim.waitForScreen("agent: logged in to Copilot");
  await nvim.waitForScreenGone("Your code");
  assert.equal(((await Deno.stat(state.path("logins/copilot.json"))).mode ?? 0) & 0o777, 0o600);

  await nvim.command("Agent! Salute instead of Hello");
  await waitForChat(nvim, "It salutes.");
  await waitForTurn(nvim);
  assert.equal(await project.read("src/greet.ts"), "export const greet = 'Salute';\n");
  assert.deepEqual(server.chats.map(({ headers }) => headers["x-initiator"]), ["user", "agent", "agent"]);
  assert.deepEqual([...server.problems, ...server.model.problems], []);

  await nvim.command("checkhealth agent");
  const health = await nvim.lua<string>(
    "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')",
  );
  assert.match(health, /copilot answers, and has the model scripted/);
  assert.match(health, /key: from the login \(:Agent login copilot\)/);
  assert.ok(!health.includes(OAUTH) && !health.includes("tid="), "health shows a key");
  await nvim.command("bwipeout");

  const premium = { entitlement: 300, remaining: 212, unlimited: false };
  server.account = { quota_reset_date: "2026-12-01", quota_snapshots: { premium_interactions: premium } };
  await nvim.command("Agent usage");
  await nvim.waitForScreen("Copilot: 212 of 300 premium requests left, resets 1 December.");
  await nvim.keys("q");
  // Without an answer the page is the same but for the line.
  server.logins.clear();
  await nvim.command("Agent usage");
  await nvim.waitForScreen("This session");
  await nvim.keys("q");

  await nvim.command("Agent logout copilot");
  await nvim.waitForScreen("agent: logged out of Copilot");
  await assert.rejects(Deno.stat(state.path("logins/copilot.json")), Deno.errors.NotFound);
});

Deno.test("copilot: a login is stopped by a key, and by its window's end; its failure is said", async () => {
  await using server = await CopilotServer.start({ polls: [{ error: "slow_down", interval: 0.05 }] });
  await using agent = await start(server);
  const { nvim } = agent;
  for (const end of ["q", "<C-c>", ":close<CR>"]) {
    await nvim.command("Agent login");
    await nvim.waitForScreen(USER_CODE);
    await nvim.keys(end);
    await nvim.waitForScreen("agent: the login was stopped");
    await nvim.waitForScreenGone(USER_CODE);
    await nvim.command("messages clear | redraw!");
  }
  // One may be on its way.
  const most = server.polls.length + 1;
  assert.equal(await nvim.lua("return vim.fn.winnr('$')"), 1);
  server.exchange = { status: 403, body: { message: "No Copilot here." } };
  await nvim.command("Agent logout");
  await nvim.waitForScreen("agent: nobody has logged in here");

  await using denied = await CopilotServer.start({ polls: [{ error: "access_denied" }] });
  await nvim.lua(`require("agent").setup({ ${denied.lua} })`);
  await nvim.command("Agent login");
  await nvim.waitForScreen("agent: the login was denied at GitHub.");
  await using none = await CopilotServer.start();
  none.exchange = server.exchange;
  await nvim.lua(`require("agent").setup({ ${none.lua} })`);
  await nvim.command("Agent login");
  await nvim.waitForScreen("agent: cannot use copilot: No Copilot here");
  await waitUntil(
    "no window of the login",
    async () => await nvim.lua("return vim.fn.winnr('$')") === 1,
  );
  await assert.rejects(Deno.stat(agent.state.path("logins/copilot.json")), Deno.errors.NotFound);
  assert.ok(server.polls.length <= most, "no stopped login is asked about any more");
});

Deno.test("copilot: a session of another provider goes on there, with the login of another editor", async () => {
  await using server = await CopilotServer.start({ script: "say First.\n---\nsay Second.\nrepeat" });
  const { github_url, github_api_url, base_url } = server.options;
  const options = `provider = "other", model = "scripted", providers = {
    other = { wire = "openai_chat", base_url = "${server.model.url}/v1" },
    copilot = { github_url = "${github_url}", github_api_url = "${github_api_url}", base_url = "${base_url}" },
  }`;
  await using agent = await start(server, options);
  const { nvim } = agent;
  await nvim.command("Agent One?");
  await waitForChat(nvim, "First.");
  await waitForTurn(nvim);
  assert.equal(server.seen.length, 0);
  const folder = await nvim.lua<string>(`return vim.env.XDG_CONFIG_HOME .. "/github-copilot"`);
  await Deno.mkdir(folder);
  await Deno.writeTextFile(`${folder}/apps.json`, server.appsJson());
  await nvim.command("Agent provider copilot");
  await waitUntil("the other engine", () => server.keys === 1);
  await nvim.command("Agent Two?");
  await waitForChat(nvim, "Second.");
  await waitForTurn(nvim);
  assert.equal(server.chats.length, 1);
  assert.ok(server.chats[0]?.body.includes("First."), "it has what was said before");
  await Deno.remove(folder, { recursive: true });
  assert.deepEqual([...server.problems, ...server.model.problems], []);
});
