import assert from "node:assert/strict";
import type { HookEvent } from "../../protocol/results/hooks.ts";
import { decisionOf, type HookDecision } from "./decision.ts";

const exited = (code: number, stdout = "", stderr = "") =>
  ({ type: "exited", code, stdout, stderr }) as const;
const own = (fields: object) =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", ...fields } });

const PLAYS: readonly (readonly [string, HookEvent, ReturnType<typeof exited>, HookDecision])[] = [
  ["exit 0", "PreToolUse", exited(0, "fine"), {}],
  ["exit 2", "PreToolUse", exited(2, "{}", "No rm.\n"), { decision: "deny", reason: "No rm." }],
  ["exit 2 without a reason", "Stop", exited(2), { decision: "deny", reason: "it gave no reason" }],
  ["exit 2 where nothing can be refused", "SessionStart", exited(2, "", "Oh"), { message: "Oh" }],
  ["exit 1", "PreToolUse", exited(1, "", "a\nb\n"), { failure: "exit code 1: b" }],
  ["a missing program", "PreToolUse", exited(127), { failure: "exit code 127" }],
  [
    "deny",
    "PreToolUse",
    exited(0, own({ permissionDecision: "deny", permissionDecisionReason: "x", updatedInput: {} })),
    {
      decision: "deny",
      reason: "x",
    },
  ],
  ["allow", "PreToolUse", exited(0, own({ permissionDecision: "allow" })), { decision: "allow" }],
  ["defer", "PreToolUse", exited(0, own({ permissionDecision: "defer" })), {}],
  [
    "ask with new input",
    "PreToolUse",
    exited(0, own({ permissionDecision: "ask", updatedInput: { command: "ls" } })),
    {
      decision: "ask",
      input: { command: "ls" },
    },
  ],
  ["the older block", "PreToolUse", exited(0, `{"decision":"block","reason":"old"}`), {
    decision: "deny",
    reason: "old",
  }],
  ["the older approve", "PreToolUse", exited(0, `{"decision":"approve"}`), { decision: "allow" }],
  ["another event's answer", "PostToolUse", exited(0, own({ additionalContext: "x" })), {
    failure: "its output is for PreToolUse",
  }],
  ["feedback", "PostToolUse", exited(0, `{"decision":"block","reason":"lint"}`), {
    decision: "deny",
    reason: "lint",
  }],
  ["plain text", "UserPromptSubmit", exited(0, "Today is Monday.\n"), { context: "Today is Monday." }],
  ["the end of the turn", "PreToolUse", exited(0, `{"continue":false,"stopReason":"enough"}`), {
    stop: "enough",
  }],
  ["a message", "Stop", exited(0, `{"systemMessage":"hello"}`), { message: "hello" }],
  ["broken JSON", "PreToolUse", exited(0, "{"), { failure: "its output is not valid JSON" }],
];

Deno.test("exit codes and printed JSON decide", () => {
  for (const [name, event, end, expected] of PLAYS) assert.deepEqual(decisionOf(event, end), expected, name);
  const wrong = decisionOf("PreToolUse", exited(0, own({ permissionDecision: "yes" })));
  assert.match(wrong.failure ?? "", /not valid/);
  assert.equal(decisionOf("UserPromptSubmit", exited(0, "x".repeat(20_000))).context?.length, 10_010);
});

Deno.test("texts have no escapes and no invisible characters", () => {
  const dirty = "a\u001b[31mb\u202ec\u0007d";
  const printed = own({
    permissionDecision: "ask",
    permissionDecisionReason: dirty,
    additionalContext: dirty,
  });
  assert.deepEqual(decisionOf("PreToolUse", exited(0, printed)), {
    decision: "ask",
    reason: "abcd",
    context: "abcd",
  });
  assert.deepEqual(decisionOf("SessionStart", exited(0, dirty)), { context: "abcd" });
  assert.deepEqual(decisionOf("PreToolUse", exited(2, "", dirty)), { decision: "deny", reason: "abcd" });
  assert.deepEqual(decisionOf("PreToolUse", exited(1, "", dirty)), { failure: "exit code 1: abcd" });
  const told = JSON.stringify({ continue: false, stopReason: dirty, systemMessage: dirty });
  assert.deepEqual(decisionOf("Stop", exited(0, told)), { message: "abcd", stop: "abcd" });
});

Deno.test("Cursor's fields mean the same", () => {
  const json = JSON.stringify({ permission: "deny", user_message: "For you", agent_message: "For it" });
  assert.deepEqual(decisionOf("PreToolUse", exited(0, json), true), {
    decision: "deny",
    reason: "For it",
    message: "For you",
  });
  const refused = decisionOf("UserPromptSubmit", exited(0, `{"continue":false,"user_message":"No"}`), true);
  assert.deepEqual(refused, { decision: "deny", reason: "No", message: "No" });
  const again = decisionOf("Stop", exited(0, `{"followup_message":"Run the tests"}`), true);
  assert.deepEqual(again, { decision: "deny", reason: "Run the tests" });
});
