/** An engine that has been taken over learns and changes nothing through Neovim but what is its project's. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { method } from "../../denops/agent/protocol/extensions.ts";
import type { Order } from "../attacks/hostile_questions.ts";
import { scratch } from "../support/project.ts";
import { startTainted } from "../support/tainted.ts";

const DRAFT = "a draft that is nobody's business";
const LETTER = "a letter, saved and shown\n";

/** All that can be asked and said of a file; the text that is claimed for it has the size of what is on disk. */
function ordersAbout(path: string, root: string): readonly Order[] {
  const modified = { toolCallId: "t", path, before: LETTER, after: "x".repeat(LETTER.length - 1) + "\n" };
  return [
    { method: method("unsaved_text"), request: true, params: { path } },
    { method: method("lsp"), request: true, params: { request: { op: "document_symbols", path } } },
    {
      method: method("write_unsaved"),
      request: true,
      params: { path, base: "", text: "written by the engine\n" },
    },
    { method: method("file_modified"), request: false, params: { ...modified, kind: "modified" } },
    { method: method("file_modified"), request: false, params: { ...modified, kind: "deleted" } },
    {
      method: method("file_modified"),
      request: false,
      params: { toolCallId: "t", path: join(root, "stolen.txt"), from: path, kind: "renamed" },
    },
  ];
}

/** Name, lines and state of every listed buffer. */
const BUFFERS = `return vim.tbl_map(function(buffer)
  return { buffer.name, buffer.changed, vim.api.nvim_buf_get_lines(buffer.bufnr, 0, -1, true) }
end, vim.fn.getbufinfo({ buflisted = 1 }))`;

Deno.test({
  name: "an engine is told of its project's unsaved buffers only, changes no others and starts no agent",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using around = await scratch({
      "outside/draft.txt": "",
      "outside/letter.txt": LETTER,
      "proj-evil/letter.txt": LETTER,
      "proj/package.json": "{}",
      "proj/own.txt": "",
    });
    const root = around.path("proj");
    await Deno.symlink("../outside", around.path("proj/to-folder"));
    const foreign = [
      around.path("outside/draft.txt"),
      around.path("outside/letter.txt"),
      around.path("proj-evil/letter.txt"),
      join(root, "to-folder/draft.txt"),
      join(root, "to-folder/letter.txt"),
      `${root}/../outside/draft.txt`,
      "../outside/draft.txt",
    ];
    const own = { method: method("unsaved_text"), request: true, params: { path: join(root, "own.txt") } };
    // Another agent would work with the user's logins.
    const start = { method: method("pipe_open"), request: true, params: { kind: "agent", name: "claude" } };
    const orders = [...foreign.flatMap((path) => ordersAbout(path, root)), own, start];
    await using tainted = await startTainted(orders, { root, options: "files = { save_unsaved = true }" });
    const { nvim } = tainted;
    await nvim.lua(
      `local base, draft = ...
       for _, name in ipairs({ "outside/letter.txt", "proj-evil/letter.txt", "outside/draft.txt", "proj/own.txt" }) do
         vim.cmd.edit(base .. "/" .. name)
         if name:find("draft") then vim.fn.setline(1, draft) end
       end
       vim.fn.setline(1, "the project's own draft")`,
      around.root,
      DRAFT,
    );
    const before = await nvim.lua(BUFFERS);
    await nvim.command("Agent! go");
    await nvim.waitFor(`require("agent").status():find("ready$")`);

    const transcript = await tainted.transcript();
    assert.ok(transcript.some((line) => line.includes("the project's own draft")), transcript.join("\n"));
    assert.ok(transcript.every((line) => !line.includes(DRAFT)), "the draft was told");
    assert.ok(transcript.join("\n").includes("Cannot start claude: this session does not use it."));
    const asked = transcript.filter((line) => line.startsWith(`${method("lsp")}:`));
    assert.equal(asked.length, foreign.length);
    for (const answer of asked) assert.match(answer, /is not a file of this engine's project/);
    assert.deepEqual(await nvim.lua(BUFFERS), before);
    assert.equal(await around.read("outside/draft.txt"), "");
    assert.equal(await around.read("outside/letter.txt"), LETTER);
  },
});
