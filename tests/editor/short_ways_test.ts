/** Lines that are changed in place, questions beside a turn, messages of commits: in a real Neovim. */
import assert from "node:assert/strict";
import { messagesOf } from "../model/model_messages.ts";
import { GREET, type RunningAgent } from "../support/agent.ts";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import { git, waitUntil } from "../support/project.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const FILE = "src/greet.ts";
const OTHERS = "\nexport function one() {\n  return 1;\n}\n\nexport function two() {\n  return 2;\n}\n";

function start(script: string): Promise<RunningAgent> {
  return sharedAgent({
    script,
    project: { ...GREET, [FILE]: GREET[FILE] + OTHERS },
    files: [FILE],
    options: "sessions = { title = false }",
    lines: 30,
  });
}

function newest({ server }: RunningAgent): string {
  const body = server.requests.at(-1)?.body ?? {};
  return messagesOf("openai_chat", body).findLast(({ role }) => role === "user")?.text ?? "";
}

const lines = ({ nvim }: RunningAgent) =>
  nvim.lua<string[]>(`return vim.api.nvim_buf_get_lines(vim.fn.bufnr("${FILE}"), 0, -1, false)`);

Deno.test("edit in place: two at once, each its lines alone, reviewable, one undo each, stopped at the cursor", async () => {
  await using agent = await start(
    "when the greeting\nwait first\nsay Here:\nsay ```ts\nsay return `Bye ${name}`;\nsay ```\n---\n" +
      "when the two\nsay ```\nsay   return 22;\nsay   // two\nsay ```\n---\nwhen the third\nwait never\nsay no",
  );
  const { nvim, server, project } = agent;
  await nvim.command("2,2Agent edit the greeting");
  await nvim.waitForScreen(/Hello.* . \d+ s {2}the greeting/);
  assert.equal(await nvim.lua("return #vim.api.nvim_list_wins()"), 1, "no window opens");
  await nvim.command("10,10Agent edit the two");
  await nvim.waitForScreen("return 22;");
  assert.ok(server.requests.some(({ text }) => text.includes("<selected>\n  return 2;\n</selected>")));
  // The user goes on typing above it meanwhile.
  await nvim.keys("ggO// mine<Esc>");
  server.release("first");
  await nvim.waitForScreen("return `Bye");
  await nvim.waitForScreenGone("the greeting");
  const [mine, , bye = ""] = await lines(agent);
  assert.deepEqual([mine, bye], ["// mine", "  return `Bye ${name}`;"], "indented as the lines were");
  assert.match(await project.read(FILE), /return 22;\n {2}\/\/ two\n}\n$/);
  await nvim.waitFor(`#vim.fn.getqflist() == 0 and #vim.tbl_keys(require("agent.chat").list()) == 1`);
  await nvim.command("Agent review");
  await nvim.waitFor(`#vim.fn.getqflist() > 0`);
  await nvim.command(`cclose | buffer ${FILE}`);
  await nvim.keys("u");
  assert.match((await lines(agent)).join("\n"), /Hello/);
  assert.match((await lines(agent)).join("\n"), /return 22;/, "one undo takes one edit back");
  await nvim.command("6,6Agent edit the third");
  await nvim.waitForScreen(/\d s {2}the third/);
  await nvim.keys("6G:Agent stop<CR>");
  await nvim.waitForScreenGone(/\d s {2}the third/);
  assert.equal(
    await nvim.lua("return #require('agent.chat').list()"),
    2,
    "what was stopped can be looked at",
  );
  assert.deepEqual(server.problems, []);
});

Deno.test("edit in place by an operator; the dot wants the same of other lines, after a command of as many", async () => {
  const answer = (when: string, text: string) =>
    `when ${when}\nsay \`\`\`\nsay ${text}\nsay \`\`\`\n---\n`.repeat(2);
  await using agent = await start(
    `${answer("add a comment", "  return 0;")}${answer("drop it", "}")}when never\nsay no`,
  );
  const { nvim, server } = agent;
  await nvim.lua(`vim.keymap.set({ "n", "x" }, "gE", "<Plug>(AgentEditOperator)")`);
  await nvim.keys("6GgE_");
  await nvim.waitForScreen("Edit:");
  await nvim.keys("add a comment<CR>");
  await nvim.waitFor(`vim.api.nvim_buf_get_lines(vim.fn.bufnr("${FILE}"), 5, 6, false)[1] == "  return 0;"`);
  await nvim.keys("10G.");
  await nvim.waitFor(`vim.api.nvim_buf_get_lines(vim.fn.bufnr("${FILE}"), 9, 10, false)[1] == "  return 0;"`);
  await nvim.keys("4G");
  await nvim.command("2,3Agent edit drop it");
  assert.equal(await nvim.lua("return vim.fn.line('.')"), 4, "the cursor stays");
  await nvim.waitFor(`vim.api.nvim_buf_line_count(vim.fn.bufnr("${FILE}")) == 10`);
  await nvim.keys("9G.");
  await nvim.waitFor(`vim.api.nvim_buf_line_count(vim.fn.bufnr("${FILE}")) == 9`);
  assert.deepEqual((await lines(agent)).slice(-2), ["export function two() {", "  }"]);
  await nvim.command("enew");
  await nvim.keys("gE_");
  await nvim.waitForScreen("write this buffer first");
  assert.deepEqual(server.problems, []);
});

Deno.test("a question beside the turn is answered in a small window and is in no session; commit writes a message", async () => {
  await using agent = await start(
    "when What is two\nwait turn\nsay Two is a function.\n---\n" +
      "when Why so\nnew-history\nsay Because of **one**.\n---\nwhen Write the commit\nnew-history\nsay Say bye\n---\nwhen And then\nnew-history\nsay Well.",
  );
  const { nvim, server, project } = agent;
  await nvim.command("Agent What is two?");
  await waitUntil("the request", () => server.requests.length === 1);
  await nvim.command("Agent btw Why so?");
  await nvim.waitForScreen("Because of one.");
  const [turn, aside] = server.requests;
  assert.deepEqual(aside?.body.tools, turn?.body.tools, "the cached prefix holds");
  await nvim.keys("q");
  server.release("turn");
  await waitForChat(nvim, "Two is a function.");
  await waitForTurn(nvim);
  await nvim.command("Agent And then?");
  await waitForChat(nvim, "Well.");
  await waitForTurn(nvim);
  assert.doesNotMatch(JSON.stringify(server.requests.at(-1)?.body), /Why so|Because of/);
  await git(project.root, "init", "-q");
  await nvim.command("Agent new");
  await nvim.command("Agent commit");
  await nvim.waitForScreen("Nothing is staged");
  await nvim.keys("q");
  await project.write(FILE, "export {};\n");
  await git(project.root, "add", FILE);
  await nvim.lua(`vim.cmd.tabnew("COMMIT_EDITMSG") vim.bo.filetype = "gitcommit"
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { "", "# Please enter" })`);
  await nvim.command("Agent commit");
  await nvim.waitForScreen("Say bye");
  assert.deepEqual(await nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), [
    "Say bye",
    "",
    "# Please enter",
  ]);
  assert.match(newest(agent), /What is staged:\n.*\+export \{\};/s);
  await nvim.command("bwipeout!");
  assert.deepEqual(server.problems, []);
});

Deno.test("the answer beside a turn comes as it is written, and is stopped with what has come", async () => {
  await using agent = await start(
    "when Tell me\nsay First line.\nwait more\nsay  Second line.\n---\nwhen Once more\nsay A start.\nwait never\nsay no",
  );
  const { nvim, server } = agent;
  await nvim.command("Agent btw Tell me");
  await nvim.waitForScreen("First line.");
  await nvim.waitForScreen("<C-c> stop  q close");
  server.release("more");
  await nvim.waitForScreen("Second line.");
  await nvim.waitForScreenGone("<C-c> stop");
  await nvim.keys("q");
  await nvim.command("Agent btw Once more");
  await nvim.waitForScreen("A start.");
  await nvim.keys("<C-c>");
  await nvim.waitForScreen("(stopped)");
  assert.match(nvim.text(), /A start\./, "what has come stays");
  await nvim.keys("q");
  await waitUntil("the request to end", () => server.requests.at(-1)?.aborted === true);
  assert.deepEqual(server.problems, []);
});

Deno.test("rewind takes files and session back together, and the message returns into the input; ga applies a block", async () => {
  await using agent = await start(
    `say In \`${FILE}\`:\nsay \nsay \`\`\`ts\nsay export function one() {\nsay   return 11;\nsay }\nsay \`\`\`\n---\n` +
      `call write_file {"path": "new.txt", "content": "new\\n"}\n---\nsay Written.\n---\n` +
      `expect-not Written\nnew-history\nsay Again.`,
  );
  const { nvim, server, project } = agent;
  await nvim.command("Agent Show one");
  await waitForTurn(nvim);
  await nvim.keys("<Esc>");
  await nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)
    vim.fn.search("return 11")`);
  await nvim.keys("gyga");
  await nvim.waitForScreen("+  return 11;");
  assert.equal((await lines(agent)).includes("  return 11;"), false, "nothing is changed before a yes");
  await nvim.keys("<CR>");
  await nvim.waitFor(
    `vim.list_contains(vim.api.nvim_buf_get_lines(vim.fn.bufnr("${FILE}"), 0, -1, false), "  return 11;")`,
  );
  assert.equal((await lines(agent)).filter((line) => line.includes("function one")).length, 1);
  assert.doesNotMatch(await project.read(FILE), /return 11/, "saving is the user's");
  await nvim.command("Agent Write new.txt");
  await waitForChat(nvim, "Written.");
  await waitForTurn(nvim);
  assert.equal(await project.read("new.txt"), "new\n");
  await nvim.command("Agent usage");
  await nvim.waitFor(`vim.fn.search("code: 1 copied, 1 applied", "w") > 0`);
  await nvim.keys("G");
  await nvim.waitForScreen(/^Languages +edits +files +lines$[^]*^ {2}text +\d+ +\d+ +\+\d+ −0$/m);
  await nvim.keys("q");
  await nvim.command("Agent rewind 2");
  await nvim.waitFor(`require("agent.chat").current().input:text() == "Write new.txt"`);
  await assert.rejects(project.read("new.txt"), Deno.errors.NotFound);
  await nvim.waitFor(`vim.bo.filetype == "agent-input" and vim.fn.mode() == "i"`);
  await nvim.keys("<C-s>");
  await waitForChat(nvim, "Again.");
  assert.deepEqual(server.problems, []);
});

Deno.test("rewind takes the session back where no file was changed, also to the first message; not while a turn runs", async () => {
  await using agent = await start(
    `say One.\n---\nsay Two.\n---\nnew-history\nsay Again.\n---\n` +
      `expect-not Again.\nnew-history\nsay From the start.\n---\nwait here\nsay Late.`,
  );
  const { nvim, server } = agent;
  const input = `require("agent.chat").current().input:text()`;
  for (const [message, answer] of [["Say one", "One."], ["Say two", "Two."]] as const) {
    await nvim.command(`Agent ${message}`);
    await waitForChat(nvim, answer);
    await waitForTurn(nvim);
  }
  await nvim.command("Agent rewind 2");
  await nvim.waitFor(`${input} == "Say two"`);
  await nvim.waitFor(`vim.bo.filetype == "agent-input" and vim.fn.mode() == "i"`);
  await nvim.keys("<C-s>");
  await waitForChat(nvim, "Again.");
  await waitForTurn(nvim);
  const body = JSON.stringify(server.requests.at(-1)?.body);
  assert.deepEqual([body.includes("One."), body.includes("Two.")], [true, false]);
  await nvim.command("Agent rewind 1");
  await nvim.waitFor(`${input} == "Say one"`);
  await nvim.waitFor(`vim.bo.filetype == "agent-input" and vim.fn.mode() == "i"`);
  await nvim.keys("<C-s>");
  await waitForChat(nvim, "From the start.");
  await waitForTurn(nvim);
  await nvim.command("Agent Wait");
  await nvim.command("Agent rewind 1");
  await nvim.waitFor(
    `vim.fn.execute("messages"):find("cannot run :Agent rewind: a turn is running. Stop it first", 1, true)`,
  );
  assert.equal(await nvim.lua(`return ${input}`), "");
  server.release("here");
  await waitForChat(nvim, "Late.");
  assert.deepEqual(server.problems, []);
});

Deno.test("a block goes where its lines stand, else below the cursor", async () => {
  await using agent = await start("say no");
  const merged = (file: string, code: string, cursor: number) =>
    agent.nvim.lua<string[]>(
      `local file, code, cursor = ... return require("agent.in_place.apply").merged(vim.split(file, "\\n"), vim.split(code, "\\n"), cursor)`,
      file,
      code,
      cursor,
    );
  assert.deepEqual(await merged("a\n  f {\n    x\n  }\nb", "f {\n  y\n}", 1), [
    "a",
    "  f {",
    "    y",
    "  }",
    "b",
  ]);
  assert.deepEqual(await merged("a\nb", "new", 1), ["a", "new", "b"]);
  assert.deepEqual(await merged("x\nq\nx\nq", "x\nr\nq", 3), ["x", "q", "x", "r", "q"], "the nearest one");
  assert.deepEqual(await merged("", "new", 1), ["", "new"]);
  // A diff goes where its lines are, whatever the lines that it names.
  const patched = (file: string, code: string) =>
    agent.nvim.lua<string[] | string>(
      `local file, code = ... local diff = require("agent.in_place.apply_diff") code = vim.split(code, "\\n")
      assert(diff.is_diff("diff", {}) and diff.is_diff("", { "@@ -1 +1 @@" }) and not diff.is_diff("ts", { "-1" }))
      local lines, problem = diff.patched(vim.split(file, "\\n"), code, 1)
      return lines and vim.list_extend(lines, diff.files(code)) or problem`,
      file,
      code,
    );
  const diff =
    "diff --git a/x.ts b/x.ts\n--- a/x.ts\n+++ b/x.ts\n@@ -9,2 +9,3 @@\n a\n-b\n+B\n+C\n@@ -20 +21 @@\n-z\n+Z";
  assert.deepEqual(await patched("0\na\nb\nq\nz", diff), ["0", "a", "B", "C", "q", "Z", "x.ts"]);
  assert.equal(await patched("0\na\nq\nz", diff), "the lines of hunk 1 are not there");
  assert.deepEqual(await patched("a\n\nb", " a\n\n-b\n+c\n\\ No newline at end of file"), ["a", "", "c"]);
  assert.deepEqual(await patched("  a\nb", "@@\n-a\n+  c"), ["  c", "b"], "white space apart");
});
