/** The list of attacks names tests that exist. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { FILES, SOME } from "../../scripts/attack_list.ts";
import { PLUGIN } from "../support/agent.ts";

Deno.test("every file of the attacks exists, and every word is in the name of a test", async () => {
  for (const path of FILES) await Deno.stat(join(PLUGIN, path));
  const missing: string[] = [];
  for (const [path, words] of Object.entries(SOME)) {
    const text = await Deno.readTextFile(join(PLUGIN, path));
    const names = text.match(/"[^"\n]+"|`[^`\n]+`/g) ?? [];
    missing.push(
      ...words.filter((word) => !names.some((name) => name.includes(word))).map((word) => `${path}: ${word}`),
    );
  }
  assert.deepEqual(missing, []);
});
