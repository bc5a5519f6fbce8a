/** Sub-agents as their user sees them. */
import assert from "node:assert/strict";
import { pressStop, transcript, waitForChat, waitForTurn } from "../support/chat.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { waitUntil } from "../support/project.ts";
import { reached } from "../support/server.ts";
import { sharedAgent } from "../support/shared_agent.ts";

/** The options of all tests, which share a program. */
const OPTIONS =
  'sessions = { title = false }, models = { scripted = { price = { input = 1, output = 2 } } }, rules = { ask = { "write(notes.md)" } }';

/** The choice is made from a list by its beginning. */
async function choose(nvim: ChildNvim, ...beginnings: readonly string[]): Promise<void> {
  await nvim.lua(
    `local wanted = { ... }
    _G.offered = {}
    vim.ui.select = function(items, options, done)
      local first = table.remove(wanted, 1)
      local format = options.format_item or tostring
      vim.list_extend(_G.offered, vim.tbl_map(format, items))
      for index, item in ipairs(items) do
        if first and vim.startswith(format(item), first) then
          return done(item, index)
        end
      end
      done()
    end
    vim.cmd("Agent agents")`,
    ...beginnings,
  );
}

function offered(nvim: ChildNvim): Promise<readonly string[]> {
  return nvim.lua<string[]>("return _G.offered");
}

Deno.test("two at the same time: under their calls, approvals say whose they are, undo and usage cover them", async () => {
  await using agent = await sharedAgent({
    columns: 100,
    lines: 40,
    options: OPTIONS,
    script: `call run_subagent {"title": "Find greet", "task": "Where is greet?"}
call run_subagent {"title": "Write notes", "task": "Take notes", "mode": "agent"}
---
when Where is greet?
usage 1000 10
think Hm.
call read_file {"path": "src/greet.ts"}
---
when Where is greet?
wait looked
say In src/greet.ts:1.
---
when Take notes
usage 2000 20
call write_file {"path": "notes.md", "content": "noted\\n"}
---
when Take notes
say Notes are taken.
---
expect In src/greet.ts:1.
expect Notes are taken.
say All done.`,
  });
  const { nvim, server, project } = agent;
  await nvim.command("Agent Go");
  await nvim.waitForScreen("Approval · sub-agent Write notes");
  await nvim.waitForScreen("✓ read   src/greet.ts");
  assert.deepEqual((await transcript(nvim)).filter((line) => /explore|agent:|write/.test(line)), [
    "… explore: Find greet",
    "… agent: Write notes",
    "  ? write notes.md  waiting for your answer",
  ]);
  await nvim.waitForScreen("a once");
  await nvim.keys("a");
  server.release("looked");
  await waitForTurn(nvim);
  assert.deepEqual(server.problems, []);
  assert.deepEqual((await transcript(nvim)).slice(1), [
    "✓ explore: Find greet  done",
    "✓ agent: Write notes  done",
    "All done.",
    "Changed 1 file  +1",
    "  A notes.md  +1",
  ]);
  await choose(nvim, "Find greet");
  await nvim.waitForScreen("Where is greet?");
  await nvim.waitForScreen("In src/greet.ts:1.");
  const rows = (await offered(nvim)).map((row) => row.split(" · ").slice(0, 3).join(" · "));
  assert.deepEqual(rows.toSorted(), ["Find greet · explore · done", "Write notes · agent · done"]);
  await nvim.command("tabclose | Agent usage");
  await nvim.waitForScreen("Its sub-agents");
  const usage = await nvim.lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, false)");
  assert.ok(usage.some((line) => /^ {2}Find greet +2 /.test(line)), usage.join("\n"));
  await nvim.command("tabclose | Agent undo");
  await waitUntil("the file to be gone", () => project.read("notes.md").then(() => false, () => true));
});

Deno.test("a stop ends those that run, on screen and at the model's server", async () => {
  await using agent = await sharedAgent({
    options: OPTIONS,
    script: `call run_subagent {"title": "One", "task": "task one"}
call run_subagent {"title": "Two", "task": "task two"}
---
when task one
call read_file {"path": "README.md"}
---
when task one
wait one
---
when task two
wait two`,
  });
  const { nvim, server } = agent;
  await nvim.command("Agent Go");
  await Promise.all(["one", "two"].map((name) => reached(server, name)));
  await nvim.waitForScreen("✓ read   README.md");
  await pressStop(nvim);
  await Promise.all([server.aborted(), server.aborted()]);
  await nvim.waitForScreen("· ready");
  const lines = await transcript(nvim);
  assert.deepEqual(lines, ["Go", "■ explore: One  stopped", "■ explore: Two  stopped", "Stopped."]);
});

Deno.test("one in the background: a line when it has ended, read and stopped from the list", async () => {
  await using agent = await sharedAgent({
    options: OPTIONS,
    script: `call run_subagent {"title": "Quick", "task": "quick task", "background": true}
call run_subagent {"title": "Endless", "task": "endless task", "background": true}
---
when quick task
wait quick
say Found it.
---
when endless task
call read_file {"path": "README.md"}
---
when endless task
wait endless
---
say Both work.`,
  });
  const { nvim, server } = agent;
  await nvim.command("Agent Go");
  await waitForTurn(nvim);
  server.release("quick");
  await waitForChat(nvim, 'Sub-agent "Quick": done. :Agent agents shows it.');
  assert.match(await nvim.lua<string>("return require('agent').status()"), /ready$/);
  await reached(server, "endless");
  await choose(nvim, "Endless", "Read what");
  await nvim.waitForScreen("read README.md");
  assert.ok((await offered(nvim)).some((row) => row.startsWith("Endless · explore · running · ")));
  await nvim.command("tabclose");
  await choose(nvim, "Endless", "Stop it");
  await server.aborted();
  await waitForChat(nvim, 'Sub-agent "Endless": stopped. :Agent agents shows it.');
  server.play("expect Found it.\nexpect Endless\nsay I know.");
  await nvim.command("Agent And?");
  await waitForChat(nvim, "I know.");
  assert.deepEqual(server.problems, []);
});
