/** `gf` and <CR> in the transcript go to the exact line, in a session that is live and in one that is resumed. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { pressOn, transcript, waitForFile, waitForTurn } from "../support/chat.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { waitUntil } from "../support/project.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";

const numbered = (name: string) =>
  Array.from({ length: 60 }, (_, index) => `${name} ${index + 1}\n`).join("");

const PROJECT = {
  "src/a.ts": numbered("line"),
  "src/b.ts": "one\ntwo\nthe needle: 7\nfour\n",
  "src/deep/c.ts": numbered("deep"),
  "docs/my notes.md": "# Notes\n\n  a needle\n",
};

const EDITS = [
  { old_str: "line 10\n", new_str: "LINE 10\nmore\n" },
  { old_str: "line 50\n", new_str: "" },
];

const CALLS = [
  ["edit", { path: "src/a.ts", edits: EDITS }],
  ["read", { path: "src/a.ts", offset: 40, limit: 3 }],
  ["search", { query: "needle" }],
  ["read", { paths: ["./src/b.ts", "src/a.ts"], offset: 2, limit: 2 }],
  ["list", { path: "src" }],
  ["list", { path: "src", glob: "**/c.ts" }],
  ["run_subagent", { title: "Find it", task: "Where is it?" }],
] as const;

const SCRIPT = `call read {"path": "src/a.ts"}
---
${CALLS.map(([tool, args]) => `call ${tool} ${JSON.stringify(args)}`).join("\n")}
---
when Where is it?
call read {"path": "src/deep/c.ts", "offset": 20, "limit": 5}
call search {"query": "deep 33"}
---
when Where is it?
say In c.ts.
---
call changes {}
---
say All done.`;

type Jump = readonly [row: string, keys: string, file: string, line: number | undefined, text: string];

/** Rows of the transcript, and where their keys lead. A search of several files finds them in any order. */
const JUMPS: readonly Jump[] = [
  ["✓ read src/a.ts", "<CR>", "src/a.ts", undefined, "line 1"],
  ["✓ edit src/a.ts", "gf", "src/a.ts", 10, "LINE 10"],
  ["✓ read src/a.ts 40–42", "<CR>", "src/a.ts", 40, "line 39"],
  ["42\tline 41", "gf", "src/a.ts", 42, "line 41"],
  ["src/b.ts:3: the needle: 7", "<CR>", "src/b.ts", 3, "the needle: 7"],
  ["docs/my notes.md:3: a needle", "gf", "docs/my notes.md", 3, "  a needle"],
  ["── ./src/b.ts ──", "gf", "src/b.ts", 2, "two"],
  ["3\tthe needle: 7", "<CR>", "src/b.ts", 3, "the needle: 7"],
  ["3\tline 3", "<CR>", "src/a.ts", 3, "line 3"],
  ["deep/", "gf", "src/deep", undefined, "c.ts"],
  ["b.ts (27 B)", "<CR>", "src/b.ts", undefined, "one"],
  ["✓ list src", "gf", "src", undefined, "deep/"],
  ["src/deep/c.ts", "gf", "src/deep/c.ts", undefined, "deep 1"],
  ["✓ read src/deep/c.ts 20–24", "gf", "src/deep/c.ts", 20, "deep 20"],
  ["✓ search deep 33", "gf", "src/deep/c.ts", 33, "deep 33"],
  ["src/deep/c.ts:33: deep 33", "<CR>", "src/deep/c.ts", 33, "deep 33"],
];

/** Git's status and its diff, whose rows also begin those of the edit. */
const CHANGE_JUMPS: readonly Jump[] = [
  ["?? fresh/", "gf", "fresh", undefined, "d.ts"],
  ["M src/a.ts", "<CR>", "src/a.ts", undefined, "line 1"],
  ["+++ b/src/a.ts", "<CR>", "src/a.ts", undefined, "line 1"],
  ["+more", "gf", "src/a.ts", 11, "more"],
  ["line 52", "<CR>", "src/a.ts", 52, "line 52"],
  ["-line 50", "gf", "src/a.ts", 51, "line 51"],
];

/** One of each kind is enough for the resumed session, which draws the same rows. */
const AGAIN: readonly string[] = [
  ...["✓ edit src/a.ts", "42\tline 41", "src/b.ts:3: the needle: 7", "3\tline 3"],
  ...["b.ts (27 B)", "✓ read src/deep/c.ts 20–24", "src/deep/c.ts:33: deep 33"],
];

/** Only a live session has the texts of diffs. */
const DIFF_JUMPS: readonly Jump[] = [
  ["-line 10", "gf", "src/a.ts", 10, "LINE 10"],
  ["+more", "<CR>", "src/a.ts", 11, "more"],
  ["line 52", "gf", "src/a.ts", 52, "line 52"],
  ["-line 50", "<CR>", "src/a.ts", 51, "line 51"],
];

async function expectJump(nvim: ChildNvim, [row, keys, file, line, text]: Jump): Promise<void> {
  // Another file and line than before.
  await nvim.lua(`vim.api.nvim_win_set_buf(vim.fn.win_getid(1), vim.api.nvim_create_buf(true, false))`);
  await pressOn(nvim, row, keys);
  await waitForFile(nvim, file, line);
  await nvim.waitForScreen(text);
}

async function expectJumps(nvim: ChildNvim, jumps: readonly Jump[]): Promise<void> {
  for (const jump of jumps) await expectJump(nvim, jump);
}

async function waitForRow(nvim: ChildNvim, row: string): Promise<void> {
  await waitUntil(row, async () => (await transcript(nvim)).some((line) => line.trimStart().startsWith(row)));
}

/** Opens what the turn has closed. */
async function openCalls(nvim: ChildNvim): Promise<void> {
  await pressOn(nvim, "✓ looked 4 times, searched once", "<Tab>");
  await waitForRow(nvim, "✓ list src");
  for (const [row, text] of OPENINGS) {
    await pressOn(nvim, row, /^✓ (?:search|list|changes)/.test(row) ? "<CR>" : "<Tab>");
    await waitForRow(nvim, text);
  }
}

const OPENINGS = [
  ["✓ read src/a.ts 40–42", "42\tline 41"],
  ["✓ search needle", "src/b.ts:3: the needle: 7"],
  ["✓ read ./src/b.ts, src/a.ts", "── src/a.ts ──"],
  ["✓ list src", "b.ts (27 B)"],
  ["✓ find **/c.ts in src", "src/deep/c.ts"],
  ["✓ explore: Find it", "✓ search deep 33"],
  ["✓ search deep 33", "src/deep/c.ts:33: deep 33"],
  ["✓ changes since the last commit", "?? fresh/"],
] as const;

async function start(): Promise<RunningAgent> {
  const agent = await sharedAgent({
    script: SCRIPT,
    project: PROJECT,
    columns: 110,
    // Earlier tests may have taken netrw from 'runtimepath', which opens folders.
    group: "jumps",
    options: `sessions = { title = false }, ui = { layout = "right" }`,
  });
  await agent.project.write("fresh/d.ts", "d\n");
  await agent.nvim.command("Agent Go");
  await waitForTurn(agent.nvim);
  await agent.nvim.waitForScreen("All done.");
  assert.deepEqual(agent.server.problems, []);
  return agent;
}

Deno.test("calls and the rows of their output lead to their lines, in a live and in a resumed session", async () => {
  await using agent = await start();
  const { nvim, project } = agent;
  await openCalls(nvim);
  await expectJumps(nvim, CHANGE_JUMPS);
  await pressOn(nvim, "✓ edit src/a.ts", "<Tab>");
  await waitForRow(nvim, "-line 50");
  await expectJumps(nvim, [...JUMPS, ...DIFF_JUMPS]);

  // Unsaved text stays, and a line beyond the end of a file is its last one.
  await nvim.command("edit src/a.ts");
  await nvim.keys("ggdGiunsaved<Esc>");
  await nvim.waitFor("vim.fn.line('$') == 1 and vim.bo.modified and vim.fn.mode() == 'n'");
  await nvim.command("let v:errmsg = ''");
  await pressOn(nvim, "✓ read src/a.ts 40–42", "gf");
  await nvim.waitFor(`vim.api.nvim_get_current_line() == "unsaved" and vim.bo.modified`);
  assert.equal(await nvim.lua<string>("return vim.v.errmsg"), "");
  await nvim.command("edit!");
  assert.match(await project.read("src/a.ts"), /^line 1\n/);

  await endEngines(agent);
  await nvim.command("Agent resume");
  await nvim.waitForScreen("All done.");
  await openCalls(nvim);
  await expectJumps(nvim, [...JUMPS.filter(([row]) => AGAIN.includes(row)), ...CHANGE_JUMPS]);
});

Deno.test("the chat opens at the place that was left; a line at the edge of its window comes to the centre", async () => {
  await using agent = await start();
  const { nvim } = agent;
  await openCalls(nvim);
  await nvim.lua(`require("agent.chat").current():hide()
    require("agent").setup({ sessions = { title = false }, ui = { layout = "float" } })`);
  const place = () => nvim.lua<unknown>(`return { vim.fn.line("."), vim.fn.line("w0") }`);
  const leave = async (keys: string) => {
    await pressOn(nvim, "42\tline 41", "zt2<C-e>");
    await nvim.keys("j");
    const before = await place();
    await nvim.keys(keys);
    await nvim.waitFor(`not require("agent.chat").current():is_open()`);
    return before;
  };
  for (const keys of ["gf", "q"]) {
    const before = await leave(keys);
    await nvim.command("Agent");
    await nvim.keys("<Esc><C-w>k");
    assert.deepEqual(await place(), before);
    await nvim.keys("q");
    await nvim.waitFor(`not require("agent.chat").current():is_open()`);
  }
  await nvim.command("edit src/a.ts");
  await nvim.command("normal! 42zb");
  await pressOn(nvim, "42\tline 41", "gf");
  await waitForFile(nvim, "src/a.ts", 42);
  await nvim.waitFor(`math.abs(vim.fn.winline() - vim.api.nvim_win_get_height(0) / 2) <= 1`);
  assert.equal(await nvim.lua<string>(`return vim.fn.bufname()`), "src/a.ts");

  // Who was at the end sees the end.
  await nvim.command("Agent open");
  await nvim.keys("<Esc><C-w>kGq");
  await nvim.waitFor(`not require("agent.chat").current():is_open()`);
  await nvim.command("Agent");
  await nvim.waitForScreen("All done.");
});
