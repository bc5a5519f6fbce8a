/** Turns of another agent in the whole program: only the agent is scripted. */
import assert from "node:assert/strict";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import { agentProgram } from "../support/foreign/program.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";

const ignore = Deno.build.os !== "linux";
const options = (row: string) => `sessions = { title = false }, agent = "scripted", agents = { ${row} }`;
const READ = { call: "c1", title: "Read src/greet.ts", kind: "read", status: "in_progress" };
const COMPACT = { name: "compact", description: "Shorten it" };
const SAW = {
  more: "c1",
  status: "completed",
  content: [{ type: "content", content: { type: "text", text: "one\ntwo" } }],
};

Deno.test({
  name: "another agent's turn is shown, its changes are kept with their diff, found by why, and undone",
  ignore,
  async fn() {
    await using program = await agentProgram(["load"]);
    await program.plays(
      "edit",
      { update: { sessionUpdate: "available_commands_update", availableCommands: [COMPACT] } },
      { think: "I ponder." },
      { say: "I look first." },
      READ,
      SAW,
      { permit: { toolCallId: "p1", title: "Edit it", kind: "edit", locations: [{ path: "src/greet.ts" }] } },
      { sh: "sed -i s/Hello/Servus/ src/greet.ts; echo new > made.txt" },
      { more: "p1", status: "completed" },
      { say: "Renamed it." },
    );
    await program.plays("look", { show: "cat src/greet.ts" });
    await using agent = await sharedAgent({
      script: "",
      options: options(program.row),
      hasOwnState: true,
      lines: 40,
    });
    const { nvim, project } = agent;
    await nvim.command("edit src/greet.ts");
    await nvim.command("Agent play edit");
    await waitForTurn(nvim);
    await waitForChat(nvim, "Renamed it.");
    await waitForChat(nvim, "changes of Scripted");
    assert.match(await project.read("src/greet.ts"), /Servus/);
    assert.equal(await project.read("made.txt"), "new\n");
    await nvim.waitFor(
      `vim.fn.bufnr("src/greet.ts") > 0 and vim.fn.getbufline("src/greet.ts", 2)[1]:find("Servus") ~= nil`,
    );
    const [first] = await nvim.lua<readonly { readonly word: string }[]>(
      `return require("agent.chat.complete.slash").items(require("agent.chat").get(), {}, "/com")`,
    );
    assert.equal(first?.word, "/compact");
    await nvim.command("wincmd p | 2 | Agent why");
    await nvim.waitFor(
      `vim.bo.filetype == "agent" and vim.api.nvim_get_current_line():find("play edit") ~= nil`,
    );

    await endEngines(agent);
    await nvim.command("Agent resume");
    await waitForChat(nvim, "Renamed it.");
    await nvim.command("Agent play look");
    await waitForTurn(nvim);
    await waitForChat(nvim, "return Servus");
    await nvim.command("Agent undo 1");
    await nvim.waitFor(`vim.fn.filereadable("made.txt") == 0`);
    assert.match(await project.read("src/greet.ts"), /Hello/);
  },
});

Deno.test({
  name: "after a stop, an end or a failure of the agent the user decides about its changes",
  ignore,
  async fn() {
    await using program = await agentProgram();
    const { folder } = program;
    await program.plays("stop", { sh: "echo half > half.txt" }, { say: "It is half done." }, {
      cancelled: 1,
    });
    await program.plays("deaf", { sh: "echo more > more.txt" }, { say: "It does not listen." }, { never: 1 });
    const words = "Error: out of memory\n";
    await program.plays("end", { sh: "echo x > x.txt" }, { say: "Oh." }, { exit: 3, stderr: words });
    await program.plays("wait", { say: "It is waiting." }, { until: folder.path("go") }, { say: "Gone." });
    await using agent = await sharedAgent({
      script: "",
      options: options(program.row),
      hasOwnState: true,
      lines: 40,
    });
    const { nvim, project } = agent;
    const stop = async (said: string) => {
      await waitForChat(nvim, said);
      await nvim.keys("<C-c>");
    };
    await nvim.command("Agent play stop");
    await stop("It is half done.");
    await waitForChat(nvim, "Not kept yet: 1 change. Your next message asks about it.");
    await nvim.command("Agent Continue");
    await nvim.waitForScreen(/✓ A half.txt[^]*a keep/);
    await nvim.keys("a");
    await waitForChat(nvim, "You said: Continue");
    assert.equal(await project.read("half.txt"), "half\n");

    await nvim.command("Agent play deaf");
    await stop("It does not listen.");
    await waitForChat(nvim, "Not kept yet: 1 change.");
    await nvim.command("Agent Now?");
    await nvim.waitForScreen(/✓ A more.txt[^]*a keep/);
    await nvim.keys("r");
    await waitForChat(nvim, "You said: Now?");
    await assert.rejects(project.read("more.txt"), Deno.errors.NotFound);

    await nvim.command("Agent play end");
    await nvim.waitForScreen(/✓ A x.txt[^]*a keep/);
    await nvim.keys("r");
    await waitForChat(nvim, "Scripted has ended: exit code 3");
    await waitForChat(nvim, "out of memory");
    await nvim.command("Agent Are you there?");
    await waitForChat(nvim, "You said: Are you there?");
  },
});
