/** While the user types the first message, the engine runs a turn that nobody sees. */
import assert from "node:assert/strict";
import { storedSessions } from "../../denops/agent/supervisor/sessions/stored_sessions.ts";
import { startAgent } from "../support/agent.ts";
import { waitForTurn } from "../support/chat.ts";
import { scratch, waitUntil } from "../support/project.ts";

/** Random names, a session's own folder, and the list of files, which may come too late for a request. */
const OWN =
  /(?<=(?:project|rules|context|mode)_)\w{6}|(?<=scratch\/)[\w-]+|\\n\\nFiles when the session began.*?(?=\\n\\n)/g;

Deno.test("it sends, stores and shows nothing, and the first request is as it would be without", async () => {
  await using folder = await scratch();
  const options = { script: "say Hello.\nrepeat", options: "sessions = { title = false }" };
  await using plain = await startAgent(options);
  // Git may answer too late to be in a request.
  await Deno.remove(plain.project.path(".git"), { recursive: true });
  await plain.nvim.command("Agent hello");
  await plain.nvim.waitForScreen("Hello.");
  await waitForTurn(plain.nvim);
  await plain.nvim.quit();
  const { length: before } = await storedSessions(plain.state.root);

  const trace = folder.path("trace.json");
  await using agent = await startAgent({ ...options, beside: plain, env: { AGENT_TRACE: trace } });
  const { nvim, server, state } = agent;
  const lookups = server.lookups.length;
  await nvim.command("Agent");
  await waitUntil(() => "the end of the unseen turn", async () => {
    const text = await Deno.readTextFile(trace).catch(() => "");
    return text.includes('"warm up"');
  });
  assert.equal(server.requests.length, 1);
  assert.equal(server.lookups.length, lookups);
  assert.equal((await storedSessions(state.root)).length, before);
  assert.doesNotMatch(nvim.screen().join("\n"), /Hello/);

  await nvim.keys("<Esc>ihello<Esc><CR>");
  await nvim.waitForScreen("Hello.");
  const [first, second, ...others] = server.requests.map(({ body }) =>
    JSON.stringify(body).replaceAll(OWN, "")
  );
  assert.equal(second, first);
  assert.deepEqual(others, []);
});
