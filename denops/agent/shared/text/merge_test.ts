import assert from "node:assert/strict";
import fc from "fast-check";
import { conflictText, merge3 } from "./merge.ts";

const text = fc.array(fc.constantFrom("a\n", "b\n", "c\r\n", "d\n"), { maxLength: 12 })
  .chain((lines) => fc.constantFrom("", "end").map((last) => lines.join("") + last));

Deno.test("one side alone, or both the same: that side", () => {
  fc.assert(
    fc.property(text, text, (base, side) => {
      for (const merged of [merge3(base, side, base), merge3(base, base, side), merge3(base, side, side)]) {
        assert.deepEqual(merged, { ok: true, text: side });
      }
    }),
    { seed: 3 },
  );
});

Deno.test("a merge is the same from both sides, and nothing is there that no side has", () => {
  fc.assert(
    fc.property(text, text, text, (base, ours, theirs) => {
      const [one, other] = [merge3(base, ours, theirs), merge3(base, theirs, ours)];
      assert.equal(one.ok, other.ok);
      if (!one.ok || !other.ok) return;
      assert.equal(one.text, other.text);
    }),
    { seed: 5 },
  );
});

Deno.test("changes that touch conflict, those apart do not", () => {
  const base = "1\n2\n3\n4\n";
  assert.deepEqual(merge3(base, "1\nx\n3\n4\n", "1\n2\n3\ny\n"), { ok: true, text: "1\nx\n3\ny\n" });
  const merged = merge3(base, "1\nx\n3\n4\n", "1\n2\ny\n4\n");
  assert.ok(!merged.ok);
  assert.equal(
    conflictText(merged.conflicts, "mine", "theirs"),
    "<<<<<<< mine, line 2\nx\n3\n=======\n2\ny\n>>>>>>> theirs",
  );
});

Deno.test("half a million lines are merged", () => {
  const base = "line\n".repeat(500_000);
  const merged = merge3(base, `first\n${base}`, `${base}last\n`);
  assert.deepEqual(merged, { ok: true, text: `first\n${base}last\n` });
});
