/** Selected lines that go along with a message: the model has read them. Whole program. */
import assert from "node:assert/strict";
import { GREET, startAgent } from "../support/agent.ts";

Deno.test("a file is edited without being read first when its lines were selected, wherever Neovim works", async () => {
  const edit = { path: "src/greet.ts", old_str: "Hello", new_str: "Welcome" };
  await using agent = await startAgent({
    options: `allow = { "write(src/**)" }`,
    script: `expect User's selected code from src/greet.ts:L2-L2 (already provided, do not read again):
call edit_file ${JSON.stringify(edit)}
---
say Done.`,
  });
  const { nvim, project } = agent;
  await nvim.command("cd src");
  await nvim.command("edit greet.ts");
  await nvim.command("2Agent another greeting");
  await nvim.waitForScreen("Done.");
  assert.equal(await project.read("src/greet.ts"), GREET["src/greet.ts"].replace("Hello", "Welcome"));
});
