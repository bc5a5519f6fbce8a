/** `:Agent review by NAME`: another agent reviews the unreviewed changes; its findings become comments. */
import assert from "node:assert/strict";
import { transcript, waitForChat, waitForTurn } from "../support/chat.ts";
import { agentProgram } from "../support/foreign/program.ts";
import { FILE, turn, write } from "../support/review.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const FINDINGS =
  "```findings\na.txt:3: `THREE` is too loud\n../outside.txt:1: not here\nb.txt:1: not changed\n```";

Deno.test({
  name: "another agent reviews the changes: its findings are comments, and what it writes is not kept",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using program = await agentProgram(["always=review"]);
    await using agent = await sharedAgent({
      script: turn(write(FILE.replace("line 3", "THREE"))) + "\n---\nsay I lower it.",
      project: { "a.txt": FILE, "b.txt": "" },
      files: ["a.txt"],
      options: `sessions = { title = false }, agents = { ${program.row} }`,
      hasOwnState: true,
      lines: 40,
    });
    const { nvim, project, server } = agent;
    await program.plays(
      "review",
      { echo: true },
      { sh: "echo changed > b.txt; sed -i s/THREE/three/ a.txt" },
      { say: `I looked.\n\n${FINDINGS}` },
    );
    const complete = (words: string) => nvim.lua(`return vim.fn.getcompletion("Agent ${words}", "cmdline")`);
    assert.deepEqual(await complete("review by sc"), ["scripted"]);
    await nvim.command("Agent review by scripted");
    await nvim.waitForScreen("nothing to review");
    await nvim.command("Agent! edit it");
    await nvim.waitFor(`require("agent").status():find("ready$")`);
    await nvim.command("Agent review by scripted");
    await waitForChat(nvim, "1 finding is a comment in the files.");
    await waitForTurn(nvim);
    assert.match((await transcript(nvim, 0, 2)).join("\n"), /^-line 3\n\+THREE$/m);
    assert.equal(await project.read("b.txt"), "");
    assert.match(await project.read("a.txt"), /THREE/);
    await nvim.command("Agent toggle");
    await nvim.waitForScreen("▎ scripted: `THREE` is too loud");
    assert.deepEqual(await nvim.lua("return vim.fn.getqflist()"), []);
    await nvim.command("Agent review comments");
    assert.deepEqual(
      await nvim.lua(
        "return vim.tbl_map(function(one) return { one.lnum, one.text } end, vim.fn.getqflist())",
      ),
      [[3, "scripted: `THREE` is too loud"]],
    );
    assert.equal(server.requests.length, 3);
  },
});
