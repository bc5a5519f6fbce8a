/** `agent run` and Neovim: they share options, terminals and sessions. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PLUGIN, SECRET, startAgent } from "../support/agent.ts";
import { waitForChat } from "../support/chat.ts";
import { run, runPlace } from "../support/run.ts";

const OPTIONS = `
  rules = { allow = { "run(make *)" } },
  files = { safe_to_write = { { "docs/**", false } } },
  models = { ["*"] = { vision = true } },
  sessions = { title = false },
  ui = { width = 50 },
  provider = "test",
  model = "scripted",`;

Deno.test("options that Neovim exports, a run in its terminal, and the session of a run in a chat", async () => {
  await using agent = await startAgent({ script: "say Written by **agent run**.", options: OPTIONS });
  const { nvim, server, project, state } = agent;
  await using place = await runPlace({ script: "", beside: agent });
  const config = await nvim.lua<string>(`
    local providers = vim.deepcopy(vim.g.agent.providers)
    providers.test.headers = { ["X-Team"] = "a", Authorization = "Bearer secret" }
    providers.other = { wire = "ollama", base_url = "http://user:secret@127.0.0.1:9", api_key = "sk-literal" }
    providers.later = { wire = "ollama", base_url = function() end }
    require("agent").setup({ providers = providers })
    return vim.env.XDG_CONFIG_HOME`);
  await nvim.command("Agent config export");
  await nvim.waitFor(`vim.fn.execute("messages"):find("left out: ")`);
  const messages = await nvim.lua<string>(`return vim.fn.execute("messages")`);
  for (
    const name of [
      "providers.later.base_url (a function)",
      "providers.other.api_key (a literal key)",
      "providers.other.base_url (a literal key)",
      "providers.test.headers.Authorization (a literal key)",
    ]
  ) assert.ok(messages.includes(name), messages);
  const text = await Deno.readTextFile(join(config, "agent.nvim/config.json"));
  assert.doesNotMatch(text, /secret|sk-literal/);
  const { providers: { test: { base_url, ...test }, ...others }, ...options } = JSON.parse(text);
  assert.ok(base_url.startsWith(server.url));
  assert.deepEqual(test, { wire: "openai_chat", api_key: "env:TEST_API_KEY", headers: { "X-Team": "a" } });
  assert.deepEqual(others, { later: { wire: "ollama" }, other: { wire: "ollama" } });
  assert.deepEqual(options, {
    ...{ provider: "test", model: "scripted", state_dir: state.root },
    files: { safe_to_write: [["docs/**", false]] },
    models: { "*": { vision: true } },
    rules: { allow: ["run(make *)"] },
    sessions: { title: false },
  });
  await nvim.command("Agent config export");
  await nvim.waitFor(`vim.fn.execute("messages"):find("Agent! config export", 1, true)`);

  // A terminal of 40 columns.
  const environment = { ...place.environment, XDG_CONFIG_HOME: config };
  await nvim.command("vertical new | vertical resize 40");
  await nvim.lua(
    `vim.fn.jobstart({ ... }, { term = true, env = ${toLua(environment)}, clear_env = true })`,
    join(PLUGIN, "bin/agent"),
    "run",
    "Who are you?",
  );
  await nvim.waitForScreen("Process exited 0");
  const screen = await nvim.lua<string[]>(`return vim.api.nvim_buf_get_lines(0, 0, 4, false)`);
  assert.match(screen.join("").replaceAll(/\s/g, ""), /^session[0-9a-f-]{36}Writtenby\*\*agentrun\*\*\./);
  await nvim.command("bwipeout!");

  await nvim.lua(`require("agent").setup({})`);
  server.play("expect And now?\nsay Continued in Neovim.");
  await nvim.command("Agent resume");
  await waitForChat(nvim, "Written by");
  await nvim.command("Agent And now?");
  await waitForChat(nvim, "Continued in Neovim.");
  const sent = JSON.stringify(server.requests.at(-1)?.body.messages);
  assert.ok(sent.includes("Who are you?") && sent.includes("Written by **agent run**."), sent);
  const open = await run(place, ["run", "--session", "last", "Go on"]);
  assert.equal(open.code, 2);
  assert.match(open.stderr, /^Cannot continue the session: it is open in Neovim or in another run\. /);
  assert.deepEqual(server.problems, []);
  assert.ok(!sent.includes(SECRET) && project.root !== "");
});

function toLua(fields: Readonly<Record<string, string>>): string {
  return `{ ${
    Object.entries(fields).map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join(", ")
  } }`;
}
