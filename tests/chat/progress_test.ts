/** A turn is told as Neovim's progress, where Neovim has that, and never in the last line. */
import assert from "node:assert/strict";
import { PLUGIN } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";

Deno.test("a turn is told as progress: its state, its plan, its end; and whoever shows it can stop it", async () => {
  await using nvim = await ChildNvim.start({ runtime: [PLUGIN], columns: 60, lines: 10 });
  await nvim.lua(`_G.sent, _G.told = {}, {}
    require("agent.client").send = function(action) table.insert(_G.sent, action) end`);
  if (await nvim.lua<number>(`return vim.fn.exists("##Progress")`) === 0) {
    // Older ones go on without.
    await nvim.command("Agent! Go");
    await nvim.lua(`require("agent.client").receive({ { type = "turn_started", chat = 1 } })`);
    return;
  }
  await nvim.lua(`vim.api.nvim_create_autocmd("Progress", { pattern = "agent", callback = function(event)
    local data = event.data
    table.insert(_G.told, { data.id, data.status, data.percent, data.text[1] })
  end })`);
  const receive = (...updates: readonly Readonly<Record<string, unknown>>[]) =>
    nvim.lua(
      `require("agent.approval") return require("agent.client").receive(...)`,
      updates.map((update) => ({ chat: 1, ...update })),
    );
  const messagesopt = await nvim.lua("return vim.o.messagesopt");
  await nvim.command("Agent! Go");
  await nvim.keys("itext<Esc>:echo 1");
  const long = "a step with a name that is longer than all of this narrow screen is";
  const steps = [{ step: "one", status: "completed" }, { step: long, status: "in_progress" }];
  const text = { type: "text", message: "m", text: "word " };
  await receive({ type: "turn_started" });
  await receive(text, text, { type: "plan", steps });
  await receive(text, { type: "approval", request: 1, tool: "t", title: "x", kind: "other", reason: "asks" });
  await nvim.waitForScreen(":echo 1");
  await nvim.keys("<Esc>");
  const id = "agent.chat.1";
  const told = () => nvim.lua<readonly unknown[]>("return _G.told");
  assert.deepEqual(await told(), [
    [id, "running", 0, "working"],
    [id, "running", 50, `2/2 ${long} · working`],
    [id, "running", 50, `2/2 ${long} · waiting for you`],
  ]);
  assert.match(await nvim.lua<string>("return vim.ui.progress_status()"), /^$|50%/);

  await nvim.lua(
    `vim.api.nvim_echo({ { "" } }, false, { kind = "progress", id = "${id}", status = "cancel", source = "agent" })`,
  );
  await nvim.waitFor(`_G.sent[#_G.sent].type == "cancel"`);
  await receive({ type: "turn_done", reason: "cancelled" });
  assert.deepEqual((await told()).at(-1), [id, "failed", 100, "Stopped."]);
  await nvim.command("Agent! Again");
  await receive({ type: "turn_started" });
  await receive({ type: "turn_done", reason: "end_turn" });
  assert.deepEqual((await told()).at(-1), [id, "success", 100, "done"]);
  assert.equal(await nvim.lua("return vim.o.messagesopt"), messagesopt);
  assert.doesNotMatch(await nvim.lua<string>(`return vim.fn.execute("messages")`), /working|step/);
});
