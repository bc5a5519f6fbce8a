/** `deno task try` without a terminal: it plays the tutor, of which nothing is left, and says that it went well. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PLUGIN } from "../support/agent.ts";

Deno.test("deno task try plays all lessons of the tutor by itself, and nothing of them is left", async () => {
  const args = ["run", "-A", "--quiet", join(PLUGIN, "scripts/try.ts")];
  const command = new Deno.Command(Deno.execPath(), { args, stdin: "null" });
  const { code, stdout, stderr } = await command.output();
  const text = new TextDecoder().decode(stdout);
  assert.equal(code, 0, text + new TextDecoder().decode(stderr));
  const lessons = [...text.matchAll(/\n Lesson (\d) of 7: /g)].map(([, number]) => number);
  assert.deepEqual([...new Set(lessons)], ["2", "3", "4", "5", "6", "7"]);
  for (const row of text.split("\n")) assert.ok([...row].length <= 80, row);
  assert.match(text, /\ntry: ok\n$/);
});
