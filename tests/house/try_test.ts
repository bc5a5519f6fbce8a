/** `deno task try` without a terminal: it plays the main job, and says that it went well. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PLUGIN } from "../support/agent.ts";

Deno.test("deno task try plays the main job by itself", async () => {
  const args = ["run", "-A", "--quiet", join(PLUGIN, "scripts/try.ts")];
  const command = new Deno.Command(Deno.execPath(), { args, stdin: "null" });
  const { code, stdout, stderr } = await command.output();
  const text = new TextDecoder().decode(stdout);
  assert.equal(code, 0, text + new TextDecoder().decode(stderr));
  for (
    const shown of ["The agent asks before it writes .env", "+GREETING=salute", "I did not run anything."]
  ) {
    assert.ok(text.includes(shown), shown);
  }
  assert.match(text, /\ntry: ok\n$/);
});
