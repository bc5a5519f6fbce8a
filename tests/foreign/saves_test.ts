/** A turn of another agent, while the user saves in Neovim: only the agent is scripted. */
import assert from "node:assert/strict";
import { transcript, waitForChat, waitForTurn } from "../support/chat.ts";
import { agentProgram } from "../support/foreign/program.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { waitUntil } from "../support/project.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const lines = (changes: Readonly<Record<number, string>> = {}) =>
  Array.from({ length: 9 }, (_, index) => `${changes[index + 1] ?? `line ${index + 1}`}\n`).join("");

/** The user changes a line and writes the file. */
async function save(nvim: ChildNvim, path: string, line: number, text: string): Promise<void> {
  await nvim.lua(
    `local path, line, text = ...
    local buf = vim.fn.bufadd(path)
    vim.fn.bufload(buf)
    vim.api.nvim_buf_set_lines(buf, line - 1, line, true, { text })
    vim.api.nvim_buf_call(buf, function() vim.cmd("silent write") end)`,
    path,
    line,
    text,
  );
}

Deno.test({
  name: "another agent's changes are merged with what the user saves, judged, kept, and undone alone",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using program = await agentProgram();
    await program.plays(
      "edit",
      { say: "I begin. " },
      {
        show:
          "cat .env; sed -i '8s/.*/agent/' a.txt; sed -i '2s/.*/agent/' b.txt; echo evil > .envrc; echo written",
      },
      { until: program.folder.path("go") },
    );
    await using agent = await sharedAgent({
      script: "",
      options: `sessions = { title = false }, agent = "scripted", agents = { ${program.row} }`,
      project: { "a.txt": lines(), "b.txt": lines(), ".env": "hush\n" },
      hasOwnState: true,
    });
    const { nvim, project } = agent;
    await nvim.command("Agent play edit");
    await waitForChat(nvim, "written");
    assert.equal(await project.read("a.txt"), lines());
    await save(nvim, project.path("a.txt"), 2, "user");
    await save(nvim, project.path("b.txt"), 2, "user");
    await program.folder.write("go", "");
    await nvim.waitForScreen("one change is sensitive");
    await nvim.waitForScreen("d diffs  R with reason");
    await nvim.command("Agent approve");
    await waitForTurn(nvim);
    assert.equal(await project.read("a.txt"), lines({ 2: "user", 8: "agent" }));
    assert.equal(await project.read("b.txt"), lines({ 2: "user" }));
    await assert.rejects(Deno.stat(project.path(".envrc")), Deno.errors.NotFound);
    const text = (await transcript(nvim)).join("\n");
    assert.doesNotMatch(text, /hush/);
    assert.match(
      text.replace(/\n\s*/g, " "),
      /b\.txt: you changed the same lines meanwhile \(line 2\)\. Yours stays/,
    );

    await nvim.command("Agent undo");
    await waitUntil("the undo", async () => await project.read("a.txt") === lines({ 2: "user" }));
    assert.equal(await nvim.lua(`return vim.fn.readfile(...)[2]`, project.path("a.txt")), "user");
    assert.equal(await project.read("b.txt"), lines({ 2: "user" }));
  },
});
