/** The bench measures, and says so in a form that scripts can read. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PLUGIN } from "../support/agent.ts";

async function bench(...args: readonly string[]) {
  const command = ["run", "-A", "--quiet", "--no-check", join(PLUGIN, "scripts/bench/main.ts"), ...args];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: command }).output();
  const decoder = new TextDecoder();
  return { code, said: decoder.decode(stdout), problem: decoder.decode(stderr) };
}

Deno.test("bench --json: each row by its name, with value, base, ratio, limit and unit", async () => {
  const { code, said } = await bench("--only", "startup_added", "--json");
  const { startup_added: row, ...rest } = JSON.parse(said);
  assert.equal(code, 0);
  assert.deepEqual(rest, {});
  const { value, base, ratio, ...fixed } = row;
  assert.deepEqual(fixed, { limit: 0.5, unit: "ms" });
  assert.equal(base.kind, "floor");
  assert.ok(value > 0 && base.value > 0);
  assert.ok(Math.abs(ratio - value / base.value) < 0.1);
});

Deno.test("bench --only: an unknown row is an error that names those that there are", async () => {
  const { code, problem } = await bench("--only", "speed");
  assert.equal(code, 2);
  assert.match(
    problem,
    /There is no row speed\. Try machine_javascript, .*typed_submit, cold_submit, .*wallet_prefix_share/,
  );
});
