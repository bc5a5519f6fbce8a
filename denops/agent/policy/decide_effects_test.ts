import assert from "node:assert/strict";
import { decideEffects, judgeEffect } from "./decide_effects.ts";
import { parseRule } from "./rules.ts";

const SAFE = [
  { glob: "**/*", safe: true },
  { glob: "**/.envrc", safe: false, reason: "direnv runs it automatically" },
  { glob: "**/node_modules/**", safe: false, reason: "your tools run what is in it", packages: true },
];

const TRUST = { permission: "default", foreign: undefined } as const;

function judge(name: string, verdict?: "allow" | "ask" | "deny", text = `write(${name})`) {
  const rules = verdict === undefined ? [] : [parseRule(text, verdict, "user")];
  return judgeEffect({ relative: name, named: name }, { rules, safe_to_write: SAFE });
}

Deno.test("each change is judged by the rules on files", () => {
  assert.deepEqual(judge("src/a.ts"), { state: "kept" });
  assert.deepEqual(judge(".envrc"), { state: "left", why: "direnv runs it automatically" });
  assert.deepEqual(judge(".envrc", "allow"), { state: "kept" });
  assert.deepEqual(judge("src/a.ts", "deny"), { state: "refused", why: "denied by rule write(src/a.ts)" });
  assert.deepEqual(judge("src/a.ts", "ask"), { state: "left", why: "rule write(src/a.ts) asks" });
  assert.deepEqual(judge("node_modules/x/i.js"), {
    state: "kept",
    why: "your tools run what is in it",
    packages: true,
  });
});

Deno.test("the question says which changes are sensitive, and whether they are left out", () => {
  const [plain, trap, refused] = [judge("a.ts"), judge(".envrc"), judge("a.ts", "deny")];
  const folder = { ...plain, isFolder: true };
  const reason = (...effects: Parameters<typeof decideEffects>[0]) => {
    const decision = decideEffects(effects, { agreed: true, byUser: true }, "look", TRUST);
    return decision.verdict === "ask" ? decision.reason : "";
  };
  assert.equal(reason(plain, trap), "one change is sensitive and left out unless you choose it");
  assert.equal(reason(plain, trap, trap), "2 changes are sensitive and left out unless you choose them");
  // Nothing else can be approved: the approval has them chosen.
  assert.equal(reason(trap), "the only change is sensitive");
  assert.equal(reason(folder, trap), "the only change is sensitive");
  assert.equal(reason({ ...trap, isFolder: true }, trap), "the only change is sensitive");
  assert.equal(reason(trap, trap), "all 2 changes are sensitive");
  assert.equal(reason(trap, refused), "the only change that can be kept is sensitive");
});

Deno.test("who is asked: nobody where it was agreed to and touches nothing sensitive", () => {
  const [plain, trap, packages, refused] = [
    judge("a.ts"),
    judge(".envrc"),
    judge("node_modules/x"),
    judge("a.ts", "deny"),
  ];
  const verdict = (
    effects: Parameters<typeof decideEffects>[0],
    agreed: boolean,
    commands: "look" | "project",
  ) => decideEffects(effects, { agreed, byUser: false }, commands, TRUST).verdict;
  assert.equal(verdict([plain], false, "look"), "ask");
  assert.equal(verdict([plain], true, "look"), "allow");
  assert.equal(verdict([plain], false, "project"), "allow");
  assert.equal(verdict([plain, packages], true, "look"), "allow", "npm install was agreed to");
  assert.equal(verdict([plain, packages], false, "project"), "ask", "your tools run it");
  assert.equal(verdict([plain, refused], true, "look"), "allow", "it is only told");
  assert.equal(verdict([refused, refused], false, "look"), "allow", "there is nothing to say yes to");
  for (const agreed of [true, false]) {
    for (const commands of ["look", "project"] as const) {
      assert.equal(verdict([plain, trap], agreed, commands), "ask");
    }
  }
});
