/** The pure parts of the language-server tools, run as Lua in a real Neovim. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { PLUGIN } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";

async function run(body: (nvim: ChildNvim) => Promise<void>): Promise<void> {
  await using nvim = await ChildNvim.start({ runtime: [PLUGIN] });
  await body(nvim);
}

interface Position {
  readonly row: number;
  readonly col: number;
}

function find(nvim: ChildNvim, lines: readonly string[], symbol: string, line?: number): Promise<Position[]> {
  return nvim.lua<Position[]>(
    `local lines, symbol, line = ...
    return require("agent.editor.lsp.symbol").find(lines, symbol, line and line - 1 or nil, { "//" })`,
    lines,
    symbol,
    ...(line === undefined ? [] : [line]),
  );
}

/** "row:what stands there", rows from 1. */
async function places(nvim: ChildNvim, lines: readonly string[], symbol: string, line?: number) {
  const bytes = lines.map((text) => new TextEncoder().encode(text));
  return (await find(nvim, lines, symbol, line)).map(({ row, col }) =>
    `${row + 1}:${new TextDecoder().decode(bytes[row]?.subarray(col)).slice(0, 8)}`
  );
}

Deno.test("a symbol is found as a whole word, with its case before without, nearest to the line", () =>
  run(async (nvim) => {
    const lines = [
      "// greet: see Greeter",
      "class Greeter { greetAll() {} }",
      "function greet() {}",
      "let GREET = greet; greet2();",
      "",
      "x.greet();",
    ];
    assert.deepEqual(await places(nvim, lines, "greet"), [
      "3:greet() ",
      "4:greet; g",
      "6:greet();",
      "1:greet: s",
    ]);
    assert.deepEqual((await places(nvim, lines, "greet", 6))[0], "6:greet();");
    assert.deepEqual((await places(nvim, lines, "greet", 4))[0], "4:greet; g");
    assert.deepEqual((await places(nvim, lines, "greet()"))[0], "3:greet() ");
    assert.deepEqual(await places(nvim, lines, "gREET"), [
      "3:greet() ",
      "4:GREET = ",
      "4:greet; g",
      "6:greet();",
      "1:greet: s",
    ]);
    assert.deepEqual(await places(nvim, lines, "greeT2"), ["4:greet2()"]);
    assert.deepEqual(await places(nvim, lines, "gree"), []);
    assert.deepEqual(await places(nvim, lines, ""), []);
  }));

Deno.test("qualified names lead to their last part", () =>
  run(async (nvim) => {
    const lines = [
      "area();",
      "class Circle {",
      "  area() {}",
      "}",
      "new Circle().area(); a.b::area();",
      "p->area",
    ];
    assert.deepEqual((await places(nvim, lines, "Circle.area"))[0], "3:area() {");
    assert.deepEqual(await places(nvim, lines, "b::area"), ["5:area();"]);
    assert.deepEqual(await places(nvim, lines, "p->area"), ["6:area"]);
    assert.deepEqual(await places(nvim, lines, "Nothing.here"), []);
  }));

Deno.test("names and what surrounds them may be of any script", () =>
  run(async (nvim) => {
    const lines = ["😀foo é漢 = naïve;", "漢字 = 漢; $dollar; İx = $v.*[a];"];
    assert.deepEqual(await places(nvim, lines, "foo"), ["1:foo é漢 ="]);
    assert.deepEqual(await places(nvim, lines, "é漢"), ["1:é漢 = naï"]);
    assert.deepEqual(await places(nvim, lines, "na"), []);
    assert.deepEqual(await places(nvim, lines, "NAÏVE"), ["1:naïve;"]);
    assert.deepEqual(await places(nvim, lines, "漢"), ["2:漢; $dolla".slice(0, 10)]);
    assert.deepEqual(await places(nvim, lines, "dollar"), ["2:dollar; "]);
    assert.deepEqual(await places(nvim, lines, "$v.*[a]"), ["2:$v.*[a];"]);
  }));

Deno.test("positions go to every encoding and back", () =>
  run(async (nvim) => {
    const line = "a😀é漢b";
    const table = await nvim.lua<Record<string, number[]>>(
      `local l, line = require("agent.editor.lsp.locations"), ...
      vim.api.nvim_buf_set_lines(0, 0, -1, false, { line })
      local out = { chars = {} }
      for _, encoding in ipairs({ "utf-8", "utf-16", "utf-32" }) do
        out[encoding] = {}
        for _, col in ipairs({ 0, 1, 5, 7, 10, 11 }) do
          local position = l.to_server(0, 0, col, encoding)
          assert(l.to_byte(line, position.character, encoding) == col)
          table.insert(out[encoding], position.character)
        end
      end
      for _, col in ipairs({ 0, 1, 5, 7, 10, 11 }) do
        assert(l.from_character(line, l.to_character(line, col)) == col)
        table.insert(out.chars, l.to_character(line, col))
      end
      return out`,
      line,
    );
    assert.deepEqual(table, {
      "utf-8": [0, 1, 5, 7, 10, 11],
      "utf-16": [0, 1, 3, 4, 5, 6],
      "utf-32": [0, 1, 2, 3, 4, 5],
      chars: [1, 2, 3, 4, 5, 6],
    });
  }));

interface Edit {
  readonly range: { readonly start: Place; readonly end: Place };
  readonly newText: string;
}

interface Place {
  readonly line: number;
  readonly character: number;
}

function edit(from: readonly [number, number], to: readonly [number, number], newText: string): Edit {
  return {
    range: { start: { line: from[0], character: from[1] }, end: { line: to[0], character: to[1] } },
    newText,
  };
}

function apply(nvim: ChildNvim, text: string, edits: readonly Edit[], encoding: string) {
  return nvim.lua<readonly [string | null, string?]>(
    `return { require("agent.editor.lsp.edit").apply(...) }`,
    text,
    edits,
    encoding,
  );
}

Deno.test("a server's edits become a whole text, whatever it counts in", () =>
  run(async (nvim) => {
    for (const [encoding, from, to] of [["utf-8", 6, 8], ["utf-16", 4, 5], ["utf-32", 3, 4]] as const) {
      assert.deepEqual(await apply(nvim, "x 😀é y\n", [edit([0, from], [0, to], "e")], encoding), [
        "x 😀e y\n",
      ]);
    }
    const crlf = "one\r\ntwo\r\nthree";
    assert.deepEqual(await apply(nvim, crlf, [edit([1, 0], [1, 0], "a\nb\n")], "utf-16"), [
      "one\r\na\r\nb\r\ntwo\r\nthree",
    ]);
    // In any order; at the same place in the order of the list; behind the end is the end.
    const several = [
      edit([2, 5], [9, 0], "!"),
      edit([0, 0], [0, 0], "A"),
      edit([0, 0], [0, 0], "B"),
      edit([0, 0], [0, 3], "C"),
    ];
    assert.deepEqual(await apply(nvim, crlf, several, "utf-16"), ["ABC\r\ntwo\r\nthree!"]);
    const [nothing, problem] = await apply(
      nvim,
      "abc",
      [edit([0, 0], [0, 2], ""), edit([0, 1], [0, 3], "")],
      "utf-8",
    );
    assert.equal(nothing, null);
    assert.match(problem ?? "", /overlap/);
  }));

Deno.test("one edit of any place of any text is what slicing by code points gives", () =>
  run(async (nvim) => {
    const text = fc.array(fc.constantFrom("a", "é", "漢", "😀", "\t", "👩‍👩‍👧"), { maxLength: 8 }).map((parts) =>
      parts.join("")
    );
    const counts = {
      "utf-8": (t: string) => new TextEncoder().encode(t).length,
      "utf-16": (t: string) => t.length,
      "utf-32": (t: string) => [...t].length,
    };
    const property = fc.asyncProperty(text, text, text, text, async (before, old, after, replacement) => {
      for (const [encoding, count] of Object.entries(counts)) {
        const edits = [edit([1, count(before)], [1, count(before + old)], replacement)];
        const [result] = await apply(nvim, `1\n${before}${old}${after}\n3`, edits, encoding);
        assert.equal(result, `1\n${before}${replacement}${after}\n3`);
      }
    });
    await fc.assert(property, { numRuns: 60 });
  }));
