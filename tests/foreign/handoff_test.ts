/** `:Agent handoff`: the first message of a chat with another agent, composed of a session. */
import assert from "node:assert/strict";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import { agentProgram } from "../support/foreign/program.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const SCRIPT = `
call update_plan {"steps": [{"step": "Write the file", "status": "completed"}, {"step": "Test it", "status": "pending"}]}
call write_file {"path": "made.txt", "content": "one\\ntwo\\n"}
---
say I made it.
---
expect Another coding agent takes this work over
wait summary
say The goal is a file @https://example.org with two lines.
`;

const INPUT = `return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n")`;

Deno.test({
  name: "a session is handed over to another agent: the message waits in the input for the user",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using program = await agentProgram();
    await using agent = await sharedAgent({
      script: SCRIPT,
      options: `sessions = { title = false }, agents = { ${program.row} }`,
      hasOwnState: true,
      lines: 40,
    });
    const { nvim, server } = agent;
    const complete = (words: string) => nvim.lua(`return vim.fn.getcompletion("Agent ${words}", "cmdline")`);
    assert.deepEqual(await complete("handoff sc"), ["scripted"]);
    await nvim.command("Agent handoff scripted");
    await nvim.waitForScreen("nothing to hand over yet");
    await nvim.command("Agent Make a file");
    await waitForTurn(nvim);
    await waitForChat(nvim, "I made it.");
    await nvim.command("Agent handoff scripted test the file");
    // The chat opens at once, and the user types in it before the summary is there.
    await nvim.waitForScreen("Scripted · ");
    await waitForChat(nvim, "The session is being summarised.");
    await nvim.keys("<Esc>iquickly<Esc>");
    server.release("summary");
    await nvim.waitFor(`vim.api.nvim_get_current_buf() == require("agent.chat").current().input.buffer
      and vim.fn.search("Files that it has changed", "nw") > 0`);
    const text = await nvim.lua<string>(INPUT);
    assert.match(text, /^test the file\n\nIt was begun in another session: "Make a file"\.\n/);
    for (
      const part of [
        "Summary:\n\nThe goal is a file \\@https://example.org with two lines.",
        "The plan:\n\n",
        "Test it",
        "- made.txt (created, +2 −0)",
      ]
    ) assert.ok(text.includes(part), `${part}\n${text}`);
    assert.match(text, /\nquickly$/);
    assert.ok(
      await nvim.lua<number>("return vim.api.nvim_win_get_cursor(0)[1]") > 1,
      "the cursor stays there",
    );
    assert.equal(server.requests.length, 3);
    await nvim.command("Agent send");
    await waitForTurn(nvim);
    await waitForChat(nvim, "You said: test the file");

    // Without a summary the texts of the last turns are handed over; this session's agent writes none.
    await nvim.command("Agent handoff scripted");
    await nvim.waitFor(`#require("agent.chat").list() == 3 and vim.fn.search("Its last turns", "nw") > 0`);
    const turns = await nvim.lua<string>(INPUT);
    assert.match(turns, /^Continue this work\.\n/);
    assert.match(turns, /Its last turns:\n\nUser: test the file\n[^]*Agent: You said: test the file/);
  },
});
