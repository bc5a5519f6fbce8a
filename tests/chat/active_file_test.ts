/** The text of the file that the user looks at, for turns without tools. Whole program. */
import assert from "node:assert/strict";
import { messagesOf } from "../model/model_messages.ts";
import { GREET, type RunningAgent } from "../support/agent.ts";
import { transcript, waitForTurn } from "../support/chat.ts";
import { sharedAgent } from "../support/shared_agent.ts";

/** Sends a message. @returns the message as the model has it */
async function ask({ nvim, server }: RunningAgent, text: string): Promise<string> {
  const before = server.requests.length;
  await nvim.lua(`require("agent").send(...)`, text);
  await nvim.waitForScreen(() => server.requests.length > before);
  await waitForTurn(nvim);
  const body = server.requests.at(-1)?.body ?? {};
  return messagesOf("openai_chat", body).findLast(({ role }) => role === "user")?.text ?? "";
}

Deno.test("a turn without tools gets the text of the file that the user looks at: shown, removable, once, and never a secret", async () => {
  const talk = "---\ndescription: talks\ntools: none\n---\nBe brief.\n";
  const long = Array.from({ length: 900 }, (_, at) => `line ${at + 1} of many`).join("\n");
  const project = {
    ...GREET,
    ".env": "KEY=secret\n",
    "src/other.ts": "export const other = 1;\n",
    ".agents/agents/talk.md": talk,
    "src/long.txt": `${long}\n`,
  };
  await using agent = await sharedAgent({
    script: "say Done.\nrepeat",
    project,
    files: ["src/greet.ts"],
    options: "sessions = { title = false }",
  });
  const { nvim, server } = agent;
  const look = (file: string) =>
    nvim.lua(
      `local file = ...
      vim.api.nvim_win_call(vim.fn.win_getid(1), function() vim.cmd("hide edit " .. file) end)`,
      file,
    );
  const go = (line: number) =>
    nvim.lua(
      `vim.api.nvim_win_set_cursor(vim.fn.win_getid(1), { ..., 0 })
      require("agent.chat").current().attachments:show()`,
      line,
    );
  await nvim.command("Agent");
  await nvim.waitForScreen("▸ src/greet.ts:1");
  await nvim.command("Agent mode talk");
  await nvim.waitForScreen("▸ src/greet.ts:1 with text");
  await nvim.lua(`vim.api.nvim_buf_set_lines(vim.fn.bufnr("src/greet.ts"), 0, 0, false, { "// unsaved" })`);
  const first = await ask(agent, "What is this?");
  const contents = /Contents of src\/greet\.ts \(already provided, do not read again\):\n```\n\/\/ unsaved\n/;
  assert.match(first, contents);
  assert.match(first, /This mode has no tools/);
  assert.equal(server.requests.at(-1)?.body.tool_choice, "none");
  assert.deepEqual((await transcript(nvim)).slice(0, 2), ["What is this?", "▸ src/greet.ts"]);
  await nvim.waitForScreen("▸ src/greet.ts:2 text sent");
  assert.doesNotMatch(await ask(agent, "And why?"), /unsaved|unchanged since/);
  await nvim.lua(`vim.api.nvim_buf_set_lines(vim.fn.bufnr("src/greet.ts"), 0, 1, false, { "// changed" })`);
  assert.match(await ask(agent, "Now?"), /Contents of src\/greet\.ts .*\n```\n\/\/ changed\n/);
  assert.equal(
    (await ask(agent, "See @src/greet.ts")).match(/\/\/ changed/g),
    null,
    "it is not handed over twice",
  );

  await look("src/long.txt");
  await nvim.waitForScreen(/▸ src\/long\.txt:1 with L1–\d+/);
  const cut = await ask(agent, "And this?");
  assert.match(cut, /Lines 1-\d+ of 900 of src\/long\.txt \(the rest is cut off\):\n```\nline 1 of many\n/);
  assert.ok(cut.length < 9_000);
  await nvim.waitForScreen(/▸ src\/long\.txt L1–\d+ of 900/);
  await nvim.waitForScreen(/▸ src\/long\.txt:1 L1–\d+ sent/);
  // Beyond these lines the message has those around the cursor.
  await go(600);
  await nvim.waitForScreen(/▸ src\/long\.txt:600 with L\d+–\d+/);
  const around = await ask(agent, "And here?");
  const lines = /Lines (\d+)-(\d+) of 900 of src\/long\.txt \(the rest is cut off\):\n```\n(line .*)\n```/s
    .exec(around);
  const [, from = "", to = "", body = ""] = lines ?? [];
  assert.equal(body, long.split("\n").slice(Number(from) - 1, Number(to)).join("\n"));
  assert.ok(Number(from) < 400 && Number(to) > 800 && body.length > 7_900 && body.length <= 8_000, around);
  await nvim.waitForScreen(`▸ src/long.txt L${from}–${to} of 900`);
  await go(605);
  await nvim.waitForScreen(`▸ src/long.txt:605 L${from}–${to} sent`);
  assert.doesNotMatch(await ask(agent, "Still here?"), /of many/);

  await look(".env");
  await nvim.waitForScreen("▸ .env:1");
  assert.doesNotMatch(await ask(agent, "A secret?"), /secret\n|\.env/);
  assert.doesNotMatch(nvim.text(), /\.env:1 with text|Not handed over/);

  await look("src/other.ts");
  await nvim.waitForScreen("▸ src/other.ts:1 with text");
  await nvim.lua(`vim.ui.select = function(items, _, choose) choose(items[1]) end`);
  await nvim.keys("<Esc>ga");
  await nvim.waitForScreenGone("src/other.ts:1 with text");
  assert.doesNotMatch(await ask(agent, "Without it?"), /other/);
  await nvim.command("Agent mode agent");
  await nvim.keys("ga");
  await nvim.waitForScreen(/▸ src\/other\.ts:1(?! with text)/);
  assert.doesNotMatch(await ask(agent, "With tools?"), /other = 1/);
  assert.deepEqual(server.problems, []);
});
