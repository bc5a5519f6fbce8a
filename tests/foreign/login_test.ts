/** The user logs in at another agent: by the agent, or by its command in a terminal of Neovim. */
import assert from "node:assert/strict";
import { waitForChat } from "../support/chat.ts";
import { menuPicker } from "../support/foreign/menus.ts";
import { agentProgram } from "../support/foreign/program.ts";
import { sharedAgent } from "../support/shared_agent.ts";

Deno.test({
  name:
    "a missing login is told; the agent's logins are offered, a command runs only after a yes, and the message is sent again",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using program = await agentProgram(["logins"]);
    const { folder } = program;
    await using agent = await sharedAgent({
      script: "",
      options: `sessions = { title = false }, agent = "scripted", agents = { ${program.row} }`,
      hasOwnState: true,
    });
    const { nvim } = agent;
    await nvim.command("Agent Hello");
    await waitForChat(nvim, "Scripted needs a login. Use `:Agent login`, then send the message again.");

    await nvim.keys(":Agent login<CR>");
    await nvim.waitForScreen("3: Plain");
    await nvim.keys("3<CR>");
    await nvim.waitForScreen("1: Run it");
    await nvim.keys("1<CR>");
    await nvim.waitFor(`vim.fn.mode() == "t"`);
    await nvim.keys("<C-\\><C-n>:bdelete!<CR>");
    await waitForChat(nvim, "The login of Scripted ended with code ");
    const menu = await menuPicker(nvim);

    const [logins, question] = await menu("Agent login", "Log in here", "Do not run it");
    assert.equal(logins?.prompt, "Log in at Scripted");
    const command = `HOW='by-hand' ${Deno.execPath()} run -A`;
    const names = [
      "Visit a page: no page at all",
      "Log in here (in a terminal)",
      "Plain (in a terminal)",
      "A key",
    ];
    assert.deepEqual(logins?.lines, names);
    assert.ok(question?.prompt.startsWith(command), question?.prompt);
    assert.ok(question?.prompt.endsWith(" logins login-now"), question?.prompt);
    const [, plain] = await menu("Agent login", "Plain", "Do not run it");
    assert.ok(plain?.prompt.endsWith(" logins plain-login"), plain?.prompt);
    await assert.rejects(folder.read("logged_in"), Deno.errors.NotFound);

    await menu("Agent login", "A key");
    await waitForChat(nvim, "Set SCRIPTED_KEY in Neovim's environment");

    // Scripts of the project's node_modules/.bin would run outside of every sandbox.
    const own = agent.project.path("bin");
    await nvim.lua(`vim.env.PATH = ... .. ":" .. vim.env.PATH`, own);
    await menu("Agent login", "Log in here", "Run it");
    await waitForChat(nvim, "The login of Scripted has ended. Send your message again.");
    const environment = await folder.read("logged_in");
    assert.match(environment, /^by-hand \//);
    assert.ok(!environment.includes(own), environment);
    assert.equal(await nvim.lua(`return vim.fn.tabpagenr("$")`), 1);
    await nvim.command("Agent Hello");
    await waitForChat(nvim, "You said: Hello");
  },
});
