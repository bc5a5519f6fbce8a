/** `deno task smoke` with a scripted model: what is done passes, what is only claimed does not. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { ModelServer } from "../model/model_server.ts";
import { PLUGIN } from "../support/agent.ts";

const SCRIPT = `
when leaves out the last number
call read_file {"path": "src/range.js"}
---
call edit_file {"path": "src/range.js", "old_str": "at < to", "new_str": "at <= to"}
---
say Fixed.
---
when Set the version
say The version is 1.3.0 now.
`;

Deno.test("smoke: a task that is done passes, one that is only claimed fails, and the table says why", async () => {
  await using server = await ModelServer.start(SCRIPT, { claims: 'say {"claims_change": true}\nrepeat' });
  const options = `provider = "test", model = "scripted", providers = { test = { wire = "openai_chat", ` +
    `base_url = "${server.url}/v1", api_key = "env:SMOKE_KEY" } }`;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", join(PLUGIN, "scripts/smoke.ts"), "fix-bug", "one-key"],
    env: { AGENT_SMOKE: options, SMOKE_KEY: "key" },
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  assert.match(text, /^fix-bug +pass +\d+ +3 +\d+ +\d+ +0$/m, text + new TextDecoder().decode(stderr));
  assert.match(text, /^one-key +FAIL +\d+ +\d+ +\d+ +\d+ +0 +AssertionError/m);
  assert.match(text, /^1 of 2 passed$/m);
  assert.equal(code, 1);
  assert.equal(server.nudgeRequests.length, 1, "the claim was not believed");
  assert.deepEqual(server.problems, []);
});
