/** The language-server tools, whole program: real servers, one that counts in UTF-16 and one in UTF-8. */
import assert from "node:assert/strict";
import {
  ask,
  ENCODINGS,
  MAIN,
  startTypescript as start,
  turn,
  TYPESCRIPT,
} from "../support/language_servers.ts";

/** In characters, from 1, on line 5. */
function columnOf(text: string): number {
  const line = MAIN.split("\n")[4] ?? "";
  return [...line.slice(0, line.indexOf(text))].length + 1;
}

for (const encoding of ENCODINGS) {
  Deno.test(`the model looks around in code that no window shows (${encoding})`, async () => {
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
        ["find_definition", { path: "src/main.ts", symbol: "log", line: 6 }],
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
    assert.doesNotMatch(library ?? "", /interface Console/, "nothing is read outside of the project");
    assert.equal(
      await agent.nvim.lua("return #vim.fn.getbufinfo({ buflisted = 1 })"),
      1,
      "no buffer was listed",
    );
  });

  Deno.test(`a symbol is renamed in all files, and an open buffer follows (${encoding})`, async () => {
    const script = turn(["rename_symbol", {
      path: "src/main.ts",
      symbol: "greet",
      line: 5,
      new_name: "salute",
    }]);
    await using agent = await start(encoding, script, { files: ["src/greet.ts"] });
    const [renamed] = await ask(agent);
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
  });

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
