/** A session that was recorded is played again, elsewhere and without the model; what is secret is not in it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { readRecording } from "../model/recording.ts";
import { PLUGIN, SECRET } from "../support/agent.ts";
import { reached } from "../support/server.ts";
import { sample } from "../support/sample.ts";
import { sharedAgent } from "../support/shared_agent.ts";
import { waitForChat, waitForTurn } from "../support/chat.ts";

const SCRIPT = `
call read_file {"path": "src/greet.ts"}
---
say I rename it.
call edit_file {"path": "src/greet.ts", "old_str": "greet", "new_str": "salute"}
call write_file {"path": ".env", "content": "API_KEY=abcd1234efgh\\n"}
call run_terminal_command {"command": "touch ran"}
---
say Done:
say
say it is salute now, in /home/somebody/notes too. ${SECRET}
---
say I have deleted it.
---
expect Your answer says that something was changed
say It is still there.
`;

/** No file of the project's, for some system. */
const OUTSIDE = [
  ".git/config",
  "a/.GIT/config",
  ".g\u200cit/x",
  ".git./x",
  "a/../.git/x",
  "GIT~1/x",
  "../x",
];

function replay(file: string): Promise<Deno.CommandOutput> {
  const args = ["run", "-A", "--quiet", join(PLUGIN, "scripts/replay.ts"), file];
  return new Deno.Command(Deno.execPath(), { args, stdin: "null" }).output();
}

/** What a replay prints. */
async function replayed(file: string): Promise<string> {
  const { code, stdout, stderr } = await replay(file);
  const text = new TextDecoder().decode(stdout);
  assert.equal(code, 0, text + new TextDecoder().decode(stderr));
  return text;
}

Deno.test("a fork is played, and turns that were stopped before their last answer", async () => {
  await using agent = await sharedAgent({
    script:
      'wait here\nsay Never.\n---\nnew-history\nsay First.\n---\ncall run_terminal_command {"command": "touch ran"}' +
      "\n---\nnew-history\nsay Second.",
    options: "sessions = { title = false }, shell = { commands = 'ask' }",
  });
  const { nvim, project, server } = agent;
  const stop = async (text: string, shown: () => Promise<unknown>) => {
    await nvim.command(`Agent ${text}`);
    await shown();
    await nvim.keys("<Esc>");
    await nvim.command("Agent stop");
    await waitForTurn(nvim);
  };
  await stop("one", () => reached(server, "here"));
  await nvim.command("Agent two");
  await waitForChat(nvim, "First.");
  await waitForTurn(nvim);
  await stop("three", () => nvim.waitForScreen("a once"));
  await nvim.command("Agent fork");
  await nvim.waitFor(`#require("agent.chat").list() == 2`);
  await waitForChat(nvim, "Stopped.");
  await nvim.command("Agent four");
  await waitForChat(nvim, "Second.");
  await waitForTurn(nvim);
  await nvim.command("Agent export fork.replay");
  await nvim.waitForScreen("written to fork.replay");
  const played = await replayed(project.path("fork.replay"));
  const lines = played.split("\n").filter((line) => line !== "");
  const [first, second] = [lines.indexOf("First."), lines.indexOf("Second.")];
  assert.deepEqual([lines[first - 1], lines[second - 1]], ["two", "four"], played);
  assert.match(played, /refused ─*\nnone\n/);
});

Deno.test("a recording is played in another folder: the same transcript and files, no keys, no commands", async () => {
  await using agent = await sharedAgent({
    script: SCRIPT,
    project: {
      "src/greet.ts": "export function greet() {}\n",
      "README.md": "# other\n",
      ".env": "OLD=very-secret-value\n",
    },
    options: "sessions = { title = false }, shell = { commands = 'ask' }",
  });
  const { nvim, project, server } = agent;
  server.playClaims(`when deleted it\nsay {"claims_change": true}`);
  await nvim.lua(`require("agent").send(...)`, `rename it in ${project.root}/src\npassword: hunter2hunter`);
  await nvim.waitForScreen("a once");
  await nvim.lua(`require("agent").approve()`);
  await nvim.waitFor(`require("agent.approval").count() == 1`);
  await nvim.waitForScreen("touch ran");
  await nvim.lua(`require("agent").reject("not now")`);
  await waitForChat(nvim, "it is salute now");
  await waitForTurn(nvim);
  await nvim.command("Agent delete README.md");
  await waitForChat(nvim, "It is still there.");
  await waitForTurn(nvim);
  const name = project.path("bug.replay");
  await nvim.command("Agent export bug.replay");
  await nvim.waitForScreen("written to bug.replay");
  const text = await Deno.readTextFile(name);
  for (
    const hidden of [SECRET, project.root, "hunter2", "abcd1234", "very-secret", "/home/somebody", "# other"]
  ) {
    assert.ok(!text.includes(hidden), `${hidden}\n${text}`);
  }
  assert.ok(text.includes("#@ file src/greet.ts\n#| export function greet() {}\n"), text);

  const hostile = (path: string) => text.replace("#@ file src/greet.ts", `#@ file ${path}`);
  for (const path of OUTSIDE) {
    assert.throws(() => readRecording(hostile(path)), /names a file outside of its project/, path);
  }
  for (const path of sample(OUTSIDE, 1)) {
    await project.write("hostile.replay", hostile(path));
    const { success, stderr } = await replay(project.path("hostile.replay"));
    assert.ok(!success, path);
    assert.match(new TextDecoder().decode(stderr), /names a file outside of its project/);
  }
  const played = await replayed(name);
  for (
    const line of [
      "+export function salute() {}",
      "+API_KEY=[removed]",
      "I rename it.",
      "Done:",
      "It is still there.",
      "none",
    ]
  ) {
    assert.ok(played.includes(line), `${line}\n${played}`);
  }
  assert.ok(!played.includes("+++ b/ran"));
});
