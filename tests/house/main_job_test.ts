/** The main job, whole: a real Neovim, supervisor and engine; only the model is scripted. */
import assert from "node:assert/strict";
import { WIRES } from "../../denops/agent/protocol/providers.ts";
import { sample } from "../support/sample.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const SCRIPT = `
think I should look at the file first.
say I will look at the file first.
call read_file {"path": "src/greet.ts"}
---
expect export function greet
say Now I rename it.
call edit_file {"path": "src/greet.ts", "old_str": "greet", "new_str": "salute"}
call write_file {"path": ".env", "content": "GREETING=salute\\n"}
usage 1200 85
---
expect Edited src/greet.ts
expect Created .env
say Done: **greet** is now salute.
---
expect And the README?
say It needs no change.
`;

for (const wire of sample(WIRES, 2)) {
  Deno.test(`a project is changed, with an approval, and the session goes on (${wire})`, async () => {
    await using agent = await sharedAgent({ script: SCRIPT, wire, files: ["src/greet.ts"] });
    const { nvim, project, server } = agent;
    await nvim.command("Agent rename greet to salute everywhere");

    await nvim.waitForScreen("? write  .env");
    await nvim.waitForScreen("+GREETING=salute");
    assert.equal(
      await project.read("src/greet.ts"),
      "export function salute(name: string) {\n  return `Hello ${name}`;\n}\n",
    );
    await assert.rejects(project.read(".env"), Deno.errors.NotFound);
    await nvim.waitForScreen("a once");
    await nvim.keys("a");

    await nvim.waitForScreen("greet is now salute.");
    await nvim.waitForScreen("· ready");
    assert.equal(await project.read(".env"), "GREETING=salute\n");
    assert.deepEqual(
      await nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('src/greet.ts'), 0, 1, true)"),
      [
        "export function salute(name: string) {",
      ],
    );

    await nvim.keys("iAnd the README?<Esc><CR>");
    await nvim.waitForScreen("It needs no change.");
    assert.deepEqual(server.requests.map((request) => request.wire), Array(4).fill(wire));
    assert.deepEqual(server.problems, []);
  });
}
