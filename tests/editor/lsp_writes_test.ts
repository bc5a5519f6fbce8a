/** What language servers say about the agent's own writes: after each, and before a turn may end. Whole program. */
import assert from "node:assert/strict";
import { ask, ENCODINGS, startTypescript, toolResults, TYPESCRIPT } from "../support/language_servers.ts";

const GOOD = "export const a = 1;\nexport const text = `😀漢é ${a}`; export const count: number = 1;\n";
const CLEAN = {
  "tsconfig.json": TYPESCRIPT["tsconfig.json"],
  "src/a.ts": GOOD,
  "src/open.ts": "export {};\n",
};
/** The user has it open: writes are checked by servers that run already. */
const OPEN = ["src/open.ts"];

function edit(old_str: string, new_str: string, path = "src/a.ts"): string {
  return `call edit_file ${JSON.stringify({ path, old_str, new_str })}\n`;
}

/** Here the server speaks after every edit, so that a long limit only helps a machine under load. */
const PATIENT = `require("agent.editor.lsp.published").limit_ms = 10000`;

/** What was not read is not edited. */
const READ = `call read_file {"path":"src/a.ts"}\n`;
const BREAK = READ + edit("count: number = 1", 'count: number = "1"');
const FIX = edit('count: number = "1"', "count: number = 2");

for (const encoding of ENCODINGS) {
  Deno.test(`an edit that adds an error says so, one that mends it says nothing (${encoding})`, async () => {
    const script = `${BREAK}---\n${FIX}---\nsay It is a number again.\n`;
    await using agent = await startTypescript(encoding, script, {
      project: CLEAN,
      files: OPEN,
      lua: PATIENT,
    });
    const [, broken, mended] = await ask(agent, "break it");
    assert.match(
      broken ?? "",
      /^Edited src\/a\.ts \(\+1 −1\)\.\n\[Auto-diagnostics\] you added 1 error:\nsrc\/a\.ts:2:46 error Type 'string' is not assignable to type 'number'\. \(\w+ 2322\)$/,
    );
    assert.equal(mended, "Edited src/a.ts (+1 −1).");
    assert.equal(agent.server.requests.length, 3, "and the turn ends at once");
  });
}

Deno.test("a turn that leaves an error behind is not over: the model is told once", async () => {
  const script =
    `${BREAK}---\nsay Done.\n---\nexpect need_fixes\n${FIX}---\nsay Now it is right.\n---\nrepeat\n${BREAK}`;
  await using agent = await startTypescript("utf-8", script, { project: CLEAN, files: ["src/a.ts"] });
  await ask(agent, "break it");
  assert.equal(agent.server.requests.length, 4);
  const said = agent.server.requests[2]?.text ?? "";
  const [, json = "{}", sentence] = /^<agent_control>(.*)<\/agent_control>\n(.*)$/s.exec(said) ?? [];
  const { note, ...packet } = JSON.parse(json);
  assert.deepEqual(packet, {
    state: "need_fixes",
    iteration: 2,
    max_iterations: 25,
    remaining_iterations: 23,
    files_changed: ["src/a.ts"],
  });
  assert.match(note, /src\/a\.ts:2:46 error Type 'string' is not assignable/);
  assert.match(sentence ?? "", /do not repeat/);
  assert.match(await agent.project.read("src/a.ts"), /number = 2/);
  const transcript =
    "table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('agent://chat/1'), 0, -1, true), '\\n')";
  const shown = await agent.nvim.lua<string>(`return ${transcript}`);
  assert.match(shown, /edit src\/a\.ts.*1 new error/);
  assert.match(shown, /The edits added 1 error/);
});

Deno.test("a model that does not mend its error is asked no second time", async () => {
  const script = `${BREAK}---\nsay Done.\n---\nsay It is to stay.\n`;
  await using agent = await startTypescript("utf-8", script, { project: CLEAN, files: OPEN });
  await ask(agent, "break it");
  assert.equal(agent.server.requests.length, 3);
});

Deno.test("errors that were there before are not the model's, wherever the lines go", async () => {
  const old = `const bad: number = "old";\n${GOOD}`;
  const project = { ...CLEAN, "src/a.ts": old };
  const added = READ + edit("const bad", "export const more = lost;\nconst bad");
  await using agent = await startTypescript("utf-8", `${added}---\nsay Done.\n---\nsay I know.\n`, {
    project,
    files: OPEN,
  });
  const [, result] = await ask(agent, "add a line");
  const [head, mine, before, theirs] = (result ?? "").split("\n").slice(1);
  assert.equal(head, "[Auto-diagnostics] you added 1 error:");
  assert.match(mine ?? "", /^src\/a\.ts:1:21 error Cannot find name 'lost'/);
  assert.equal(before, "1 error from before:");
  assert.match(theirs ?? "", /^src\/a\.ts:2:7 error Type 'string' is not assignable/);
  const gate = agent.server.requests[2]?.text ?? "";
  assert.match(gate, /lost/);
  assert.doesNotMatch(gate, /assignable/);
});

Deno.test("all errors of a new file are the model's, and unsaved text is what counts", async () => {
  const file = `call write_file ${
    JSON.stringify({ path: "src/b.ts", content: "export const b: number = '';\n" })
  }\n`;
  const removed = `call write_file ${
    JSON.stringify({ path: "src/b.ts", content: "export const b = 1;\n" })
  }\n`;
  const script = `${file}---\n${removed}---\n${BREAK}${FIX}---\nsay Done.\n`;
  await using agent = await startTypescript("utf-8", script, { project: CLEAN, files: ["src/a.ts"] });
  await agent.nvim.keys("ggOexport const mine = 0;<Esc>");
  const [created, replaced, , broken, mended] = await ask(agent, "write it");
  assert.match(created ?? "", /you added 1 error:\nsrc\/b\.ts:1:14 error/);
  assert.equal(replaced, "Replaced src/b.ts (+1 −1).");
  assert.match(
    broken ?? "",
    /not saved to disk\.\n\[Auto-diagnostics\] you added 1 error:\nsrc\/a\.ts:3:46 error/,
  );
  assert.match(mended ?? "", /not saved to disk\.$/);
  assert.equal(await agent.project.read("src/a.ts"), GOOD);
  assert.deepEqual(toolResults(agent.server).length, 5);
});
