/** The texts of approvals. */
import assert from "node:assert/strict";
import type { Access } from "../../protocol/access.ts";
import { shownAccess } from "./approval_view.ts";

const JUDGEMENT = {
  decision: { verdict: "ask", rule: "asked", reason: "so" },
  always: false,
  suggestion: undefined,
} as const;

Deno.test("an approval shows the whole access, and nothing that hides", () => {
  const shown = (access: Exclude<Access, { kind: "command" | "effects" }>) =>
    shownAccess({ access, reason: "why", force: false }, JUDGEMENT, [], { root: "/p" });
  const other = { kind: "other", reason: "so" } as const;
  const cases = [
    [{ kind: "fetch", url: "https://a.example/\u202ex" }, "https://a.example/<U+202E>x"],
    [{ kind: "search_web", engine: "exa", query: "a\u202ex" }, "exa gets: a<U+202E>x"],
    [{ kind: "mcp", server: "git\nhub", tool: "log" }, "log of the server git hub"],
    [{ kind: "agent", name: "review", task: "look\nat \u200ball" }, "review: look\nat <U+200B>all"],
  ] as const;
  for (const [access, detail] of cases) assert.deepEqual(shown(access), { ...other, detail });
  assert.deepEqual(shown({ kind: "ask", about: "limit", text: "more?" }), { ...other, about: "limit" });
  assert.deepEqual(shown({ kind: "nothing" }), { kind: "file", reason: "so", files: [], left_out: 0 });
});
