/** An engine that has been taken over writes no buffer and makes no link that the turn may not write. */
import assert from "node:assert/strict";
import { method } from "../../denops/agent/protocol/extensions.ts";
import { REQUEST_NAMES } from "../../denops/agent/protocol/requests.ts";
import { UserWrites } from "../../denops/agent/supervisor/agents/user_writes.ts";
import { fileAnswers } from "../../denops/agent/supervisor/client/answers/files.ts";
import type { ClientContext } from "../../denops/agent/supervisor/client/context.ts";
import { scratch } from "../support/project.ts";
import { startTainted } from "../support/tainted.ts";

/** The user's requests that change files. */
const WRITE_REQUESTS: readonly string[] = ["undo", "redo", "restore", "review_revert"];

const MODE = "---\nname: quiet\ndescription: none\nmode: agent\ntools: none\n---\nBe quiet.\n";

Deno.test({
  name: "an engine writes unsaved text and makes links only where mode, message and permission allow it",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using around = await scratch({ "proj/a.txt": "a\n", "proj/.agents/agents/quiet.md": MODE });
    const root = around.path("proj");
    const path = `${root}/a.txt`;
    await using tainted = await startTainted([
      { method: method("make_link"), request: true, params: { path: `${root}/planted`, target: "a.txt" } },
      { method: method("write_unsaved"), request: true, params: { path, base: "a\nmine\n", text: "evil\n" } },
    ], { root, options: "files = { save_unsaved = true }" });
    const { nvim } = tainted;
    await nvim.command(`edit ${path}`);
    await nvim.lua(`vim.api.nvim_buf_set_lines(0, -1, -1, true, { "mine" })`);
    let turns = 0;
    /** The answers to the two orders. */
    const turn = async (text: string) => {
      await nvim.command(`Agent! ${text}`);
      turns++;
      await nvim.waitFor(
        `select(2, table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr("agent://chat-1"), 0, -1, true), "\\n")
          :gsub("write_unsaved:", "")) == ${turns} and require("agent").status():find("ready$")`,
      );
      return (await tainted.transcript()).filter((line) => line.startsWith("_agent/")).slice(-2);
    };
    const buffer = () =>
      nvim.lua(`return vim.api.nvim_buf_get_lines(vim.fn.bufnr(${JSON.stringify(path)}), 0, -1, true)`);
    const linked = () => Deno.lstat(`${root}/planted`).then(() => true, () => false);
    const assertRefused = async (answers: readonly string[], why: RegExp) => {
      for (const answer of answers) assert.match(answer, why);
      assert.deepEqual([await buffer(), await linked()], [["a", "mine"], false]);
    };
    await assertRefused(await turn("#look go"), /this mode changes no files/);
    for (const mode of ["chat", "quiet", "plan"]) {
      await nvim.command(`Agent mode ${mode}`);
      await nvim.waitFor(`require("agent").status():lower():find("${mode}")`);
      await assertRefused(await turn("go"), /this mode changes no files/);
    }
    await nvim.command("Agent mode agent");
    await nvim.command("Agent permissions ask");
    await nvim.waitFor(`require("agent.chat").current().timeline.permission == "ask"`);
    await assertRefused(await turn("go"), /was not approved/);
    await nvim.command("Agent permissions default");
    await nvim.waitFor(`require("agent.chat").current().timeline.permission == "default"`);
    const [link = "", written = ""] = await turn("#edits go");
    assert.match(link, /this turn makes no links/);
    assert.match(written, /"status":"merged"/);
    assert.deepEqual([await buffer(), await linked()], [["evil"], false]);
  },
});

Deno.test("without a turn an engine writes only while the user's undo runs, for the session of that undo", async () => {
  const userWrites = new UserWrites();
  const client = {
    permissions: { roots: ["/p"] },
    terminals: {},
    agents: {},
    userWrites,
    ports: {
      editor: { ask: () => Promise.resolve({ status: "not_open" }) },
      gate: {},
      limitsOf: () => ({ access: "read" }),
      isWorking: () => false,
      isStopped: () => false,
      chatOf: () => 1,
      ownerOf: () => 1,
      trustOf: () => ({ permission: "ask", isTainted: false, foreign: undefined, taint() {} }),
    },
  } as unknown as ClientContext;
  const write = (session: string) =>
    fileAnswers(client, true)
      .write_unsaved(session, { path: "/p/a.txt", base: "", text: "" }, new AbortController().signal);
  const refusal = /no turn is running/;
  await assert.rejects(write("s"), refusal);
  for (const name of REQUEST_NAMES) {
    using _running = userWrites.begin(name, { sessionId: "s" });
    if (!WRITE_REQUESTS.includes(name)) await assert.rejects(write("s"), refusal, name);
    else assert.equal((await write("s")).status, "not_open");
    await assert.rejects(write("other"), refusal);
  }
  using _reverting = userWrites.begin("review_revert", {});
  assert.equal((await write("other")).status, "not_open");
});
