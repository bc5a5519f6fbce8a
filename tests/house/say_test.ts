/** What is said outside of the chat: never "Press ENTER", and all of it can be read, at 80 and at 40 columns. */
import assert from "node:assert/strict";
import { PLUGIN } from "../support/agent.ts";
import { literals, LUA } from "../support/literals.ts";
import { ChildNvim } from "../support/nvim.ts";
import { waitUntil } from "../support/project.ts";

const SAID = /\bsay\.(info|warn|error)\(/;

/** Every text that the code says, with words of some length where a template has a place for them. */
async function texts(): Promise<string[]> {
  const found = (await literals(LUA)).filter(({ text, code }) => SAID.test(code) && text.includes(" "));
  return [
    ...new Set(found.map(({ text }) => text.replaceAll(/%(-?\d*)[sd]/g, "some/folder/of_the/project.ts"))),
  ];
}

/** The screen without blanks, and so without the breaks that its width has made. */
const joined = (rows: readonly string[]) => rows.join("").replaceAll(" ", "");

for (const columns of [80, 40]) {
  Deno.test(`no text that is said asks for a key at ${columns} columns, and all of it is shown`, async () => {
    await using nvim = await ChildNvim.start({ runtime: [PLUGIN], columns, lines: 15 });
    const all = await texts();
    assert.ok(all.length > 40, `${all.length} texts`);
    all.push("Cannot reach github.com: connection refused. Check the network. ".repeat(4).trim());
    for (const text of all) {
      const line = await nvim.lua<string>(
        `require("agent.ui.say").error(...) return require("agent.ui.say").line(...)`,
        text,
      );
      await nvim.waitForScreen(() => joined(nvim.screen()).includes(line.replaceAll(" ", "")));
      assert.deepEqual(await nvim.request("nvim_get_mode"), { mode: "n", blocking: false }, line);
    }
    const kept = await nvim.lua<string>(`return vim.fn.execute("messages")`);
    assert.ok(kept.includes("agent: nothing to review\n"), kept);
    assert.ok(
      kept.includes(`agent: ${"cannot reach github.com: connection refused. Check the network."}`),
      kept,
    );
  });
}

Deno.test("a long message takes no focus, goes with a key, and several stand below each other", async () => {
  await using nvim = await ChildNvim.start({ runtime: [PLUGIN], columns: 40, lines: 15 });
  const say = (lua: string) => nvim.lua(`local say = require("agent.ui.say") ${lua}`);
  const window = await nvim.lua("return vim.api.nvim_get_current_win()");
  await say(`say.info("one") say.warn("two") say.error("three is so long that the last line has no room")`);
  await nvim.waitForScreen(
    /agent: one *\nagent: two *\nagent: three is so long that the last *\nline has no room/,
  );
  assert.equal(await nvim.lua("return vim.api.nvim_get_current_win()"), window);
  // A key that comes at once was meant for something else.
  await waitUntil("the message to go with a key", async () => {
    await nvim.keys("j");
    return !nvim.text().includes("agent: two");
  });

  await say(`say.info("the worktree one-two is ready: :Agent worktree goes there")`);
  await nvim.waitForScreen(/agent: the worktree one-two is ready: *\n:Agent worktree goes there/);
  await say(`say.info("the worktree is ready: run :Agent worktree to go there")`);
  await nvim.waitForScreen(/agent: the worktree is ready: run *\n:Agent worktree to go there/);

  // In a float the ruler needs the last line: the message stands above it, once.
  await nvim.lua(`vim.o.ruler = true
    local config = { relative = "editor", row = 1, col = 1, width = 9, height = 2 }
    vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true, config)`);
  await say(`say.info("one file was restored")`);
  const screen = await nvim.waitForScreen("agent: one file was restored");
  assert.equal(screen.split("one file").length, 2, screen);
  await nvim.command("close");

  // The user is typing a command line, or text.
  await nvim.keys(":echo 12");
  await say(`say.error(("wide 漢字 "):rep(10))`);
  await nvim.keys("3");
  await nvim.waitForScreen(":echo 123");
  assert.doesNotMatch(nvim.text(), /agent: wide/, "it waits for the end of the command line");
  await nvim.keys("<CR>");
  await nvim.waitForScreen(/agent: wide 漢字/);
  await nvim.keys("ihello");
  await say(`say.error(("another "):rep(10))`);
  await nvim.waitForScreen(/another another/);
  await nvim.keys(" you<Esc>");
  assert.equal(await nvim.lua("return vim.api.nvim_get_current_line()"), "hello you");

  // All of an error of our own is for `:messages`; its first line for the screen.
  await say(`say.bug("went wrong\\nstack traceback:\\n  [C]: in function")`);
  await nvim.waitForScreen("agent: went wrong");
  await nvim.waitForScreenGone("traceback");
  assert.match(await nvim.lua<string>(`return vim.fn.execute("messages")`), /stack traceback/);
  await nvim.command("set cmdheight=0");
  await say(`say.info("nothing to review")`);
  await nvim.waitForScreen("agent: nothing to review");
  assert.deepEqual(await nvim.request("nvim_get_mode"), { mode: "n", blocking: false });
  await say(`vim.notify = function(text) _G.told = text end say.error(("all "):rep(60))`);
  const told = await nvim.lua<string>("return _G.told");
  assert.equal(told.replaceAll("\n", " "), `agent: ${"all ".repeat(60).trim()}`);
  // In lines: its box may be cut at the edge of the screen.
  assert.ok(told.split("\n").every((line) => line.length <= 32), told);
});

Deno.test("a message is shown in the tab page that the user is in, while another one is shown elsewhere", async () => {
  await using nvim = await ChildNvim.start({ runtime: [PLUGIN], columns: 40, lines: 15 });
  const say = async (text: string) => {
    await nvim.lua(`require("agent.ui.say").info(...)`, text);
    await nvim.waitFor(`vim.fn.execute("messages"):gsub("\\n", ""):find("${text}", 1, true)`);
    // The last line may have shown it for a moment.
    await nvim.command("mode");
    await nvim.waitForScreen(() => joined(nvim.screen()).includes(text.replaceAll(" ", "")));
  };
  await say("the first one is so long that the last line has no room");
  await nvim.command("tabnew");
  await say("the second one is so long that the last line has no room");
  await nvim.command("tabprevious | redraw");
  await nvim.waitForScreen((screen) => !screen.includes("the first one"));
});
