/** Approvals by vim.ui.select: the same facts, an answer for exactly what was asked, and none by closing the list. */
import assert from "node:assert/strict";
import type { ChildNvim } from "../support/nvim.ts";
import { type Editor, receive, sharedEditor } from "../support/shared_editor.ts";

const FILE = {
  ...{
    type: "approval",
    request: 1,
    tool: "t",
    title: "write .env",
    reason: ".env may hold secrets",
  },
  ...{ kind: "file", left_out: 0, suggestion: "write(.env)", files: [{ path: ".env", after: "A=1\n" }] },
};
const COMMAND = {
  ...{ type: "approval", request: 2, tool: "u", title: "run x", reason: "fetches packages" },
  ...{ kind: "command", command: "npm i x\nnpm test", folder: ".", access: "write+network" },
  ...{ severity: "medium", is_edited: false },
};
const QUESTION = {
  ...{ type: "approval", request: 3, tool: "v", title: "asks", reason: "", kind: "question" },
  ...{ question: "Which one?", options: ["left", "right"] },
};
const UNKNOWN = { ...FILE, request: 4, kind: "device" };

/** @param picker a list of a plugin: it opens in lists, and its choices are made by choose() */
async function start(picker: boolean): Promise<Editor> {
  const editor = await sharedEditor({ options: `ui = { approval = "select" }` });
  const { nvim } = editor;
  await nvim.lua(
    `_G.lists = {}
    if ... then
      vim.ui.select = function(items, options, on_choice)
        local labels = vim.tbl_map(options.format_item, items)
        local shown = vim.api.nvim_buf_get_lines(options.preview_item(items[1]).buf, 0, -1, false)
        table.insert(_G.lists, { labels = labels, prompt = options.prompt, shown = shown })
        _G.choose = function(label)
          on_choice(vim.iter(items):find(function(item) return options.format_item(item) == label end))
        end
      end
    end`,
    picker,
  );
  await nvim.command("Agent hello");
  await nvim.keys("<Esc>");
  return editor;
}

interface List {
  readonly labels: readonly string[];
  readonly prompt: string;
  readonly shown: readonly string[];
}

const list = async (nvim: ChildNvim, count: number) => {
  await nvim.waitFor(`#_G.lists == ${count}`);
  return await nvim.lua<List>("return _G.lists[#_G.lists]");
};
const answers = (nvim: ChildNvim) =>
  nvim.lua<readonly unknown[]>(
    `return vim.tbl_filter(function(action) return vim.startswith(action.type, "answer") end, _G.sent)`,
  );

Deno.test("the list has the window's answers and facts; closing it answers nothing, and it opens again", async () => {
  await using editor = await start(true);
  const { nvim } = editor;
  await receive(nvim, FILE);
  const first = await list(nvim, 1);
  assert.equal(first.prompt, "Approval: write .env");
  const look = "Look at it in its window";
  assert.deepEqual(first.labels, [
    ...["Allow once", "Allow for this session", "Always allow, by a rule", "Reject", "Reject with a reason"],
    ...["Show the diff", look],
  ]);
  assert.deepEqual(first.shown, ["write .env", ".env may hold secrets", "@@ -0,0 +1 @@", "+A=1"]);
  await nvim.waitForScreen((text) => text.includes("╭ Approval") && text.includes("+A=1"));
  // Too soon: whoever pressed that meant something else.
  await nvim.lua(`_G.choose("Allow once")`);
  await list(nvim, 2);
  await nvim.lua("_G.choose(nil)");
  await nvim.command("Agent approval");
  await list(nvim, 3);
  assert.deepEqual(await answers(nvim), []);

  // What was asked meanwhile is not what the list was about.
  await nvim.lua(`_G.stale = _G.choose`);
  await receive(nvim, { type: "approval_closed", request: 1, answer: "cancelled" }, COMMAND);
  const second = await list(nvim, 4);
  assert.deepEqual(second.shown.slice(0, 2), ["$ npm i x", "$ npm test"]);
  assert.ok(second.labels.includes("Edit the command") && !second.labels.includes("Always allow, by a rule"));
  await nvim.lua(`_G.stale("Allow once")`);
  await nvim.waitForScreen("that is no longer waiting for an answer");
  assert.deepEqual(await answers(nvim), []);

  // Who writes is not disturbed, and asks for the list.
  await nvim.keys("iWhile I type");
  await nvim.command("Agent approval");
  await list(nvim, 5);
  await nvim.lua(`_G.choose("Allow once")`);
  await receive(nvim, QUESTION);
  await nvim.command("Agent approval");
  assert.deepEqual((await list(nvim, 6)).labels, ["left", "right", "Type an answer", "No answer", look]);
  await nvim.lua(`_G.choose("right")`);
  await receive(nvim, UNKNOWN);
  await nvim.command("Agent approval");
  assert.deepEqual((await list(nvim, 7)).labels, ["Reject", "Reject with a reason", look]);
  await nvim.lua(`_G.choose("${look}")`);
  await nvim.waitFor(`vim.bo.filetype == "agent-approval"`);
  await nvim.keys("r");
  assert.deepEqual(await answers(nvim), [
    { type: "answer", request: 2, option: "allow_once" },
    { type: "answer_question", request: 3, answer: "right" },
    { type: "answer", request: 4, option: "reject" },
  ]);
});

Deno.test("Neovim's own list shows what is asked", async () => {
  await using editor = await start(false);
  const { nvim } = editor;
  await receive(nvim, COMMAND);
  await nvim.waitForScreen((text) =>
    ["fetches packages", "$ npm i x", "$ npm test", "1: Allow once", "Type number"].every((part) =>
      text.includes(part)
    )
  );
  await nvim.keys("<Esc>");
  assert.deepEqual(await answers(nvim), []);
  await nvim.keys(":Agent approval<CR>");
  await nvim.waitForScreen("1: Allow once");
  await nvim.keys("3<CR>");
  await nvim.waitFor("#vim.tbl_filter(function(action) return action.type == 'answer' end, _G.sent) == 1");
  assert.deepEqual(await answers(nvim), [{ type: "answer", request: 2, option: "reject" }]);
});
