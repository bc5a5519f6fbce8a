import assert from "node:assert/strict";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { IS_FULL } from "../../../../tests/support/sample.ts";
import {
  type FoundMention,
  mentionsIn,
  promptIn,
  toolMentions,
  toolSetMention,
  toolsNote,
} from "./mentions.ts";

function shortly({ mention }: FoundMention): string {
  switch (mention.kind) {
    case "editor":
      return mention.name;
    case "diff":
      return mention.base === undefined ? "diff" : `diff ${mention.base}`;
    case "session":
      return `session ${mention.word}`.trim();
    case "symbol":
      return `symbol ${mention.name}`;
    case "resource":
      return `${mention.server} has ${mention.uri}`;
    case "path": {
      const { path, lines } = mention.candidates.at(-1) ?? { path: "" };
      return `${path}${lines === undefined ? "" : ` ${lines.first}-${lines.last}`}${
        mention.isSure ? "" : "?"
      }`;
    }
  }
}

const CASES: readonly (readonly [message: string, ...found: readonly string[]])[] = [
  ["look at @src/a.ts", "src/a.ts"],
  ["@src/a.ts, please", "src/a.ts"],
  ["(@src/a.ts).", "src/a.ts"],
  ["@src/a.ts:L10-L20 and @b.ts:7 and @c.ts#L3", "src/a.ts 10-20", "b.ts 7-7", "c.ts 3-3"],
  ["@b.ts:20-10", "b.ts 10-20"],
  ['@"my notes.md"', "my notes.md"],
  ["@src/ and @src", "src/", "src?"],
  ["@app/[id]/page.tsx", "app/[id]/page.tsx"],
  ["@Makefile", "Makefile?"],
  ["see\n@shot.png", "shot.png"],
  [
    "@buffer @buffers @selection @diagnostics, @quickfix @terminal",
    ..."buffer buffers selection diagnostics quickfix terminal".split(" "),
  ],
  ["@image:1", "image:1"],
  ["@diff", "diff"],
  ["@diff main", "diff main"],
  ["@diff:HEAD~2.", "diff HEAD~2"],
  ["@diff, and more", "diff"],
  ["@session", "session"],
  ["@session:parser", "session parser"],
  ["@symbol:Circle.area", "symbol Circle.area"],
  // No mentions.
  ["mail me@example.com"],
  ["\\@src/a.ts"],
  ["`@src/a.ts` and ``a `@b.ts` c``"],
  ["```java\n@src/a.ts\n```\n~~~\n@b.ts\n~~~"],
  ["```\nnever closed @a.ts"],
  ["```"],
  ['@app.route("/")'],
  ["https://x.org/@me/post"],
  ["@https://example.org/a.ts"],
  ["@ x"],
  // Nobody is told that there is no such file.
  ["@Override public void run()", "Override?"],
  ["@types/node", "types/node?"],
  ["@pytest.fixture", "pytest.fixture?"],
  ["one ` tick @a.ts\n\nand ` another", "a.ts"],
];

for (const [message, ...found] of CASES) {
  Deno.test(`mentions in ${JSON.stringify(message)}`, () => {
    assert.deepEqual(mentionsIn(message).map(shortly), found);
  });
}

Deno.test("a sentence's punctuation may belong to a path", () => {
  const [found] = mentionsIn("@notes(1).");
  assert.equal(found, undefined);
  const [other] = mentionsIn("@a/notes(1).");
  assert.ok(other?.mention.kind === "path");
  assert.deepEqual(other.mention.candidates.map(({ path }) => path), [
    "a/notes(1).",
    "a/notes(1)",
    "a/notes(1",
  ]);
});

Deno.test("a set of tools limits the turn in any case and beside any punctuation, but not in code", () => {
  const texts = [
    "#Look",
    "**#look**",
    '"#look"',
    "-#look",
    "(#LOOK)",
    "a,#look.",
    "_*#look*_",
    "/#look",
    "#edits/#look",
  ];
  for (const text of texts) assert.equal(toolSetMention(text), "look", text);
  for (
    const text of ["`#look`", "```\n#look\n```", "a#look", "##look", "&#look;", "\\#look", "# look", "#looks"]
  ) {
    assert.equal(toolSetMention(text), undefined, text);
  }
});

Deno.test("#tool asks for a tool that there is, and nothing else does", () => {
  const names = ["read", "think"];
  const tools = toolMentions("use #think and #read_file.", names);
  assert.equal(toolsNote(tools), "The user asks you to use the tools read, think.");
  const none = toolMentions("issue #12, `#think`, a#think, #thinking, # think", names);
  assert.equal(toolsNote(none), undefined);
  assert.equal(
    toolsNote([], "look"),
    "This turn only reads and searches files, as the user asked with #look: other tools are refused.",
  );
});

Deno.test("a large message of anything is read in time in proportion", async () => {
  await assertEachLinear(["`", "`a ``b ", "@a ", "```\n", "@diff ", '@"a ', "#a ", "."], (piece, size) => {
    const text = `@a${piece.repeat(Math.ceil(size / piece.length))}`;
    return () => mentionsIn(text);
  }, IS_FULL ? 50_000 : 10_000);
});

Deno.test("resources and prompts of MCP servers are mentioned by the server's name", () => {
  const found = (text: string) => mentionsIn(text, ["fs", "a-b"]).map(shortly);
  assert.deepEqual(found("see @fs:file:///a/b.txt, and @a-b:note:1."), [
    "fs has file:///a/b.txt",
    "a-b has note:1",
  ]);
  assert.deepEqual(found('see @"fs:my notes"'), ["fs has my notes"]);
  assert.deepEqual(found("see @other:note @src/a.ts:3 @diff:main"), [
    "other:note?",
    "src/a.ts 3-3",
    "diff main",
  ]);
  const prompt = (text: string) => promptIn(text, ["fs"]);
  assert.deepEqual(prompt("/fs:greet who=Ada now\nand more"), {
    ...{ text: "/fs:greet", server: "fs", name: "greet", words: "who=Ada now" },
  });
  assert.equal(prompt("/other:greet"), undefined);
  assert.equal(prompt("see /fs:greet"), undefined);
});
