/** Files that describe modes: as they are written for other agents, and what they may not do. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { MODE_FACTS, OwnMode } from "../../protocol/modes.ts";
import { readModeFile } from "./mode_file.ts";

const options = { known: ["gpt-5", "big"], isUsers: false };

function file(settings: string, body = "Be brief."): string {
  return `---\n${settings}\n---\n\n${body}\n`;
}

Deno.test("an agent of Claude Code's", () => {
  const text = file(
    "name: security-reviewer\n" +
      'description: Use this agent when code changes. Examples: <example>user: "look"</example>\n' +
      "tools: Read, Grep, Bash(git log:*)\nmodel: sonnet\ncolor: red",
    "You look for holes.\n\nBe strict.",
  );
  assert.deepEqual(readModeFile(text, "x", options), {
    name: "security-reviewer",
    description: 'Use this agent when code changes. Examples: <example>user: "look"</example>',
    access: "read",
    base: "ask",
    tools: ["read", "search", "execute"],
    text: "You look for holes.\n\nBe strict.",
  });
});

Deno.test("an agent of opencode's", () => {
  const text = file(
    "description: >-\n  Reviews code\n  for quality\nmode: subagent\nmodel: openai/gpt-5\ntemperature: 0.1\n" +
      "tools:\n  write: false\n  edit: false\n  bash: true\npermission:\n  bash:\n    \"*\": ask\n    'git diff': allow",
  );
  assert.deepEqual(readModeFile(text, "Review-Docs", options), {
    name: "review-docs",
    description: "Reviews code for quality",
    access: "read",
    base: "ask",
    tools: ["!edit", "!edit"],
    model: "gpt-5",
    text: "Be brief.",
  });
});

Deno.test("a mode's access is that of what it is based on, and read where it names none", () => {
  const access = (settings: string) => readModeFile(file(settings), "own", options).access;
  assert.equal(access("tools: Write, Edit, Bash"), "read");
  assert.equal(access("mode: plan\naccess: write\npermissionMode: bypassPermissions"), "read");
  assert.equal(access("mode: deep-explore-write"), "docs");
  assert.equal(access("mode: agent"), "write");
});

Deno.test("a project's model is one that the user knows", () => {
  const model = (name: string, isUsers: boolean) =>
    readModeFile(file(`model: ${name}`), "own", { ...options, isUsers }).model;
  assert.equal(model("expensive", false), undefined);
  assert.equal(model("expensive", true), "expensive");
  assert.equal(model("big", false), "big");
  assert.equal(model("inherit", true), undefined);
});

Deno.test("lists in every way in which they are written", () => {
  const tools = (settings: string) => readModeFile(file(settings), "own", options).tools;
  for (
    const written of [
      "tools: read, think",
      "tools: [read, 'think']",
      "tools:\n  - read\n  - think",
      "tools:\n- read\n- think",
    ]
  ) {
    assert.deepEqual(tools(written), ["read", "think"], written);
  }
  assert.equal(tools("description: x"), undefined);
  assert.equal(tools("tools:"), undefined);
  assert.deepEqual([tools("tools: none"), tools("tools: []")], [[], []]);
  assert.deepEqual(tools("tools: constructor, __proto__"), ["constructor", "__proto__"]);
  assert.deepEqual(tools('tools: "*"\ndisallowedTools: Write'), ["!edit"]);
});

Deno.test("a long file is read in time in proportion", async () => {
  await assertEachLinear([",", "(", "- ", "a: ", '"', "\n"], (long, size) => {
    const text = long.repeat(size / long.length);
    return () => {
      for (
        const written of [
          file(`tools: ${text}`),
          file(`description: ${text}`),
          `---\n${text}`,
          file("", text),
        ]
      ) {
        try {
          readModeFile(written, "own", options);
        } catch (error) {
          assert.ok(error instanceof Error);
        }
      }
    };
  }, 16 * 1024);
});

Deno.test("what is wrong is said in one line", () => {
  const problem = (text: string, name = "own") => {
    try {
      return readModeFile(text, name, options).name;
    } catch (error) {
      return error instanceof Error ? error.message : "";
    }
  };
  assert.match(problem("Be brief."), /does not begin with settings/);
  assert.match(problem(file("name: plan")), /plan is the name of a built-in mode/);
  assert.match(problem(file("mode: yolo")), /yolo is not a mode/);
  assert.match(problem(file("mode: auto")), /auto is not a mode/);
  assert.match(problem(file("nonsense here")), /line 2 is no setting: nonsense here/);
  assert.match(problem(file("description: x"), "../../etc"), /its name must be/);
});

const word = fc.constantFrom(
  "agent",
  "plan",
  "ask",
  "auto",
  "read, Write",
  "[a, 'b']",
  "|",
  "- x",
  "true",
  "__proto__",
  '"a\\"',
  "x".repeat(90),
);
const key = fc.constantFrom(
  "name",
  "mode",
  "tools",
  "model",
  "description",
  "disallowedTools",
  "access",
  "  write",
  "- y",
  "constructor",
);
const settings = fc.array(
  fc.oneof(fc.tuple(key, word).map(([key, value]) => `${key}: ${value}`), fc.string()),
  { maxLength: 8 },
);

Deno.test("whatever a file says, it is a mode within its base, or a line that says why it is none", () => {
  fc.assert(fc.property(settings, fc.string(), fc.string(), fc.boolean(), (lines, body, name, isUsers) => {
    let mode;
    try {
      mode = readModeFile(file(lines.join("\n"), body), name, { known: ["gpt-5"], isUsers });
    } catch (error) {
      assert.ok(error instanceof Error && !error.message.includes("\n"));
      return;
    }
    assert.deepEqual(OwnMode.parse(JSON.parse(JSON.stringify(mode))), mode);
    assert.equal(mode.access, MODE_FACTS.find((one) => one.name === mode.base)?.access);
    assert.ok(!MODE_FACTS.some((one) => one.name === mode.name) && mode.base !== "auto");
    if (!isUsers) assert.ok(mode.model === undefined || mode.model === "gpt-5");
  }));
});
