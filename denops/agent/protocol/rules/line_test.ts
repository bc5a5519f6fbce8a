import assert from "node:assert/strict";
import { withLine } from "./line.ts";

Deno.test("a line goes on with the list at the end, or begins one; line endings stay", () => {
  assert.equal(withLine("", " Use\n tabs "), "- Use tabs\n");
  assert.equal(withLine("# Rules\n\n- One\n\n", "Two"), "# Rules\n\n- One\n- Two\n");
  assert.equal(withLine("# Rules\r\nText.", "Two"), "# Rules\r\nText.\r\n\r\n- Two\r\n");
});
