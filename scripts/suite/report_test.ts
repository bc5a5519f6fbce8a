import assert from "node:assert/strict";
import { scratch } from "../../tests/support/project.ts";
import { readResult } from "./report.ts";

async function run(code: string) {
  await using folder = await scratch({ "some_test.ts": code });
  const command = new Deno.Command(Deno.execPath(), {
    args: ["test", "--no-check", folder.path("some_test.ts")],
    env: { NO_COLOR: "1" },
    stderr: "null",
  });
  const { code: exitCode, stdout } = await command.output();
  return readResult(new TextDecoder().decode(stdout), exitCode);
}

Deno.test("tests and steps are counted", async () => {
  const result = await run(`
    Deno.test("a", () => console.log("printed"));
    Deno.test("b", async (t) => { await t.step("c", () => {}); });
    Deno.test.ignore("d", () => {});`);
  assert.deepEqual(result, { passed: 3, failed: 0, skipped: 1, failures: "" });
});

Deno.test("failures come with what the failed tests printed and where they failed, and with nothing else", async () => {
  const { passed, failed, failures } = await run(`
    Deno.test("good", () => console.log("a good screen"));
    Deno.test("bad", () => { console.log("a bad screen"); throw new Error("no luck"); });
    Deno.test("steps", async (t) => {
      await t.step("fine", () => console.log("a fine screen"));
      await t.step("wrong", () => { console.log("a wrong screen"); throw new Error("no step"); });
    });`);
  assert.deepEqual([passed, failed], [2, 2]);
  for (const text of ["a bad screen", "a wrong screen", "no luck", "no step", "some_test.ts:3"]) {
    assert.ok(failures.includes(text), text);
  }
  assert.doesNotMatch(failures, /a (good|fine) screen/);
});

Deno.test("a file that cannot be loaded, or that ends the process, is a failure with all that was printed", async () => {
  assert.equal((await run(`import "./missing.ts";`)).failed, 1);
  const { passed, failed, failures } = await run(`
    Deno.test("a", () => {});
    Deno.test("b", () => { console.log("last words"); Deno.kill(Deno.pid, "SIGKILL"); });`);
  assert.deepEqual([passed, failed], [0, 1]);
  assert.match(failures, /a \.\.\. ok/);
});
