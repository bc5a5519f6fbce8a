/** `:Agent trace`: a turn's requests and answers, in a file that only the user can read. */
import assert from "node:assert/strict";
import { GREET } from "../support/agent.ts";
import { waitForTurn } from "../support/chat.ts";
import { KEY } from "../support/key.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";

Deno.test("the last turn is written without its key, shown and opened; a file is overwritten with a bang only", async () => {
  await using agent = await sharedAgent({
    script: 'call read_file {"path": "src/greet.ts"}\n---\nsay Done.',
    project: GREET,
    options: "sessions = { title = false }",
  });
  const { nvim, project, server } = agent;
  await nvim.command("Agent trace");
  await nvim.waitForScreen("agent: the chat is empty: after the first message");
  await nvim.command("Agent Look at vim: set shiftwidth=3:");
  await waitForTurn(nvim);
  const path = project.path("turn.http");
  await nvim.command("set modelines=1000");
  await nvim.command("Agent trace turn.http");
  await nvim.waitFor(`vim.api.nvim_buf_get_name(0):find("turn.http", 1, true)`);
  await nvim.waitForScreen("agent: written to turn.http");
  const text = await Deno.readTextFile(path);
  assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  assert.match(text, /### Request 1, .*\nPOST http:\/\/[^\n]*\/chat\/completions\n/);
  assert.match(text, /\nauthorization: \[removed\]\n/);
  assert.ok(!text.includes(KEY));
  assert.ok(text.includes(JSON.stringify(server.requests[0]?.body)), "the body as it was sent");
  assert.match(text, /### Answer 2, after \d+ ms\nHTTP\/1\.1 200\n[^]*\ndata: [^\n]*Done\./);
  assert.notEqual(await nvim.lua("return vim.bo.shiftwidth"), 3, "no modeline of a model's text counts");

  await nvim.keys("q");
  assert.equal(await nvim.lua("return vim.fn.tabpagenr('$')"), 1);
  await nvim.command("Agent trace turn.http");
  await nvim.waitForScreen("agent: turn.http exists; :Agent! trace overwrites it");
  await Deno.writeTextFile(path, "other");
  await nvim.command("Agent! trace turn.http");
  await nvim.waitFor(`vim.fn.getline(1):find("The requests of a turn", 1, true)`);
  assert.equal(await Deno.readTextFile(path), text);
  await nvim.command("tabclose");

  await Deno.symlink("README.md", project.path("link.http"));
  await nvim.command("Agent! trace link.http");
  await nvim.waitForScreen("agent: cannot write link.http: it is a link. Name another file");
  assert.equal(await project.read("README.md"), GREET["README.md"]);

  await nvim.command("Agent trace");
  await nvim.waitFor(`vim.api.nvim_buf_get_name(0):find("/traces/.*%.http$")`);
  await nvim.waitForScreen("agent: written to");
  await nvim.command("tabonly");
  await nvim.keys("q");
  await nvim.waitFor(`vim.api.nvim_buf_get_name(0) == ""`);
  await endEngines(agent);
  await nvim.command("Agent resume");
  await nvim.waitForScreen("Done.");
  await nvim.command("Agent trace");
  await nvim.waitForScreen("agent: no request since the session was opened here: send a message first");
});
