/** What a command would change, as its approval shows it: rows to choose from, and the answer that goes out. */
import assert from "node:assert/strict";
import type { ApprovalUpdate, EffectRow } from "../../denops/agent/protocol/ui.ts";
import { PLUGIN } from "../support/agent.ts";
import { ChildNvim, type ChildOptions } from "../support/nvim.ts";

type Effects = Extract<ApprovalUpdate, { kind: "effects" }>;

const ROWS: readonly Omit<EffectRow, "number">[] = [
  {
    path: "src/a.ts",
    what: "modified",
    state: "kept",
    added: 3,
    removed: 1,
    before: "old\n",
    after: "new\n",
  },
  {
    path: "package.json",
    what: "modified",
    state: "left",
    added: 1,
    note: "it decides which code is installed",
  },
  { path: "run.fifo", what: "created", state: "refused", note: "a named pipe" },
  { path: "node_modules/", what: "created", state: "kept", count: 312 },
  { path: "src/new.ts", from: "src/old.ts", what: "renamed", state: "kept" },
  { path: "gone.txt", what: "deleted", state: "kept", removed: 7, before: "was here\n" },
];

/** The parts of an approval that differ from test to test. */
type Some = Partial<Omit<Effects, "effects">> & { readonly effects?: readonly Omit<EffectRow, "number">[] };

function approval({ effects = ROWS, ...more }: Some = {}): Effects {
  return {
    ...{ type: "approval", kind: "effects", chat: 1, request: 7, tool: "t", title: "run npm", reason: "" },
    ...{ command: "npm run format", folder: ".", end: "exit code 0" },
    ...more,
    effects: effects.map((row, index) => ({ number: index + 1, ...row })),
  };
}

/** A Neovim in which this waits; the cursor is on its first line. */
async function start(waits: Some = {}, options: ChildOptions = {}): Promise<ChildNvim> {
  const nvim = await ChildNvim.start({ runtime: [PLUGIN], columns: 80, lines: 40, ...options });
  await nvim.lua(`_G.sent = {}
    require("agent.ui.highlights").define()
    require("agent.client").send = function(action) table.insert(_G.sent, action) end`);
  await ask(nvim, waits);
  return nvim;
}

async function ask(nvim: ChildNvim, waits: Some): Promise<void> {
  await nvim.lua(`require("agent.approval") return require("agent.client").receive(...)`, [approval(waits)]);
  await nvim.command("Agent approval");
  await nvim.waitForScreen("r discard");
}

/** The lines of the float. */
const shown = (nvim: ChildNvim) =>
  nvim.lua<readonly string[]>(`return vim.api.nvim_buf_get_lines(0, 0, -1, true)`);

const sent = (nvim: ChildNvim) => nvim.lua<readonly unknown[]>(`return _G.sent`);

/** The answer that these keys give to what waits. */
async function answered(nvim: ChildNvim, keys: string): Promise<unknown> {
  await nvim.keys(keys);
  await nvim.waitFor(`#_G.sent == 1`);
  const [action] = await sent(nvim);
  await nvim.lua(`_G.sent = {}`);
  return action;
}

Deno.test("what needs a look comes first, what nobody can keep last, and the summary says how much is chosen", async () => {
  await using nvim = await start();
  assert.deepEqual(await shown(nvim), [
    "npm run format · exit code 0",
    "315 of 317 files  +3 −8 · nothing else has changed",
    "☐ M package.json  +1 · it decides which code is installed",
    "✓ M src/a.ts  +3 −1",
    "✓ A node_modules/  312 files",
    "✓ R src/old.ts → src/new.ts",
    "✓ D gone.txt  −7",
    "✗ A run.fifo · cannot be kept: a named pipe",
  ]);
  const screen = nvim.text();
  assert.match(screen, /╭ Changes ─/);
  assert.match(screen, / a keep {2}r discard {2}␣ choose {2}d diffs {2}s session {2}R with reason /);
  for (
    const [text, name] of [["package.json", "Warning"], ["run.fifo", "Hint"], ["+3 −1", "Added"]] as const
  ) {
    const place = nvim.locate(text);
    assert.ok(place);
    const fg = await nvim.lua<number>(
      `return vim.api.nvim_get_hl(0, { name = "Agent" .. ..., link = false }).fg`,
      name,
    );
    const { fg: seen } = nvim.highlightAt(place.row, place.column);
    assert.equal(seen, `#${fg.toString(16).padStart(6, "0")}`, text);
  }
});

Deno.test("a row of another folder, a command of several lines and a reason are named", async () => {
  const effects = ROWS.slice(0, 1);
  const command = "cd x\nmake";
  await using nvim = await start({
    effects,
    command,
    folder: "web",
    end: "exit code 2",
    reason: "Why",
  });
  assert.deepEqual(await shown(nvim), [
    "cd x … (2 lines) · exit code 2 · in ./web",
    "Why",
    "1 file  +3 −1 · nothing else has changed",
    "✓ M src/a.ts  +3 −1",
  ]);
});

Deno.test("the answer names the rows only if the user has chosen others", async () => {
  await using nvim = await start();
  const yes = { type: "answer", request: 7, option: "allow_once" };
  assert.deepEqual(await answered(nvim, "a"), yes);
  for (
    const [keys, answer, kept] of [
      // There and back again.
      ["4G<Space><Space>", "a", undefined],
      ["4G<Space>", "a", [4, 5, 6]],
      ["3G<Space>", "a", [1, 2, 4, 5, 6]],
      ["4Gj<Space>", ":Agent approve<CR>", [1, 5, 6]],
      // All but the sensitive ones, which are chosen one by one.
      ["1G<Space>3G<Space>", "a", [2]],
      ["2G<Space><Space>", "a", undefined],
      ["4G<Space>1G<Space>", "a", undefined],
    ] as const
  ) {
    await ask(nvim, {});
    await nvim.keys(keys);
    const expected = kept === undefined ? yes : { ...yes, kept };
    assert.deepEqual(await answered(nvim, answer), expected, keys);
  }
  await ask(nvim, { suggestion: "keep(npm *)" });
  await nvim.keys("4G<Space>");
  assert.deepEqual(await answered(nvim, "s"), { ...yes, option: "allow_session", kept: [4, 5, 6] });
  await ask(nvim, { suggestion: "keep(npm *)" });
  await nvim.keys("4G<Space>A");
  await nvim.waitForScreen("Always allow: keep(npm *)");
  assert.deepEqual(await answered(nvim, "<CR>"), {
    ...{ ...yes, option: "allow_always", rule: "keep(npm *)", kept: [4, 5, 6] },
  });
  await ask(nvim, {});
  await nvim.keys("4G<Space>");
  assert.deepEqual(await answered(nvim, "r"), { ...yes, option: "reject" });
  await ask(nvim, {});
  assert.deepEqual(await answered(nvim, ":Agent reject not now<CR>"), {
    ...{ ...yes, option: "reject", reason: "not now" },
  });
});

Deno.test("the summary and the marks follow the choice, and the cursor stays", async () => {
  await using nvim = await start();
  await nvim.keys("5G<Space>");
  await nvim.waitForScreen("☐ A node_modules/  312 files");
  await nvim.waitForScreen("3 of 317 files  +3 −8");
  assert.deepEqual(await nvim.lua(`return vim.fn.line(".")`), 5);
  assert.equal(await nvim.lua(`return vim.wo.cursorline`), true);
  await nvim.keys("1G<Space>");
  await nvim.waitForScreen("315 of 317 files  +3 −8");
  await nvim.keys("<Space>");
  const none = await nvim.waitForScreen("0 of 317 files · nothing else has changed");
  assert.doesNotMatch(none, /✓/);
});

Deno.test("nothing chosen is no yes, and what cannot be kept is not chosen; both are said", async () => {
  await using nvim = await start({ suggestion: "keep(npm *)" });
  await nvim.keys("G<Space>");
  await nvim.waitForScreen("agent: run.fifo cannot be kept: a named pipe");
  await nvim.keys("gg<Space>");
  for (const key of ["a", "s", "A", ":Agent approve<CR>"]) {
    await nvim.command("echo ''");
    await nvim.keys(key);
    await nvim.waitForScreen("agent: nothing is selected; r discards");
  }
  assert.deepEqual(await sent(nvim), []);
  assert.deepEqual(await answered(nvim, "r"), { type: "answer", request: 7, option: "reject" });
  await ask(nvim, { effects: ROWS.slice(2, 3), command: "\n" });
  assert.doesNotMatch(nvim.text(), /a keep|choose/);
});

Deno.test("a key that was meant for another window chooses nothing", async () => {
  await using nvim = await start({}, { lua: `vim.g.agent = { ui = { approval_focus = "always" } }` });
  assert.equal(await answered(nvim, "r").then(() => true), true);
  await nvim.lua(`require("agent.approval") return require("agent.client").receive(...)`, [approval()]);
  await nvim.keys("jjjj<Space>");
  assert.match((await shown(nvim))[1] ?? "", /^315 of 317/);
  await nvim.waitForScreen("a keep");
  await nvim.keys("<Space>");
  await nvim.waitForScreen("3 of 317 files");
});

const tabs = (nvim: ChildNvim) => nvim.lua<number>(`return #vim.api.nvim_list_tabpages()`);

Deno.test("d compares the files in one tab, the row of the cursor first, and q goes back at once", async () => {
  await using nvim = await start();
  await nvim.command("tabnew | tabprevious");
  await nvim.command("Agent approval");
  await nvim.keys("4Gd");
  const diff = await nvim.waitForScreen("src/a.ts · before");
  assert.match(diff, /old +│ *new/);
  assert.match(diff, /after {2}q back {2}1 of 2 {2}<Tab> next/);
  assert.match(diff.split("\n")[0] ?? "", /a\.ts-after/, "the tab has a name");
  assert.doesNotMatch(diff, /Changes/, "nothing hides it");
  assert.equal(await tabs(nvim), 3);
  await nvim.keys("<Tab>");
  assert.match(await nvim.waitForScreen("gone.txt · before"), /was here/);
  await nvim.keys("<S-Tab>");
  await nvim.waitForScreen("src/a.ts · before");
  await nvim.keys("<C-w>h<Tab>");
  await nvim.waitForScreen("gone.txt · before");
  assert.equal(await tabs(nvim), 3);
  await nvim.keys("q");
  await nvim.waitForScreen("a keep");
  assert.deepEqual(
    await nvim.lua(`return { vim.bo.filetype, vim.fn.line("."), #vim.api.nvim_list_tabpages() }`),
    ["agent-approval", 4, 2],
  );
  // This row has no text: the first file is shown.
  await nvim.keys("5Gd");
  await nvim.waitForScreen("src/a.ts · before");
  await nvim.keys("q");
  await nvim.waitForScreen("a keep");
  await nvim.keys("r");
  const [row] = ROWS;
  assert.ok(row);
  await nvim.lua(`_G.sent = {}`);
  await ask(nvim, { effects: Array.from({ length: 14 }, () => row) });
  await nvim.keys("d");
  await nvim.waitForScreen("1 of 14");
  assert.equal(await tabs(nvim), 3);
  // Answered from there, the approval is gone where it was.
  await nvim.command("Agent approve");
  await nvim.keys("q");
  await nvim.waitForScreen((text) => !text.includes("Changes") && !text.includes("before"));
});

Deno.test("answered from a diff, it gives its room back to the chat", async () => {
  await using nvim = await start();
  await answered(nvim, "r");
  await nvim.lua(`require("agent.client").start = function() end`);
  await nvim.keys(":Agent<CR><Esc>");
  await nvim.lua(`_G.sent = {}`);
  const height = () =>
    nvim.lua<number>(
      `return vim.api.nvim_win_get_height(require("agent.chat").current().windows.transcript)`,
    );
  const whole = await height();
  await ask(nvim, {});
  assert.ok(await height() < whole);
  await nvim.keys("4Gd");
  await nvim.waitForScreen("src/a.ts · before");
  await answered(nvim, ":Agent approve<CR>");
  await nvim.keys("q");
  await nvim.waitFor(
    `vim.api.nvim_win_get_height(require("agent.chat").current().windows.transcript) == ${whole}`,
  );
});

Deno.test("300 rows: what is below is announced, and can be reached and chosen", async () => {
  const effects = Array.from({ length: 300 }, (_, index): Omit<EffectRow, "number"> => ({
    ...{ path: `src/file_${index + 1}.ts`, what: "created", state: "kept", added: 1 },
  }));
  await using nvim = await start({ effects });
  const first = await nvim.waitForScreen("more below: <C-d>");
  assert.match(first, /300 files {2}\+300 · nothing else has changed/);
  assert.doesNotMatch(first, /file_300/);
  await nvim.keys("<C-d><C-d><C-d>");
  await nvim.waitForScreen("file_20.ts");
  await nvim.keys("123G");
  assert.equal(await nvim.lua(`return vim.fn.line(".")`), 123);
  await nvim.keys("G<Space>");
  const last = await nvim.waitForScreen("☐ A src/file_300.ts");
  assert.doesNotMatch(last, /more below/);
  const action = await answered(nvim, "a");
  const kept = Array.from({ length: 299 }, (_, index) => index + 1);
  assert.deepEqual(action, { type: "answer", request: 7, option: "allow_once", kept });
});

const LONG = `src/${"deep folder/".repeat(9)}end.ts`;
const HOSTILE = [
  "a\n✓ M fake.ts",
  "b\u001b[31mred\u0007",
  "c\u202egnp.exe",
  `d.txt${" ".repeat(150)}✓ M fake.ts`,
  "%#Error#%{1}",
  LONG,
];

for (const columns of [40, 80, 120]) {
  Deno.test(`${columns} columns: names make no row, every row is whole and no key is cut`, async () => {
    const effects = HOSTILE.map((path): Omit<EffectRow, "number"> => ({
      ...{ path, from: "x\ny", what: "renamed", state: "left", note: "so\nit is", added: 2, after: "x\n" },
    }));
    await using nvim = await start({ effects, suggestion: "keep(x)", command: "make\u001b\t all" }, {
      columns,
    });
    const lines = await shown(nvim);
    assert.equal(lines.length, 2 + HOSTILE.length);
    for (const line of lines) assert.doesNotMatch(line, /\p{Cc}/u);
    for (const line of lines.slice(2)) {
      assert.match(line, /^☐ R x y → .+ {2}\+2 · so it is$/u);
      assert.doesNotMatch(line, /^✓/);
    }
    for (
      const key of ["a keep", "r discard", "␣ choose", "d diffs", "s session", "A always", "R with reason"]
    ) {
      assert.ok(nvim.text().includes(` ${key} `), `${key} in\n${nvim.text()}`);
    }
    // Lines of the screen that begin like a row, but for those that go on with one.
    await nvim.resize(columns, 120);
    await nvim.waitForScreenGone("more below");
    const rows = nvim.screen().filter((line) => /^│[☐✓✗]/u.test(line.trim()));
    assert.equal(rows.length, HOSTILE.length);
    for (const row of nvim.screen()) assert.doesNotMatch(row, /[\p{Cc}\p{Cf}]/u);
    assert.ok(nvim.text().replace(/[│↪\s]/g, "").includes("end.ts+2·soitis"));
    await nvim.keys("7Gd");
    await nvim.waitForScreen("r#%{1} · before");
  });
}
