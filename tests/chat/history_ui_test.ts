/** Older parts of a session come above what is on the screen, and nothing there moves. No engine is needed. */
import assert from "node:assert/strict";
import { PLUGIN } from "../support/agent.ts";
import { transcript } from "../support/chat.ts";
import { ChildNvim, type ChildOptions } from "../support/nvim.ts";

const OLDER = "Older messages: scroll up";

interface Asked {
  readonly request: number;
  readonly name: string;
  readonly params: { readonly before?: number; readonly turns: number; readonly sessionId: string };
}

/** Neovim with the plugin, and a list of what would go to the supervisor. */
async function start(options: ChildOptions = {}): Promise<ChildNvim> {
  const child = await ChildNvim.start({ runtime: [PLUGIN], ...options });
  await child.lua(`_G.sent = {}
    require("agent.client").send = function(action) table.insert(_G.sent, action) end`);
  return child;
}

function receive(child: ChildNvim, ...updates: readonly Readonly<Record<string, unknown>>[]) {
  return child.lua(`return require("agent.client").receive(...)`, updates);
}

/** What the engine was asked so far. */
function asked(child: ChildNvim): Promise<readonly Asked[]> {
  return child.lua(`return vim.iter(_G.sent)
    :filter(function(action) return action.type == "engine_request" end):totable()`);
}

async function show(child: ChildNvim): Promise<void> {
  await child.lua(
    `local chats = require("agent.chat")
    require("agent.sessions").show(chats, { sessionId = "s", title = "A long talk" }, chats.get():place()):open()`,
  );
}

async function restore(child: ChildNvim, turns: number): Promise<void> {
  await show(child);
  await answerWith(child, turns - 19, turns);
}

/** Some lines long, of every kind of block, each line with the number of its turn. */
function turnUpdates(turn: number): readonly Readonly<Record<string, unknown>>[] {
  const chat = 1;
  return [
    { type: "user", chat, text: `question ${turn}\nin two lines`, turn },
    { type: "thought", chat, message: `t${turn}`, text: "Hm." },
    { type: "thought_done", chat, message: `t${turn}`, milliseconds: 2_000 },
    { type: "tool", chat, id: `c${turn}`, title: `read file${turn}`, status: "completed", output: "text" },
    { type: "text", chat, message: `m${turn}`, text: `answer ${turn}: ${"a long line ".repeat(12)}` },
    { type: "turn_done", chat, reason: turn % 7 === 0 ? "cancelled" : "end_turn" },
  ];
}

function goToTranscript(child: ChildNvim): Promise<unknown> {
  return child.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`);
}

/** Answers the newest question with these turns; there are older ones if the first is not turn 1. */
async function answerWith(child: ChildNvim, first: number, last: number): Promise<void> {
  const updates = [];
  for (let turn = first; turn <= last; turn++) updates.push(...turnUpdates(turn));
  const { request } = (await asked(child)).at(-1) ?? assert.fail("nothing was asked");
  const result = first > 1 ? { updates, before: first } : { updates };
  await receive(child, { type: "engine_answer", request, result });
  await child.waitFor(`vim.iter(require("agent.chat").current().timeline.blocks):any(function(block)
    return block.turn == ${first}
  end)`);
}

/** The text under the cursor, its row in the window, and the first row's text. */
function view(child: ChildNvim): Promise<readonly [string, number, string]> {
  return child.lua(`return {
    vim.api.nvim_get_current_line(),
    vim.fn.winline(),
    vim.api.nvim_buf_get_lines(0, vim.fn.line("w0") - 1, vim.fn.line("w0"), false)[1],
  }`);
}

Deno.test("who goes back while the turns are being read is told to wait for them", async () => {
  await using child = await start();
  await show(child);
  const told = (text: string) => `select(2, vim.fn.execute("messages"):gsub(${JSON.stringify(text)}, ""))`;
  const reading = "agent: the chat's turns are being read. Try again once they are shown";
  await child.command("Agent rewind 2");
  await child.waitFor(`${told(reading)} == 1`);
  await child.command("Agent rewind");
  await child.waitFor(`${told(reading)} == 2`);
  await answerWith(child, 1, 3);
  await child.command("Agent rewind 4");
  await child.waitFor(`${told("agent: the chat shows no turn 4")} == 1`);
});

Deno.test("a stored session opens at its end, and says that there is more", async () => {
  await using child = await start();
  await restore(child, 300);
  await child.waitForScreen("answer 300");
  await child.waitForScreen("A long talk");
  assert.deepEqual((await asked(child)).map(({ params }) => params), [{ sessionId: "s", turns: 20 }]);
  const lines = await transcript(child);
  assert.equal(lines[0], OLDER);
  assert.equal(lines[1], "question 281");
  assert.ok(lines.includes("✓ read file300"));
});

const SHAPES = [
  { layout: "float", columns: 80, lines: 24 },
  { layout: "float", columns: 40, lines: 15 },
  { layout: "right", columns: 80, lines: 24 },
  { layout: "bottom", columns: 80, lines: 24 },
];

for (const { layout, columns, lines } of SHAPES) {
  Deno.test(`${layout}, ${columns} × ${lines}: a stored session shows the end of its last answer, also below a long line`, async () => {
    await using child = await start({ columns, lines });
    const open = `vim.g.agent = { ui = { layout = "${layout}" } }
      local chats = require("agent.chat")
      local session = { sessionId = ..., title = "Words" }
      local chat = require("agent.sessions").show(chats, session, chats.get():place())
      chat:open()
      return chat.id`;
    for (const [at, words] of [5, 49, 51, 53, 55, 300].entries()) {
      const chat = await child.lua<number>(open, `s${at}`);
      const talk = [
        ...turnUpdates(1),
        { type: "user", chat: 1, text: "write words", turn: 2 },
        { type: "text", chat: 1, message: "m2", text: "wordy ".repeat(words) },
        { type: "turn_done", chat: 1, reason: "cancelled" },
        { type: "user", chat: 1, text: "the last question", turn: 3 },
        {
          type: "text",
          chat: 1,
          message: "m3",
          text: `${"an answer of two rows or more ".repeat(3)}end ${at}`,
        },
        { type: "turn_done", chat: 1, reason: "end_turn" },
      ];
      const { request } = (await asked(child)).at(-1) ?? assert.fail("nothing was asked");
      const updates = talk.map((update) => ({ ...update, chat }));
      await receive(child, { type: "engine_answer", request, result: { updates } });
      await child.waitForScreen(`end ${at}`);
      await child.waitForScreen("the last question");
    }
  });
}

Deno.test("a smaller screen shows the end of a long last answer, too", async () => {
  await using child = await start({
    columns: 80,
    lines: 24,
    lua: `vim.g.agent = { ui = { layout = "bottom" } }`,
  });
  await restore(child, 300);
  const answer = `${"text of an answer ".repeat(12)}endmost`;
  await receive(child, { type: "text", chat: 1, message: "m301", text: answer });
  await child.waitForScreen("endmost");
  await child.resize(73, 21);
  await child.waitForScreen("endmost");
});

Deno.test("what comes above moves neither the view nor the cursor", async () => {
  await using child = await start();
  await restore(child, 300);
  await goToTranscript(child);
  await child.keys("gg5j<C-e><C-e><C-e>");
  const before = await view(child);
  assert.equal((await asked(child)).length, 2);
  await answerWith(child, 261, 280);
  assert.deepEqual(await view(child), before);
  // The next part is not asked for before somebody comes near it.
  assert.equal((await asked(child)).length, 2);
  assert.deepEqual((await transcript(child)).slice(0, 2), [OLDER, "question 261"]);
});

Deno.test("at the top the cursor stays at the oldest text, so that the same key goes on", async () => {
  await using child = await start();
  await restore(child, 60);
  await goToTranscript(child);
  await child.keys("gg");
  assert.equal((await view(child))[0], OLDER);
  await answerWith(child, 21, 40);
  assert.equal((await view(child))[0], "question 41");
  await child.keys("gg");
  await answerWith(child, 1, 20);
  assert.equal((await view(child))[0], "question 21");
  await child.keys("gg");
  assert.equal((await view(child))[0], "question 1");
  assert.equal((await asked(child)).length, 3);
  const questions = (await transcript(child)).filter((line) => line.startsWith("question "));
  assert.deepEqual(questions, Array.from({ length: 60 }, (_, at) => `question ${at + 1}`));
});

Deno.test("a second part is not asked for while one is on its way, and a failure can be tried again", async () => {
  await using child = await start();
  await restore(child, 300);
  await goToTranscript(child);
  await child.keys("gg");
  await child.keys("5jggjk");
  const [, second] = await asked(child);
  assert.equal((await asked(child)).length, 2);
  await receive(child, { type: "engine_answer", request: second?.request, error: "the disk is gone" });
  await child.waitFor(`not require("agent.chat").current().history.is_reading`);
  await child.keys("G");
  await child.waitForScreen("the disk is gone");
  await child.keys("gg");
  assert.equal((await asked(child)).length, 3);
});

Deno.test("blocks are found where they are: keys that jump, open and fork", async () => {
  await using child = await start();
  await restore(child, 40);
  await goToTranscript(child);
  await child.keys("gg");
  await answerWith(child, 1, 20);
  const onLine = (line: string) => child.waitFor(`vim.api.nvim_get_current_line() == "${line}"`);
  await child.keys("[[");
  await onLine("question 20");
  await child.keys("gg]]]]");
  await onLine("question 3");
  const turn = () => child.lua(`return { require("agent.chat").current().history:turn_at_cursor() }`);
  assert.deepEqual(await turn(), [3, "question 3\nin two lines"]);
  await child.keys("/read file7<CR><Tab>");
  assert.deepEqual(await turn(), [7]);
  assert.deepEqual((await transcript(child)).slice(6 * 5, 7 * 5 + 1), [
    ...["question 7", "in two lines", "Thought for 2.0 s", "✓ read file7", "  text"],
    `answer 7: ${"a long line ".repeat(12)}`.trimEnd(),
  ]);
  await child.keys("G/read file25<CR><Tab>");
  assert.ok((await transcript(child)).includes("✓ read file25"));
  await child.keys("k<Tab>");
  await onLine("Thought for 2.0 s");
});

Deno.test("a turn may stream at the end while an older part comes at the beginning", async () => {
  await using child = await start();
  await restore(child, 300);
  await child.lua(`require("agent.chat").current():send("question 301")`);
  await receive(child, { type: "turn_started", chat: 1 }, { type: "turn", chat: 1, turn: 301 });
  await goToTranscript(child);
  await child.keys("<Esc>gg");
  const piece = (text: string) => receive(child, { type: "text", chat: 1, message: "m301", text });
  await piece("one ");
  await receive(child, { type: "tool", chat: 1, id: "c301", title: "read file301", status: "pending" });
  await answerWith(child, 281 - 20, 280);
  await receive(child, { type: "text", chat: 1, message: "n301", text: "two " });
  await receive(child, { type: "tool", chat: 1, id: "c301", status: "completed", summary: "3 lines" });
  const before = await view(child);
  await receive(child, { type: "text", chat: 1, message: "n301", text: "three" });
  await receive(child, { type: "turn_done", chat: 1, reason: "end_turn" });
  assert.deepEqual(await view(child), before);
  const lines = await transcript(child);
  assert.deepEqual(lines.slice(-4), ["question 301", "one", "✓ read file301  3 lines", "two three"]);
  const questions = lines.filter((line) => line.startsWith("question "));
  assert.deepEqual(questions, Array.from({ length: 41 }, (_, at) => `question ${at + 261}`));
});

Deno.test("marks stay with their text", async () => {
  await using child = await start();
  await restore(child, 21);
  await goToTranscript(child);
  await child.keys("gg");
  await answerWith(child, 1, 1);
  const marks = await child.lua<readonly [string, string][]>(`
    local found = {}
    local buffer = vim.fn.bufnr("^agent://chat-1$")
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, -1, 0, -1, { details = true })) do
      local text = mark[4].virt_text
      if text then
        table.insert(found, { vim.api.nvim_buf_get_lines(buffer, mark[2], mark[2] + 1, false)[1], text[1][1] })
      end
    end
    return found`);
  const expected = Array.from({ length: 21 }, (_, at) => [
    [`question ${at + 1}`, "❯ "],
    [`question ${at + 1}`, `turn ${at + 1} `],
    ["in two lines", "  "],
    ["Thought for 2.0 s", "▸ "],
    [`✓ read file${at + 1}`, "  "],
  ]).flat();
  assert.deepEqual(marks, expected);
});

Deno.test("a session that a crash has cut off shows what was open as stopped, and goes on", async () => {
  await using child = await start();
  await child.lua(
    `local chats = require("agent.chat")
    require("agent.sessions").show(chats, { sessionId = "s", title = "" }, chats.get():place()):open()`,
  );
  const [{ request } = { request: 0 }] = await asked(child);
  await receive(child, {
    type: "engine_answer",
    request,
    result: { updates: [...turnUpdates(1).slice(0, 2), { type: "tool", chat: 1, id: "c", title: "run x" }] },
  });
  await child.waitFor(`not require("agent.chat").current().history.is_reading`);
  assert.deepEqual((await transcript(child)).slice(2), [
    "Thought for a moment",
    "■ run x  stopped",
    'Interrupted before its end. Send "continue" to go on.',
  ]);
  await child.lua(`require("agent.chat").current():send("again")`);
  await receive(child, { type: "turn_started", chat: 1 });
  assert.equal((await transcript(child)).at(-1), "again");
  const prompt = await child.lua<Record<string, unknown>>("return _G.sent[#_G.sent]");
  assert.equal(prompt.session, "s");
});

Deno.test("a session that is open elsewhere says what to do", async () => {
  await using child = await start();
  await child.lua(
    `local chats = require("agent.chat")
    local row = { sessionId = "s", title = "", open = true }
    require("agent.sessions").show(chats, row, chats.get():place()):open()`,
  );
  await answerWith(child, 1, 1);
  const line = "This session is open in another Neovim. Continue with a copy: use :Agent session fork.";
  assert.equal((await transcript(child)).at(-1), line);
});

Deno.test("a message that waited goes behind what was answered meanwhile", async () => {
  await using child = await start();
  const send = (text: string) => child.lua(`require("agent.chat").get():send(...)`, text);
  const tool = (id: string) =>
    receive(child, { type: "tool", chat: 1, id, title: `read ${id}`, status: "completed" });
  await send("first");
  await receive(child, { type: "turn_started", chat: 1 });
  await tool("a");
  await send("second");
  await send("third");
  await tool("b");
  const all = () =>
    child.lua(`return vim.api.nvim_buf_get_lines(vim.fn.bufnr("^agent://chat-1$"), 0, -1, false)`);
  await receive(child, { type: "turn_done", chat: 1, reason: "end_turn" }, { type: "turn_started", chat: 1 });
  assert.deepEqual(await all(), [
    ...["first", "", "✓ read a", "✓ read b", "", "second", "", "third (waiting for the turn to end)"],
  ]);
  await receive(child, { type: "text", chat: 1, message: "m", text: "Yes." });
  await receive(child, { type: "turn_done", chat: 1, reason: "end_turn" }, { type: "turn_started", chat: 1 });
  await receive(child, { type: "text", chat: 1, message: "n", text: "No." });
  assert.deepEqual(await all(), [
    ...["first", "", "✓ read a", "✓ read b", "", "second", "", "Yes.", "", "third", "", "No."],
  ]);
});
