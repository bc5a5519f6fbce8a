/** Review: what the agent has changed is marked in the buffers, to be kept or undone. Whole program. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PLUGIN } from "../support/agent.ts";
import { EARLY } from "../support/nvim_process.ts";
import { IS_FULL } from "../support/sample.ts";
import { inOneNeovim } from "../support/shared_agent.ts";
import { ask, FILE, hunks, lines, modified, review, settledSoon, turn, write } from "../support/review.ts";

const CHANGED = FILE.replace("line 3\n", "LINE 3\nnew\n").replace("line 8\n", "");
const test = inOneNeovim({
  script: "",
  project: { "a.txt": FILE },
  files: ["a.txt"],
  lua: "vim.o.fixendofline = false",
});

const ONE = FILE.replace("line 6", "LINE 6");

for (
  const [script, said] of [
    ["properties", IS_FULL ? /^5000 trials/ : /^400 trials/],
    ["buffers", IS_FULL ? /^60 buffers/ : /^10 buffers/],
  ] as const
) {
  Deno.test(`what must hold for all texts, edits and orders of keeping and undoing: ${script}.lua`, async () => {
    const nvim = Deno.env.get("AGENT_NVIM") ?? "nvim";
    const args = ["--headless", "--clean", ...EARLY, "-l", join(PLUGIN, `tests/review/${script}.lua`)];
    const output = await new Deno.Command(nvim, { args, stdin: "null" }).output();
    const text = new TextDecoder().decode(output.stdout) + new TextDecoder().decode(output.stderr);
    assert.ok(output.success, text);
    assert.match(text, said);
  });
}

test("a changed, an added and a deleted line are hunks, also in a file that is opened later", async (agent) => {
  const expected = [{ row: 3, added: ["LINE 3", "new"], removed: ["line 3"] }, {
    row: 9,
    added: [],
    removed: ["line 8"],
  }];
  await review(agent, turn(write(CHANGED)));
  assert.deepEqual(await hunks(agent), expected);
  const { nvim, project } = agent;
  await review(agent, turn(write(CHANGED)), async () => {
    await nvim.command("enew | bwipeout a.txt");
    await project.write("a.txt", FILE);
  });
  await nvim.command("edit a.txt");
  await nvim.waitForScreen("LINE 3");
  assert.equal(await nvim.lua("return vim.fn.bufname()"), "a.txt");
  await settledSoon(agent, 2);
  assert.deepEqual(await hunks(agent), expected);
});

test("keeping a hunk changes no text and is not forgotten; undoing one writes the old lines and saves", async (agent) => {
  await review(agent, turn(write(CHANGED)));
  const { nvim, project } = agent;
  await nvim.keys("3Ggrk");
  assert.deepEqual((await hunks(agent)).map(({ row }) => row), [9]);
  assert.equal(await project.read("a.txt"), CHANGED);
  await nvim.keys("]rgru");
  assert.deepEqual(await hunks(agent), []);
  const expected = FILE.replace("line 3\n", "LINE 3\nnew\n");
  assert.equal(await project.read("a.txt"), expected);
  assert.equal(await modified(agent), false);
  await nvim.command("checktime | write");
  assert.doesNotMatch(await nvim.lua<string>("return vim.fn.execute('messages')"), /W1[12]|changed since/);
  assert.deepEqual((await ask(agent)).files, [], "nothing waits");
});

test("the user's edits above, inside and below hunks: the first and last are never undone, the other is", async (agent) => {
  await review(agent, turn(write(CHANGED)));
  const { nvim, project } = agent;
  await nvim.keys("ggOabove<Esc>");
  await nvim.keys("5Gainside<Esc>");
  await nvim.keys("Gobelow<Esc>");
  await nvim.keys("7Gdd");
  assert.deepEqual(await hunks(agent), [
    { row: 4, added: ["LINE 3", "newinside"], removed: ["line 3"] },
    { row: 9, added: [], removed: ["line 8"] },
  ]);
  await nvim.command("Agent review undo file");
  assert.deepEqual(await lines(agent), ["above", ...LINES_WITHOUT("line 5"), "below"]);
  assert.equal(await modified(agent), true, "unsaved text is the user's to save");
  assert.equal(await project.read("a.txt"), CHANGED);
  await nvim.command("write");
  await nvim.waitFor("#vim.fn.getqflist() == 0");
  assert.deepEqual((await ask(agent)).files, []);
});

function LINES_WITHOUT(gone: string): string[] {
  return FILE.trimEnd().split("\n").filter((line) => line !== gone);
}

test("typing at the edges of hunks is the user's own", async (agent) => {
  await review(agent, turn(write(CHANGED)));
  const { nvim } = agent;
  await nvim.keys("3GOabove<Esc>");
  await nvim.keys("5Gobelow<Esc>");
  assert.deepEqual((await hunks(agent))[0], { row: 4, added: ["LINE 3", "new"], removed: ["line 3"] });
  await nvim.keys("/line 7<CR>oat the deletion<Esc>");
  assert.deepEqual((await hunks(agent))[1]?.removed, ["line 8"]);
  await nvim.command("Agent review undo file");
  const text = (await lines(agent)).join("\n");
  for (const typed of ["above", "below", "at the deletion"]) assert.ok(text.includes(typed), typed);
});

test("u takes back the agent's step and its hunks, <C-r> brings both again", async (agent) => {
  await review(agent, turn(write(CHANGED)));
  const { nvim } = agent;
  const before = await hunks(agent);
  await nvim.keys("u");
  assert.deepEqual(await lines(agent), FILE.trimEnd().split("\n"));
  assert.deepEqual(await hunks(agent), []);
  await nvim.keys("<C-r>");
  assert.deepEqual(await hunks(agent), before);
  await nvim.keys("ggOmine<Esc>uu");
  assert.deepEqual(await hunks(agent), []);
  await nvim.keys("<C-r><C-r>");
  assert.equal((await lines(agent))[0], "mine");
  assert.deepEqual(await hunks(agent), before.map((hunk) => ({ ...hunk, row: hunk.row + 1 })));
});

test("u after undoing a hunk brings the hunk again; u after keeping one is the user's own edit", async (agent) => {
  await review(agent, turn(write(ONE)));
  const { nvim, project } = agent;
  await nvim.keys("6Ggru");
  assert.equal(await project.read("a.txt"), FILE);
  await nvim.keys("u");
  assert.deepEqual(await hunks(agent), [{ row: 6, added: ["LINE 6"], removed: ["line 6"] }]);
  await nvim.command("write");
  assert.equal((await ask(agent)).files.length, 1, "it waits again");
  await nvim.keys("6Ggrk");
  await nvim.keys("u");
  assert.deepEqual(await lines(agent), FILE.trimEnd().split("\n"));
  assert.deepEqual(await hunks(agent), []);
});

test("u takes back the agent's step and the undoing of a hunk also beside a branch of the undo tree", async (agent) => {
  await review(agent, turn(write(ONE)));
  const { nvim } = agent;
  const hunk = [{ row: 6, added: ["LINE 6"], removed: ["line 6"] }];
  await nvim.keys("ggOgone<Esc>u6Ggru");
  assert.deepEqual(await hunks(agent), []);
  await nvim.keys("u");
  assert.deepEqual(await hunks(agent), hunk);
  await nvim.keys("<C-r>");
  assert.deepEqual(await hunks(agent), []);
  await nvim.keys("uu");
  assert.deepEqual(await lines(agent), FILE.trimEnd().split("\n"));
  assert.deepEqual(await hunks(agent), []);
  await nvim.keys("<C-r>");
  assert.deepEqual(await hunks(agent), hunk);
});

test("many undo steps at once lead back to the hunks that there were", async (agent) => {
  await review(agent, turn(write(CHANGED)));
  const { nvim } = agent;
  const before = await hunks(agent);
  await nvim.command("2,9normal! A!");
  await nvim.command("2delete | 5delete | undo 1");
  assert.deepEqual(await hunks(agent), before);
  await nvim.command("2,9substitute/$/!/ | 3delete | undo 0");
  assert.deepEqual(await lines(agent), FILE.trimEnd().split("\n"));
  assert.deepEqual(await hunks(agent), []);
});

test("a turn that goes on in the file: kept stays kept, the rest is compared with what was agreed to", async (agent) => {
  await review(agent, turn(write(CHANGED)));
  const { nvim, server } = agent;
  await nvim.keys("3Ggrk");
  await nvim.keys("ggOmine<Esc>");
  await nvim.command("write");
  server.play(turn(write("mine\n" + CHANGED.replace("line 12", "LINE 12"))));
  await nvim.command("Agent! more");
  await nvim.waitForScreen("LINE 12");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  assert.deepEqual(await hunks(agent), [
    { row: 10, added: [], removed: ["line 8"] },
    { row: 13, added: ["LINE 12"], removed: ["line 12"] },
  ]);
});

test("an edit that went into unsaved text is a hunk too, and waits after it was saved", async (agent) => {
  await review(
    agent,
    turn(`call edit_file {"path": "a.txt", "old_str": "line 6", "new_str": "LINE 6"}`),
    ({ nvim }) => nvim.keys("ggccMINE<Esc>"),
  );
  const { nvim, project } = agent;
  assert.deepEqual(await hunks(agent), [{ row: 6, added: ["LINE 6"], removed: ["line 6"] }]);
  assert.equal(await project.read("a.txt"), FILE);
  await nvim.command("write");
  const { files } = await ask(agent);
  assert.deepEqual(files.map(({ baseline }) => baseline), [FILE.replace("line 1\n", "MINE\n")]);
  await nvim.keys("6Ggru");
  assert.equal(await project.read("a.txt"), FILE.replace("line 1\n", "MINE\n"));
});

test("what others did to the file before the agent's edit is no hunk", async (agent) => {
  await review(
    agent,
    turn(`call edit_file {"path": "a.txt", "old_str": "line 6", "new_str": "LINE 6"}`),
    ({ project }) => project.write("a.txt", FILE.replace("line 12", "pulled")),
  );
  assert.deepEqual(await hunks(agent), [{ row: 6, added: ["LINE 6"], removed: ["line 6"] }]);
  assert.equal((await lines(agent)).at(-1), "pulled");
});

const CASES = {
  "the first line deleted": {
    before: FILE,
    after: FILE.replace("line 1\n", ""),
    expected: [{ row: 1, added: [], removed: ["line 1"] }],
  },
  "the last line deleted": {
    before: FILE,
    after: FILE.replace("line 12\n", ""),
    expected: [{ row: 12, added: [], removed: ["line 12"] }],
  },
  "all lines deleted": {
    before: "only\n",
    after: "",
    expected: [{ row: 1, added: [], removed: ["only"] }],
  },
  "an empty file filled": {
    before: "",
    after: "a\nb\n",
    expected: [{ row: 1, added: ["a", "b"], removed: [] }],
  },
  "dos endings": {
    before: "a\r\nb\r\n",
    after: "a\r\nB\r\n",
    expected: [{ row: 2, added: ["B"], removed: ["b"] }],
  },
  "no final newline": {
    before: "a\nb",
    after: "a\nB",
    expected: [{ row: 2, added: ["B"], removed: ["b"] }],
  },
  "wide characters": {
    before: "日本\nü\n",
    after: "日本語\nü\n",
    expected: [{ row: 1, added: ["日本語"], removed: ["日本"] }],
  },
};

test("a hunk can be undone and comes back, whatever the file is like", async (agent) => {
  const { nvim, project } = agent;
  const cases = Object.entries(CASES).map(([name, row], index) => ({
    ...row,
    name,
    path: `case${index}.txt`,
  }));
  const reads = cases.map(({ path }) => `call read_file ${JSON.stringify({ path })}`).join("\n");
  const writes = cases.map(({ path, after }) => write(after, path)).join("\n");
  await review(agent, [reads, writes, "say Done."].join("\n---\n"), async () => {
    for (const { path, before } of cases) {
      await project.write(path, before);
      await nvim.command(`edit ${path}`);
    }
  });
  for (const { name, path, before, expected } of cases) {
    await nvim.command(`buffer ${path}`);
    assert.deepEqual(await hunks(agent), expected, name);
    await nvim.command("edit!");
    await settledSoon(agent, 1);
    assert.deepEqual(await hunks(agent), expected, `${name}, after :edit!`);
    await nvim.command("normal! G");
    await nvim.command("Agent review next");
    await nvim.command("Agent review undo hunk");
    assert.equal(await project.read(path), before, name);
    await nvim.keys("u");
    assert.deepEqual(await hunks(agent), expected, `${name}, after u`);
    await nvim.command("Agent keep file");
    assert.deepEqual(await hunks(agent), [], name);
  }
});
