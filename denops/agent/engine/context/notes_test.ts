import assert from "node:assert/strict";
import { answered, asked, result } from "../../../../tests/support/entries.ts";
import { definitionNote, type Note, notesText, preferencesIn, superfluous } from "./notes.ts";

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

Deno.test("definitions that were looked up are told once no message shows the call's result; the newest 30 are kept", () => {
  const note = (at: number): [string, Note] => [
    definitionNote(`name${at}`, "src/a.ts", at),
    { kind: "definition", at, call: `c${at}` },
  ];
  const notes = new Map([note(1), note(2), note(3)]);
  const log = [1, 2].flatMap((at) => [
    answered("", [{ id: `c${at}`, name: "symbols", arguments: "{}" }]),
    result(`c${at}`, "symbols", "1 definition of …"),
  ]);
  assert.equal(
    notesText(notes, log, new Map([["c2", "[masked]"]])),
    "Earlier in this session, not shown above any more: you looked up name3 src/a.ts:3, name2 src/a.ts:2",
  );
  const many = new Map(Array.from({ length: 40 }, (_, at) => note(at)));
  assert.deepEqual(superfluous(many), Array.from({ length: 10 }, (_, at) => note(at)[0]));
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
