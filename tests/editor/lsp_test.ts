/**
 * Real language servers, one that counts in UTF-16 and one in UTF-8: their tools, and what they say about the agent's
 * own writes, after each and before a turn may end. Whole program.
 */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { pressOn, transcript, waitForFile } from "../support/chat.ts";
import {
  ask,
  ENCODINGS,
  MAIN,
  startTypescript as start,
  toolResults,
  turn,
  TYPESCRIPT,
} from "../support/language_servers.ts";
import { sample } from "../support/sample.ts";

/** In characters, from 1, on line 5. */
function columnOf(text: string): number {
  const line = MAIN.split("\n")[4] ?? "";
  return [...line.slice(0, line.indexOf(text))].length + 1;
}

/** Calls of the transcript, a row of each, and where it leads. */
const JUMPS = [
  ["✓ outline of src/shape.ts", "7-9 method area", "src/shape.ts", 7],
  ["✓ calls of greet in src/greet.ts", "src/main.ts:4-7 function run", "src/main.ts", 4],
  ["✓ diagnostics of src/main.ts", "src/main.ts:9:57 error", "src/main.ts", 9],
  ["✓ find symbol gree", "src/greet.ts:3 function greet", "src/greet.ts", 3],
  ["✓ references of greet in src/greet.ts", "src/main.ts:5: const", "src/main.ts", 5],
] as const;

for (const encoding of sample(ENCODINGS, 1)) {
  Deno.test(`the model looks around in code that no window shows, then renames a symbol in all files (${encoding})`, async () => {
    await using agent = await start(
      encoding,
      turn(
        ["find_definition", { path: "src/main.ts", symbol: "greet", line: 5 }],
        ["find_definition", { path: "src/main.ts", line: 5, character: columnOf("é漢)") }],
        ["find_references", { path: "src/greet.ts", symbol: "greet" }],
        ["find_implementations", { path: "src/shape.ts", symbol: "Shape.area" }],
        ["get_hover_info", { path: "src/main.ts", symbol: "GREET", line: 6 }],
        ["get_call_hierarchy", { path: "src/greet.ts", symbol: "greet" }],
        ["get_type_hierarchy", { path: "src/shape.ts", symbol: "Circle" }],
        ["get_document_symbols", { path: "src/shape.ts" }],
        ["find_symbol", { query: "gree", path: "src/greet.ts" }],
        ["get_diagnostics", { path: "src/main.ts" }],
        ["find_definition", { path: "src/main.ts", symbol: "round", line: 6 }],
      ),
    );
    const [
      definition,
      variable,
      references,
      implementations,
      hover,
      calls,
      types,
      outline,
      symbols,
      diagnostics,
      library,
    ] = await ask(agent);
    const excerpt = [
      "  1: // greet is a greeting",
      "  2: /** Greets: 😀é漢. */",
      "→ 3: export function greet(name: string): string {",
      "  4:   return `Hi ${name}`;",
      "  5: }",
    ].join("\n");
    assert.equal(definition, `1 definition of greet (line 5):\n── src/greet.ts ──\n${excerpt}`);
    assert.match(
      variable ?? "",
      /^1 definition of é漢 \(line 5\):\n── src\/main\.ts ──\n[^→]*→ 5: {3}const é漢/,
    );
    assert.match(references ?? "", /^3 references of greet \(line 3\):\n── src\/greet\.ts ──\n/);
    assert.match(references ?? "", /── src\/main\.ts ──\n→ 1: import \{ greet \}[^]*→ 5: {3}const é漢/);
    assert.match(
      implementations ?? "",
      /^1 implementation of Shape\.area \(line 2\):[^]*→ 7: {3}area\(\) \{/,
    );
    assert.match(hover ?? "", /greet\(name: string\): string[^]*Greets: 😀é漢\./);
    assert.match(
      calls ?? "",
      /^src\/greet\.ts:3-5 function greet\nCalled by:\n {2}src\/main\.ts:4-7 function run, calls on line 5\nCalls: none$/,
    );
    assert.equal(types, "The language server ts offers no type hierarchy.");
    assert.match(outline ?? "", /^5-10 class Circle$/m);
    assert.match(outline ?? "", /^ {2}7-9 method area$/m);
    assert.match(symbols ?? "", /^src\/greet\.ts:3 function greet/);
    assert.match(
      diagnostics ?? "",
      /^2 errors[^]*^src\/main\.ts:9:7 error Type 'string' is not assignable to type 'number'\. \(\w+ 2322\)$/m,
    );
    assert.match(diagnostics ?? "", /^src\/main\.ts:9:57 error Cannot find name 'missing'/m);
    assert.match(library ?? "", /\(outside of the project\) ──\n→ \d+/);
    assert.doesNotMatch(library ?? "", /interface Math/, "nothing is read outside of the project");
    assert.equal(
      await agent.nvim.lua("return #vim.fn.getbufinfo({ buflisted = 1 })"),
      1,
      "no buffer was listed",
    );

    // An open buffer follows.
    for (const file of ["src/greet.ts", "src/main.ts"]) await agent.nvim.command(`edit ${file}`);
    // A server that has checked nothing yet may be slower than a turn waits, and its errors then look like new ones.
    await agent.nvim.waitFor("#vim.diagnostic.get(0) == 2");
    await agent.nvim.command("bwipeout");
    const where = { path: "src/main.ts", symbol: "greet", line: 5 };
    agent.server.play(turn(["rename_symbol", { ...where, new_name: "salute" }]));
    const renamed = (await ask(agent, "rename it")).at(-1);
    assert.equal(
      renamed?.replace(/\n\[Auto-diagnostics\] 2 errors from before:[^]*/, ""),
      "Renamed greet to salute in 2 files:\n── src/greet.ts (+1 −1) ──\n" +
        "→ 3: export function salute(name: string): string {\n── src/main.ts (+2 −2) ──\n" +
        '→ 1: import { salute } from "./greet.ts";\n' +
        '→ 5:   const é漢 = "😀"; console.log("😀漢é", salute(é漢), salute("b"));',
    );
    assert.equal(
      await agent.project.read("src/main.ts"),
      MAIN.replaceAll("greet(", "salute(").replace("{ greet }", "{ salute }"),
    );
    assert.match(await agent.project.read("src/greet.ts"), /^\/\/ greet is [^]*function salute\(/);
    const line = "return vim.fn.getbufline(vim.fn.bufnr('src/greet.ts'), 3)[1]";
    assert.equal(await agent.nvim.lua(line), "export function salute(name: string): string {");
    assert.equal(await agent.nvim.lua("return vim.bo[vim.fn.bufnr('src/greet.ts')].modified"), false);

    await pressOn(agent.nvim, "✓ searched 11 times", "<Tab>");
    await pressOn(agent.nvim, "✓ definition of greet in src/main.ts", "gf");
    await waitForFile(agent.nvim, "src/greet.ts", 3);
    for (const [call, row, file, line] of JUMPS) {
      await pressOn(agent.nvim, call, "<CR>");
      await pressOn(agent.nvim, row, "<CR>");
      await waitForFile(agent.nvim, file, line);
    }
  });
}

for (const encoding of sample(ENCODINGS.toReversed(), 1)) {
  Deno.test(`code actions are listed, and the chosen one is written (${encoding})`, async () => {
    const imports =
      'import { Circle } from "./shape.ts";\nexport const area = "😀" + greet(String(new Circle(2)));\n';
    const project = { ...TYPESCRIPT, "src/new.ts": imports };
    const where = { path: "src/new.ts", symbol: "greet" };
    await using agent = await start(
      encoding,
      turn(["get_diagnostics", { path: "src/new.ts" }], ["code_action", where]),
      {
        project,
      },
    );
    const [, listed = ""] = await ask(agent);
    assert.match(listed, /^Nothing was changed\. Offered here/);
    const title = listed.split("\n").find((line) => /^(Add|Update) import from/i.test(line));
    assert.ok(title, listed);
    agent.server.play(turn(["code_action", { ...where, title: title.replace(/ \([^(]*\)$/, "") }]));
    const [, , applied] = await ask(agent, "fix it");
    assert.match(
      applied ?? "",
      /^Applied “[^]* in 1 file:\n── src\/new\.ts \(\+1\) ──\n→ \d: import \{ greet \} from "\.\/greet/,
    );
    assert.match(await agent.project.read("src/new.ts"), /^import \{ greet \} from "\.\/greet(\.ts)?";$/m);
  });
}

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
async function patience({ nvim }: RunningAgent): Promise<AsyncDisposable> {
  const set = (limit: number) =>
    nvim.lua<number>(
      `local published, limit = require("agent.editor.lsp.published"), ...
      limit, published.limit_ms = published.limit_ms, limit
      return limit`,
      limit,
    );
  const before = await set(10_000);
  return { [Symbol.asyncDispose]: async () => void await set(before) };
}

/** What was not read is not edited. */
const READ = `call read_file {"path":"src/a.ts"}\n`;
const BREAK = READ + edit("count: number = 1", 'count: number = "1"');
const FIX = edit('count: number = "1"', "count: number = 2");

for (const encoding of ENCODINGS) {
  Deno.test(`an edit that adds an error says so, one that mends it says nothing (${encoding})`, async () => {
    const script = `${BREAK}---\n${FIX}---\nsay It is a number again.\n`;
    await using agent = await start(encoding, script, { project: CLEAN, files: OPEN });
    await using _ = await patience(agent);
    const [, broken, mended] = await ask(agent, "break it");
    assert.match(
      broken ?? "",
      /^Edited src\/a\.ts \(\+1 −1\)\.\n\[Auto-diagnostics\] you added 1 error:\nsrc\/a\.ts:2:46 error Type 'string' is not assignable to type 'number'\. \(\w+ 2322\)$/,
    );
    assert.equal(mended, "Edited src/a.ts (+1 −1).");
    assert.equal(agent.server.requests.length, 3, "and the turn ends at once");
  });
}

Deno.test("a turn that leaves an error behind is not over: the model is told, once if it does not mend it", async () => {
  const script =
    `${BREAK}---\nsay Done.\n---\nexpect need_fixes\n${FIX}---\nsay Now it is right.\n---\nrepeat\n${BREAK}`;
  await using agent = await start("utf-8", script, { project: CLEAN, files: ["src/a.ts"] });
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
  const shown = (await transcript(agent.nvim)).join("\n");
  assert.match(shown, /edit src\/a\.ts.*1 new error/);
  assert.match(shown, /The edits added 1 error/);

  const again = edit("count: number = 2", 'count: number = "1"');
  agent.server.play(`${again}---\nsay Done.\n---\nsay It is to stay.\n`);
  await ask(agent, "break it again");
  assert.equal(agent.server.requests.length, 7, "it is asked no second time");
});

Deno.test("errors that were there before are not the model's, wherever the lines go", async () => {
  const old = `const bad: number = "old";\n${GOOD}`;
  const project = { ...CLEAN, "src/a.ts": old };
  const added = READ + edit("const bad", "export const more = lost;\nconst bad");
  await using agent = await start("utf-8", `${added}---\nsay Done.\n---\nsay I know.\n`, {
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
  await using agent = await start("utf-8", script, { project: CLEAN, files: ["src/a.ts"] });
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
