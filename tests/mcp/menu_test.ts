/** `:Agent mcp`: hosts that a server may not reach, and logins. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { MCP_PROGRAM, programWords } from "../support/mcp_program.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { waitUntil } from "../support/project.ts";
import { sharedAgent } from "../support/shared_agent.ts";
import { LoginServer } from "./login_server.ts";

/** Its tool `echo` asks a host, and says the status of the answer. */
const ASKING = MCP_PROGRAM.replace(
  `case "echo": return send({ id, result: text("You said " + args.text) });`,
  `case "echo": return send({ id, result: text("status " + (await fetch("http://" + args.text)).status) });`,
);

/** Chooses the rows whose texts begin so, one after the other; the labels of all menus stay in `listed`. */
async function choose(nvim: ChildNvim, ...starts: readonly string[]): Promise<void> {
  await nvim.lua(
    `local starts = ...
    _G.listed, _G.left = nil, #starts
    vim.ui.select = function(items, options, done)
      local format = options.format_item or tostring
      _G.listed = table.concat(vim.tbl_map(format, items), "\\n")
      local start = table.remove(starts, 1)
      _G.left = #starts
      done(start and vim.iter(items):find(function(item) return vim.startswith(format(item), start) end))
    end`,
    starts,
  );
  await nvim.command("Agent mcp");
  await nvim.waitFor("_G.listed ~= nil and _G.left == 0");
}

async function listed({ nvim }: RunningAgent): Promise<string> {
  await choose(nvim);
  return await nvim.lua<string>(`return _G.listed`);
}

async function approve(nvim: ChildNvim, text: string): Promise<void> {
  await nvim.waitForScreen(text);
  await nvim.command("stopinsert");
  await nvim.command("Agent approval");
  await nvim.waitForScreen("r reject");
  await nvim.keys("a");
}

Deno.test("a refused host is listed, and reached once the user has allowed it", async () => {
  assert.notEqual(ASKING, MCP_PROGRAM);
  const words = programWords("server.js").map((word) => JSON.stringify(word));
  // The proxy is the network of the sandbox.
  words.splice(-2, 0, '"--allow-net"', '"--allow-env"');
  await using agent = await sharedAgent({
    script: "",
    project: { "server.js": ASKING },
    options: `sessions = { title = false }, rules = { allow = { "mcp(paper/*)" } },
      mcp = { servers = { paper = { cmd = { ${
      words.join(", ")
    } }, env = { DENO_NO_UPDATE_CHECK = "1" } } } }`,
  });
  const { nvim, server } = agent;
  server.play('call call_tool {"name":"paper__echo","arguments":{"text":"refused.test"}}\n---\nsay Done.');
  await nvim.command("Agent Ask it");
  await approve(nvim, "start the MCP server paper");
  await nvim.waitForScreen("Done.");
  const answer = () => JSON.stringify(server.requests.at(-1)?.body.messages);
  assert.match(answer(), /status 403/);
  assert.match(await listed(agent), /paper · ready · 5 tools · 1 refused host/);
  await choose(nvim, "paper", "Allow it to reach refused.test:80");
  await waitUntil("no host is refused", async () => !(await listed(agent)).includes("refused"));
  server.play('call call_tool {"name":"paper__echo","arguments":{"text":"refused.test"}}\n---\nsay Asked.');
  await nvim.command("Agent Again");
  await nvim.waitForScreen("Asked.");
  // No machine has this name.
  assert.match(answer(), /status 502/);
});

Deno.test("the user logs in at a server over HTTP, whose tool then answers", async () => {
  await using notes = new LoginServer();
  await using agent = await sharedAgent({
    script: "say First.",
    project: { "a.txt": "" },
    options: `sessions = { title = false }, rules = { allow = { "mcp(notes/*)" } },
      mcp = { servers = { notes = { url = "${notes.url}" } } }`,
  });
  const { nvim, server } = agent;
  await nvim.lua(`vim.ui.open = function(url) _G.page = url; return {} end`);
  await nvim.command("Agent Begin");
  await approve(nvim, "start the MCP server notes");
  await nvim.waitForScreen("First.");
  await choose(nvim, "notes", "Log in");
  await nvim.waitFor("_G.page ~= nil");
  assert.match(await (await fetch(await nvim.lua<string>(`return _G.page`))).text(), /Go back to Neovim/);
  await nvim.waitForScreen("Logged in at notes.");
  await waitUntil("the server is ready", async () => (await listed(agent)).includes("notes · ready"));
  server.play('call call_tool {"name":"notes__note","arguments":{}}\n---\nsay Done.');
  await nvim.command("Agent Note it");
  await nvim.waitForScreen("Done.");
  assert.match(JSON.stringify(server.requests.at(-1)?.body.messages), /Noted\./);
});
