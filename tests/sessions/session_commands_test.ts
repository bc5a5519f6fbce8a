/** Sessions outlive Neovim, the supervisor and the engine. Whole program. */
import assert from "node:assert/strict";
import { storedSessions } from "../../denops/agent/supervisor/sessions/stored_sessions.ts";
import { type RunningAgent, startAgent } from "../support/agent.ts";
import { say, transcript, waitForChat, waitForTurn } from "../support/chat.ts";
import { waitUntil } from "../support/project.ts";
import { expectScreen } from "../support/screenshot.ts";
import { reached } from "../support/server.ts";
import { sharedAgent, type SharedOptions } from "../support/shared_agent.ts";
import { storeSession } from "../support/stored_session.ts";

/** Not asked for a title, so that each request is one of the script's. */
const OPTIONS = "sessions = { title = false }";

const TALK = `
think The project comes first.
say I look at it.
call list_directory {"path": "."}
call read_file {"path": "src/greet.ts"}
---
say Now I rename it.
call edit_file {"path": "src/greet.ts", "old_str": "greet", "new_str": "salute"}
call read_file {"path": "src/missing.ts"}
usage 1200 85
---
say Done: it is **salute** now.
usage 2000 34
---
say Half of an answer
wait never
`;

/** One whose project may have sessions of earlier tests. */
function share(script: string, more: Partial<SharedOptions> = {}): Promise<RunningAgent> {
  return sharedAgent({ script, options: OPTIONS, ...more });
}

/** All lines of the current chat's transcript. */
function lines({ nvim }: RunningAgent): Promise<readonly string[]> {
  return nvim.lua(
    `return vim.api.nvim_buf_get_lines(require("agent.chat").current().transcript.buffer, 0, -1, false)`,
  );
}

/** The number of the current chat. */
function chatNumber({ nvim }: RunningAgent): Promise<number> {
  return nvim.lua(`return require("agent.chat").current().id`);
}

/** The newest request's messages, as the model got them. */
function sent({ server }: RunningAgent): string {
  return JSON.stringify(server.requests.at(-1)?.body);
}

/** Plays TALK up to the stopped answer. */
async function talk(agent: RunningAgent): Promise<void> {
  const { nvim } = agent;
  await nvim.command("Agent rename greet to salute");
  await waitForChat(nvim, "Done: it is salute now.");
  await waitForTurn(nvim);
  await say(nvim, "Tell me more");
  await waitForChat(nvim, "Half of an answer");
  await nvim.keys("<C-c>");
  await waitForTurn(nvim);
}

const CLOSE_ALL = `local chats = require("agent.chat") vim.iter(chats.list()):each(chats.close)`;

/** Closes the chats, and waits until no engine has a session of the project open, also none whose Neovim has died. */
async function closeAll({ nvim, state }: RunningAgent): Promise<void> {
  await nvim.lua(CLOSE_ALL);
  await waitUntil("the sessions to be closed", async () => {
    return (await storedSessions(state.root)).every(({ open }) => !open);
  });
}

/** `_G.changed` gets the titles of sessions. */
async function renameArchiveDelete(agent: RunningAgent): Promise<void> {
  const { nvim } = agent;
  const chat = await chatNumber(agent);
  await nvim.lua("_G.changed = {}");
  await nvim.keys('<Esc><Cmd>Agent rename "The great renaming"<CR>');
  await nvim.waitForScreen("The great renaming · scripted");
  assert.deepEqual(await nvim.lua("return _G.changed"), [`${chat} The great renaming`]);

  await nvim.keys("<Esc><Cmd>Agent resume<CR>");
  await nvim.waitForScreen("agent: this session is already open");
  assert.equal(await chatNumber(agent), chat);

  await nvim.keys('<Cmd>Agent rename ""<CR>');
  await nvim.waitForScreen("Title: The great renaming");
  await nvim.keys("<Esc>");

  await nvim.command("Agent archive");
  await nvim.waitForScreen("archived; :Agent session archive brings it back");
  await nvim.keys("<Esc><Cmd>Agent sessions<CR>");
  await nvim.waitForScreen(/Sessions of this project · 1 · archived\s+.*▫ The great renaming /);
  await nvim.keys("q");
  await nvim.command("Agent archive");
  await nvim.waitForScreen("no longer archived");

  await nvim.keys("<Esc><Cmd>Agent delete<CR>");
  await nvim.waitForScreen("Delete The great renaming?");
  await nvim.keys("1<CR>");
  assert.equal(await nvim.lua(`return #require("agent.chat").list()`), 1);
  await nvim.keys("<Esc><Cmd>Agent delete<CR>");
  await nvim.waitForScreen("Delete The great renaming?");
  await nvim.keys("2<CR>");
  await nvim.waitForScreen("the session is deleted");
  await nvim.waitForScreenGone("Agent ──");
  assert.equal(await nvim.lua(`return vim.fn.bufnr("^agent://chat-${chat}$")`), -1);
  await nvim.command("Agent resume");
  await nvim.waitForScreen("this project has no sessions yet");
  await nvim.command("messages clear | Agent sessions");
  await nvim.waitFor(`vim.fn.execute("messages"):find("this project has no sessions yet", 1, true)`);
}

Deno.test("a session that is searched for, renamed, archived and deleted", async (test) => {
  await using agent = await share(TALK, { files: ["README.md"], hasOwnState: true });
  const { nvim } = agent;
  await nvim.lua(`_G.changed = {}
    vim.api.nvim_create_autocmd("User", { pattern = "AgentSessionChanged", callback = function(event)
      table.insert(_G.changed, event.data.chat .. " " .. event.data.title)
    end })`);
  await talk(agent);
  const first = await chatNumber(agent);
  // A session and its first title may arrive together.
  assert.deepEqual(
    (await nvim.lua<string[]>("return _G.changed")).filter((change) => change !== `${first} `),
    [`${first} rename greet to salute`],
  );

  await test.step("a search fills the quickfix list; an entry opens its session at the turn", async () => {
    await nvim.keys("<Esc>");
    await nvim.lua(CLOSE_ALL);
    assert.equal(await nvim.lua("return vim.fn.bufnr('^agent://chat-*[0-9]$')"), -1);
    await nvim.command('Agent! sessions "Edited greet"');
    await nvim.waitFor(`vim.bo.buftype == "quickfix"`);
    const list = await nvim.lua<{ title: string; items: readonly { text: string; module: string }[] }>(
      "return vim.fn.getqflist({ title = true, items = true })",
    );
    assert.equal(list.title, "Agent: Edited greet");
    assert.match(list.items[0]?.text ?? "", /Edited src\/greet\.ts/);
    for (const jump of ["<CR>", "<Esc><Cmd>Agent toggle<CR><Cmd>cc 1<CR>"]) {
      await nvim.keys(jump);
      await waitForChat(nvim, "rename greet to salute");
      await nvim.waitFor(`vim.bo.filetype == "agent"`);
      assert.equal(await nvim.lua("return vim.api.nvim_get_current_line()"), "rename greet to salute");
    }
    // The file is where it was, under the chat.
    await nvim.keys("q");
    assert.equal(await nvim.lua(`return vim.fn.bufwinnr("README.md") > 0`), true);
    assert.equal(await nvim.lua("return #require('agent.chat').list()"), 1);

    await nvim.command("cclose");
    await nvim.keys('<Cmd>Agent sessions "Half answer"<CR>');
    await nvim.waitForScreen(/rename greet to salute · \d\d:\d\d · assistant: Half of an answer/);
    await nvim.keys("<CR>");
    await nvim.waitFor(`vim.api.nvim_get_current_line() == "Tell me more"`);
    await nvim.command("Agent sessions nowhere_at_all");
    await nvim.waitForScreen("no session has nowhere_at_all");
  });

  await test.step("rename, archive and delete", () => renameArchiveDelete(agent));
});

Deno.test("two Neovims on one project", async (test) => {
  await using first = await share(TALK);
  await talk(first);
  const before = await lines(first);
  await closeAll(first);
  await using second = await startAgent({
    ...{ script: "", options: OPTIONS, beside: first },
    files: ["README.md"],
  });
  const { server } = first;

  await test.step(":Agent resume shows what was there, and the model is sent all of it", async () => {
    const { nvim } = second;
    await nvim.command("Agent resume");
    await waitForChat(nvim, "Half of an answer");
    assert.deepEqual(await lines(second), before);
    await nvim.waitForScreen("rename greet to salute · scripted · 2k of 128k tokens · ready");
    await expectScreen(nvim, "resumed-80x24");

    server.play("new-history\nexpect Go on\nsay As I said.");
    await say(nvim, "Go on");
    await waitForChat(nvim, "As I said.");
    await waitForTurn(nvim);
    for (const text of ["rename greet to salute", "Edited src/greet.ts", "Half of an answer", "Go on"]) {
      assert.ok(sent(second).includes(text), text);
    }
    assert.deepEqual(server.problems, []);
    assert.deepEqual((await lines(second)).slice(0, before.length), before);
  });

  let chat = 0;
  await test.step("whoever opens what is in use is told what to do, and goes on with a copy", async () => {
    const { nvim } = first;
    await nvim.command("Agent sessions");
    await nvim.waitForScreen(/rename greet to salute .* · in use/);
    await nvim.keys("<CR>");
    await waitForChat(nvim, "open in another Neovim. Continue with a copy: use :Agent session fork.");
    chat = await chatNumber(first);
    const requests = server.requests.length;
    server.play("new-history\nexpect Mine now\nsay A copy it is.");
    await say(nvim, "Mine now");
    await waitForChat(nvim, "This session is open in another Neovim.");
    await waitForTurn(nvim);
    assert.equal(server.requests.length, requests);
    await nvim.keys("<Esc><Cmd>Agent fork<CR>");
    await nvim.waitFor(`require("agent.chat").current().id > ${chat}`);
    await waitForChat(nvim, "As I said.");
    await say(nvim, "Mine now");
    await waitForChat(nvim, "A copy it is.");
    assert.ok(sent(first).includes("Edited src/greet.ts"));
    // The other one's goes on untouched.
    server.play("new-history\nexpect Still mine\nexpect-not Mine now\nsay Yours.");
    await say(second.nvim, "Still mine");
    await waitForChat(second.nvim, "Yours.");
    await waitForTurn(second.nvim);
    assert.deepEqual(server.problems, []);
  });

  await test.step("once its chat is closed, its turns are shown here before anything is sent", async () => {
    const { nvim } = first;
    await second.nvim.lua(`local chats = require("agent.chat") chats.close(chats.current())`);
    await nvim.keys("<Esc>");
    await waitUntil("the session to be free", async () => {
      return (await storedSessions(first.state.root)).filter(({ open }) => open).length === 1;
    });
    server.play("new-history\nexpect Now mine\nsay At last.");
    await nvim.command("Agent sessions");
    // The fork, which has the same name, may be above it.
    await nvim.waitFor(String.raw`vim.fn.search([[salute \+\d]], "cw") > 0`);
    await nvim.keys("<CR>");
    await nvim.waitFor(`require("agent.chat").current().id == ${chat}`);
    const requests = server.requests.length;
    await nvim.command("Agent Now mine");
    await waitForChat(nvim, "Yours.");
    await waitForChat(nvim, "Another Neovim has continued this session.");
    const shown = (await lines(first)).filter((line) => line !== "");
    assert.deepEqual(shown.slice(0, 2), before.filter((line) => line !== "").slice(0, 2));
    assert.deepEqual(shown.slice(-4), [
      ...["As I said.", "Still mine", "Yours."],
      "Another Neovim has continued this session. Read its turns above, then send again.",
    ]);
    assert.equal(server.requests.length, requests);
    await nvim.keys("<Esc><Cmd>Agent open<CR><C-s>");
    await waitForChat(nvim, "At last.");
    // The newest session is the one whose turn ended last.
    await waitForTurn(nvim);
    assert.ok(sent(first).includes("Still mine"));
    assert.deepEqual(server.problems, []);
  });

  await test.step("a turn that died with its Neovim was interrupted", async () => {
    server.play("new-history\nsay The first half\nwait here\nsay and the second.");
    await second.nvim.command("Agent new");
    await second.nvim.command("Agent Hello");
    await reached(server, "here");
    await waitForChat(second.nvim, "The first half");
    second.nvim.kill("SIGKILL");
    await second.nvim.exited;
    await closeAll(first);
    await first.nvim.command("Agent resume");
    await waitForChat(first.nvim, "Interrupted before its end.");
    assert.deepEqual(await transcript(first.nvim), [
      "Hello",
      "The first half",
      `Interrupted before its end. Send "continue" to go on.`,
    ]);
  });
});

Deno.test("the list: newest first, with what there was; the one that is open here is gone back to", async () => {
  const script = "say One.\nusage 1500 12\n---\nnew-history\nsay Two.\nusage 10 2";
  await using agent = await share(script);
  const { nvim } = agent;
  await nvim.command("Agent the first topic");
  await waitForChat(nvim, "One.");
  await waitForTurn(nvim);
  const first = await chatNumber(agent);
  await nvim.command("Agent new");
  await nvim.command("Agent the second topic");
  await waitForChat(nvim, "Two.");
  await waitForTurn(nvim);
  const second = await chatNumber(agent);
  await nvim.keys("<Esc><Cmd>Agent sessions<CR>");
  await nvim.waitForScreen(
    /✓ the second topic .*\d\d:\d\d · 1 turn\s*\n.*✓ the first topic .*\d\d:\d\d · 1 turn/,
  );
  await nvim.keys("j<CR>");
  await waitForChat(nvim, "One.");
  assert.equal(await chatNumber(agent), first);
  await nvim.keys("<Esc><Cmd>Agent chats<CR>");
  await nvim.waitForScreen(new RegExp(`2: chat ${second} {2}ready {2}the second topic`));
});

Deno.test("a session that is exported and forked", async (test) => {
  await using agent = await share(TALK);
  const { nvim, project, server } = agent;
  await talk(agent);

  await test.step("export: markdown into a buffer or a file, JSON by the name; nothing is overwritten unasked", async () => {
    await nvim.keys("<Esc><Cmd>Agent export talk.json<CR>");
    await nvim.waitForScreen("written to talk.json");
    assert.ok(JSON.stringify(JSON.parse(await project.read("talk.json"))).includes("Tell me more"));
    await nvim.keys("<Esc><Cmd>Agent export README.md<CR>");
    await nvim.waitForScreen("README.md exists");
    assert.equal(await project.read("README.md"), "# demo\n");
    // The screen shows a stop before it is stored.
    let number = 0;
    await waitUntil("the end of the turn to be stored", async () => {
      const file = `talk-${++number}.md`;
      await nvim.keys(`<Esc><Cmd>Agent export ${file}<CR>`);
      await waitUntil(file, () => project.read(file).then(() => true, () => false));
      return (await project.read(file)).includes("*Ended: cancelled.*");
    });
    await nvim.keys("<Esc><Cmd>Agent! export README.md<CR>");
    await nvim.waitForScreen("written to README.md");
    assert.match(await project.read("README.md"), /Done: it is \*\*salute\*\* now\./);
    // One that does not come to its end changes nothing, and leaves nothing.
    await nvim.lua(
      `local out = require("agent.sessions.export").file(..., true)
      out.add("half") out.cancel()`,
      project.path("talk.json"),
    );
    JSON.parse(await project.read("talk.json"));
    const names = (await Array.fromAsync(Deno.readDir(project.root))).map(({ name }) => name);
    assert.ok(!names.some((name) => name.includes(".part")), names.join());
    await nvim.keys("<Esc><Cmd>Agent export<CR>");
    await nvim.waitFor(`vim.bo.filetype == "markdown"`);
    const shown = await nvim.lua<readonly string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, false)");
    assert.equal(shown.join("\n") + "\n", await project.read("README.md"));
  });

  await test.step("a fork at a message goes back to before it, with the message to be changed", async () => {
    const before = await chatNumber(agent);
    await nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`);
    await nvim.keys("<Esc>gg/Tell me<CR><Cmd>Agent fork<CR>");
    await nvim.waitFor(`require("agent.chat").current().id > ${before}`);
    await waitForChat(nvim, "Done: it is salute now.");
    assert.ok(!(await lines(agent)).includes("Tell me more"));
    await nvim.waitFor(`require("agent.chat").current().input:text() == "Tell me more"`);
    server.play("new-history\nexpect Tell me more, please\nsay With pleasure.");
    await nvim.keys("<Esc>A, please<Esc><CR>");
    await waitForChat(nvim, "With pleasure.");
    assert.ok(!sent(agent).includes("Half of an answer"));
    assert.deepEqual(server.problems, []);

    // Before the first message there is nothing: a new session, with the message.
    await nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`);
    await nvim.keys("<Esc>gg<Cmd>Agent fork<CR>");
    await nvim.waitFor(`require("agent.chat").current().input:text() == "rename greet to salute"`);
    assert.deepEqual(await lines(agent), [""]);
  });
});

Deno.test("a session of 300 turns: keys alone lead up to the first message, and nothing is missing", async () => {
  await using agent = await share("repeat\nsay Yes.");
  const { nvim } = agent;
  await nvim.command("Agent Hello");
  await waitForTurn(nvim);
  await storeSession(agent, 300);
  await nvim.keys("<Esc><Cmd>Agent resume 300<CR>");
  await nvim.waitForScreen("no session has 300 in its title");
  await nvim.keys("<Esc><Cmd>Agent resume question<CR>");
  await waitForChat(nvim, "answer 300");
  await nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`);
  await nvim.keys("<Esc>");
  await waitUntil("the first message", async () => {
    await nvim.keys("<C-u>gg");
    return nvim.text().includes("❯ question 1 ");
  });
  const questions = (await lines(agent)).filter((line) => line.startsWith("question "));
  assert.deepEqual(questions, Array.from({ length: 300 }, (_, at) => `question ${at + 1}`));
});
