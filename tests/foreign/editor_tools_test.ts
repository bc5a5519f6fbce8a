/** Another agent calls the editor's tools from its sandbox: unsaved text, selection, plan and a language server. Whole program. */
import assert from "node:assert/strict";
import { transcript, waitForTurn } from "../support/chat.ts";
import { FAKE } from "../support/fake_server.ts";
import { agentProgram } from "../support/foreign/program.ts";
import { sharedAgent } from "../support/shared_agent.ts";

/** Its answers name a file that the agent may read, and one that it may not. */
const SERVER = `${FAKE}
fake.capabilities = { referencesProvider = true, workspaceSymbolProvider = true }
local function at(name)
  return { uri = uri(name), range = { start = { line = 1, character = 0 }, ["end"] = { line = 1, character = 3 } } }
end
fake.answers["textDocument/references"] = function()
  return { result = { at("a.fake"), at("secret.fake") } }
end
fake.answers["workspace/symbol"] = function()
  return { result = { { name = "seen", kind = 12, location = at("a.fake") },
    { name = "unseen", kind = 12, location = at("secret.fake") } } }
end
fake.on_notify = function(method)
  if method ~= "textDocument/didOpen" then return end
  dispatch.notification("textDocument/publishDiagnostics", { uri = uri("a.fake"), version = 0, diagnostics = {
    { severity = 1, range = at("a.fake").range, message = "wrong word" } } })
end`;

Deno.test({
  name: "another agent asks the editor for symbols, diagnostics, unsaved text, selection and plan",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using program = await agentProgram([], `set = { DENO_NO_UPDATE_CHECK = "1" }`);
    const tool = (name: string, args = {}) => ({ tool: name, args });
    await program.plays(
      "look",
      { plan: [{ content: "first step", status: "in_progress", priority: "medium" }] },
      { sh: "echo changed > a.fake" },
      ...[
        tool("list"),
        tool("find_symbols", { query: "s" }),
        tool("references", { path: "a.fake", line: 2 }),
      ],
      ...[tool("diagnostics", { path: "a.fake" }), tool("document_symbols", { path: "secret.fake" })],
      ...[tool("unsaved_buffers"), tool("unsaved_text", { path: "a.fake" })],
      ...[
        tool("unsaved_text", { path: "secret.fake" }),
        tool("selection"),
        tool("plan"),
        tool("callers", { path: "a.fake" }),
      ],
      { show: "ls -A /run | tr '\\n' ' '; rm /run/agent-tools.sock && echo removed; exit 0" },
    );
    await using agent = await sharedAgent({
      script: "",
      options: `sessions = { title = false }, agent = "scripted", agents = { ${program.row} },
        rules = { deny = { "read(secret.fake)", "mcp(neovim/callers)" } }`,
      project: { "a.fake": "one\ntwo\n", "secret.fake": "hush\nhush\n" },
      lua: SERVER,
      hasOwnState: true,
    });
    const { nvim, project } = agent;
    await nvim.command("edit secret.fake");
    await nvim.keys("ihush <Esc>");
    await nvim.command("set hidden");
    await nvim.command("edit a.fake");
    await nvim.keys("jccunsaved word<Esc>Vk<Esc>");
    await nvim.command("Agent play look");
    await waitForTurn(nvim);
    const text = (await transcript(nvim)).join("\n");
    assert.doesNotMatch(text, /hush|unseen/);
    const answerOf = (name: string) => {
      const [, answer] = new RegExp(`\\[${name}: ([^\\]]*)`).exec(text.replace(/\s*\n\s*/g, " ")) ?? [];
      return answer ?? text;
    };
    assert.match(answerOf("list"), /find_symbols \| document_symbols \| diagnostics/);
    assert.doesNotMatch(answerOf("list"), /callers/);
    assert.match(answerOf("find_symbols"), /^a\.fake:2 function seen$/);
    assert.match(answerOf("references"), /^a\.fake:2: unsaved word$/);
    assert.match(answerOf("diagnostics"), /^a\.fake:2:1 error wrong word/);
    assert.match(answerOf("document_symbols"), /denied by rule read\(secret\.fake\)/);
    assert.equal(answerOf("unsaved_buffers"), "a.fake (2 lines)");
    assert.equal(answerOf("unsaved_text"), "one | unsaved word");
    assert.match(
      answerOf("selection"),
      /^Cursor: a\.fake:1:3 \| one \| Selected: a\.fake:1-2 \| one \| unsaved word$/,
    );
    assert.equal(answerOf("plan"), "in_progress: first step");
    assert.match(answerOf("callers"), /the rule mcp\(neovim\/callers\) is against it/);
    assert.doesNotMatch(text, /removed$|Refused hosts/m);
    assert.match(
      String(await nvim.lua(`return table.concat(vim.fn.getbufline("a.fake", 1, "$"), "|")`)),
      /unsaved word/,
    );
    assert.equal(await project.read("secret.fake"), "hush\nhush\n");
  },
});
