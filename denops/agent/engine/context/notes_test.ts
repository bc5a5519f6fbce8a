import assert from "node:assert/strict";
import { answered, asked } from "../../../../tests/support/entries.ts";
import { type Note, notesText, preferencesIn, superfluous } from "./notes.ts";

Deno.test("preferences are sentences that begin as such, in the user's words", () => {
  const said = (text: string) => preferencesIn([{ type: "text", text }]);
  assert.deepEqual(said("Fix it. Always run the linter first! Please never touch dist/."), [
    "Always run the linter first!",
    "Please never touch dist/.",
  ]);
  assert.deepEqual(said("I'd prefer tabs\nFrom now on, answer in German."), [
    "I'd prefer tabs",
    "From now on, answer in German.",
  ]);
  for (
    const text of [
      "Why does it always fail?",
      "It never works.",
      "Never?",
      "```\nalways()\n```",
      "> Always quoted",
      `Always ${"x".repeat(200)}`,
    ]
  ) assert.deepEqual(said(text), [], text);
});

Deno.test("only what the messages do not show is told, the newest first, in a few hundred characters", () => {
  const notes = new Map<string, Note>([
    ["src/a.ts", { kind: "written", at: 1 }],
    ["src/b.ts", { kind: "written", at: 2 }],
    ["src/c.ts", { kind: "read", at: 3 }],
    ["Always lint.", { kind: "said", at: 4 }],
    ["run npm test: exit code 1", { kind: "failed", at: 5 }],
  ]);
  assert.equal(
    notesText(notes, [asked("Go on"), answered("I see src/c.ts.")]),
    'Earlier in this session, not shown above any more: the user said "Always lint."; ' +
      "you wrote src/b.ts, src/a.ts; what failed run npm test: exit code 1",
  );
  assert.equal(notesText(notes, [asked([...notes.keys()].join("\n"))]), undefined);
  const many = new Map([...Array(300).keys()].map((at): [string, Note] => [
    `${"deep/".repeat(20)}${at}.ts`,
    { kind: at % 2 === 0 ? "written" : "read", at },
  ]));
  assert.ok((notesText(many, [])?.length ?? 0) < 900);
  const left = superfluous(many);
  assert.equal(left.length, 200);
  assert.equal(left.filter((text) => many.get(text)?.kind === "read").length, 150);
});
