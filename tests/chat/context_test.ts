/** What the model is told of what the user looks at, and `:Agent context`. Whole program. */
import assert from "node:assert/strict";
import { GREET, startAgent } from "../support/agent.ts";
import { waitForTurn } from "../support/chat.ts";
import { objects, string } from "../model/model_messages.ts";

const PROJECT = {
  ...GREET,
  "AGENTS.md": "Use tabs.\n",
  "src/AGENTS.md": "Name things in full.\n",
  ".env": "KEY=1\n",
};

const SCRIPT = `
call read_file {"path": "src/greet.ts"}
---
expect Name things in full.
say Hm.
---
say Well.
---
new-history
say Other.
`;

Deno.test("the model is told where the user is, what is open, and what was edited meanwhile", async () => {
  await using agent = await startAgent({
    script: SCRIPT,
    project: PROJECT,
    lines: 60,
    options: "title = false",
  });
  const { nvim, server, project } = agent;
  const newest = () =>
    string(objects(server.requests.at(-1)?.body.messages).findLast(({ role }) => role === "user")?.content) ??
      "";
  await nvim.command("edit .env");
  await nvim.command(`edit ${project.path("src/greet.ts")}`);
  await nvim.command("normal! 2G");
  await nvim.command("Agent Hello");
  await nvim.waitForScreen("Hm.");
  await waitForTurn(nvim);
  const system = string(objects(server.requests[0]?.body.messages)[0]?.content) ?? "";
  assert.match(system, /<rules_(\w+) file="AGENTS\.md">\nUse tabs\.\n<\/rules_\1>/);
  assert.match(system, /\nsrc\/\n {2}AGENTS\.md\n {2}greet\.ts\nAGENTS\.md\nREADME\.md/);
  assert.match(
    newest(),
    /^<context_\w+>\nDate: .*\n(?:Git: .*\n)?The user looks at src\/greet\.ts:2\nDiagnostics/,
  );
  assert.doesNotMatch(JSON.stringify(server.requests.map(({ body }) => body)), /\.env/);

  await nvim.command(`call setbufline(bufnr("greet.ts"), 1, "export function greet(whom: string) {")`);
  await nvim.command("Agent Again");
  await nvim.waitForScreen("Well.");
  await waitForTurn(nvim);
  assert.match(newest(), /The user looks at src\/greet\.ts:2 \(unsaved\)/);
  assert.match(
    newest(),
    /\nsrc\/greet\.ts \+1 −1\n@@[^\n]*\n-export[^\n]*name: string\) \{\n\+export[^\n]*whom: string/,
  );

  await nvim.command("Agent context");
  await nvim.waitForScreen("Files of rules");
  await nvim.waitForScreen("AGENTS.md (10 bytes)");
  await nvim.waitForScreen("Each request began as the one before.");
  await nvim.waitForScreen("The window is 128000 tokens, as nobody says otherwise.");
  await nvim.command('call search("src/greet.ts ")');
  await nvim.keys("p");
  await nvim.waitForScreen("%  pinned");
  await nvim.keys("d");
  await nvim.waitForScreen("%  dropped");
  await nvim.keys("q");
  await nvim.waitForScreenGone("Files of rules");
  const whole = JSON.stringify(server.requests.at(-1)?.body);
  assert.match(whole, /name: string/);

  await nvim.lua(`
    vim.cmd("topleft 5split")
    local buffer = vim.api.nvim_create_buf(true, false)
    vim.api.nvim_win_set_buf(0, buffer)
    vim.fn.jobstart({ "sh", "-c", "printf '3 tests failed\\n'; exec sleep 100" }, { term = true })
    vim.cmd("wincmd p")
  `);
  await nvim.waitForScreen("3 tests failed");
  await nvim.lua(`vim.ui.select = function() end; require("agent").tools(nil, { toggle = "think" })`);
  await nvim.command("Agent Other");
  await nvim.waitForScreen("Other.");
  await waitForTurn(nvim);
  assert.match(newest(), /\nThe end of the user's terminal \(.*sh\):\n\| 3 tests failed\n/);
  await nvim.command("Agent context");
  await nvim.waitForScreen("switched off: think");
  assert.match(
    JSON.stringify(server.requests.at(-1)?.body),
    /\[read src\/greet\.ts, \d lines: dropped by the user; call it again if you need it\]/,
  );
  await nvim.waitForScreen("It differed from tool ");
  assert.deepEqual(server.problems, []);
});
