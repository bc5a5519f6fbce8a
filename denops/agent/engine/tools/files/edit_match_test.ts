import assert from "node:assert/strict";
import fc from "fast-check";
import { runs } from "../../../../../tests/support/runs.ts";
import { ToolError } from "../../../shared/errors.ts";
import { applyEdits } from "./edit_match.ts";
import { EDIT_CASES } from "../../../../../tests/support/edit_match_cases.ts";

for (const { what, text, edits, after } of EDIT_CASES) {
  Deno.test(`edit: ${what}`, () => {
    const apply = () => applyEdits(text, edits, "src/x.ts");
    if (typeof after === "string") return assert.equal(apply(), after);
    assert.throws(apply, (error) => {
      assert.ok(error instanceof ToolError);
      assert.match(error.message, after);
      return true;
    });
  });
}

Deno.test("every case has its own name", () => {
  assert.equal(new Set(EDIT_CASES.map(({ what }) => what)).size, EDIT_CASES.length);
});

const line = fc.constantFrom("", "a", "b", "  a", "\tb", "a ", "foo(a);", "}", "$&", "ü😀");
const lines = fc.array(line, { maxLength: 8 });
const newline = fc.constantFrom("\n", "\r\n", "\r");

Deno.test("a place that is there once is replaced, and nothing else changes", () => {
  fc.assert(
    fc.property(
      lines,
      lines,
      fc.string(),
      fc.string({ minLength: 1 }),
      newline,
      (before, rest, replacement, old, ending) => {
        const [head, tail] = [before.join(ending), rest.join(ending)];
        const text = head + old + tail;
        fc.pre(
          text.indexOf(old) === head.length && text.indexOf(old, head.length + 1) === -1 &&
            old !== replacement,
        );
        fc.pre(!/[\r\n]/.test(replacement));
        assert.equal(
          applyEdits(text, [{ old_str: old, new_str: replacement }], "x"),
          head + replacement + tail,
        );
      },
    ),
  );
});

Deno.test("an edit and its reverse give the text as it was", () => {
  fc.assert(fc.property(lines, lines, newline, (before, rest, ending) => {
    const text = [...before, "const needle = 1;", ...rest].join(ending);
    const there = [{ old_str: "const needle = 1;", new_str: "let other = 2;\nlet third = 3;" }];
    const back = there.map(({ old_str, new_str }) => ({ old_str: new_str, new_str: old_str }));
    assert.equal(applyEdits(applyEdits(text, there, "x"), back, "x"), text);
  }));
});

Deno.test("a file keeps the line endings that it has alone", () => {
  fc.assert(fc.property(lines, lines, lines, newline, (before, rest, inserted, ending) => {
    const text = [...before, "needle", ...rest, ""].join(ending);
    const after = applyEdits(text, [{ old_str: "needle", new_str: ["x", ...inserted].join("\n") }], "x");
    assert.equal(after, [...before, "x", ...inserted, ...rest, ""].join(ending));
  }));
});

Deno.test("any edit gives a text or one of our errors", () => {
  const text = fc.oneof(
    fc.string(),
    lines.map((all) => all.join("\n")),
    lines.map((all) => all.join("\r\n")),
  );
  fc.assert(
    fc.property(text, text, text, fc.boolean(), (before, old_str, new_str, replace_all) => {
      try {
        assert.equal(typeof applyEdits(before, [{ old_str, new_str, replace_all }], "x"), "string");
      } catch (error) {
        assert.ok(error instanceof ToolError, String(error));
      }
    }),
    runs(500),
  );
});
