import assert from "node:assert/strict";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { conditionsOf, fitted, importsOf } from "./rules.ts";

Deno.test("imports are paths after an @ outside of code, each once", () => {
  const text = [
    "See @docs/style.md, @./build.md. And (@../shared/rules.md); again @docs/style.md",
    "`@in/code.md` me@example.com @@x",
    "```sh",
    "npm i @scope/package",
    "```",
    "- @README",
  ].join("\n");
  assert.deepEqual(importsOf(text), ["docs/style.md", "./build.md", "../shared/rules.md", "README"]);
});

Deno.test("code that is not closed goes on to the end", () => {
  assert.deepEqual(importsOf("@a.md\n```\n@b.md\n"), ["a.md"]);
});

Deno.test("applyTo is a line of globs, quoted or not, or a list", () => {
  const read = (matter: string) => conditionsOf("copilot", `---\n${matter}\n---\nUse tabs.\n`);
  for (
    const [matter, globs] of [
      ['applyTo: "**/*.cs,**/*.csproj"', ["**/*.cs", "**/*.csproj"]],
      ["description: x\napplyTo: **/*.{ts,tsx}, docs/**", ["**/*.{ts,tsx}", "docs/**"]],
      ["applyTo:\n  - src/**\n  - 'a b/*'\nname: x", ["src/**", "a b/*"]],
      ["applyTo: ['*.md', \"*.txt\"]", ["*.md", "*.txt"]],
      ["description: by hand", []],
    ] as const
  ) assert.deepEqual(read(matter), { isGeneral: false, globs, text: "Use tabs." }, matter);
  assert.deepEqual(conditionsOf("copilot", "Use tabs.\n---\napplyTo: x\n---\n").globs, []);
  assert.ok(read('applyTo: "**"').isGeneral);
});

Deno.test("rules of Cursor are for all files, for some, for those who read their description, or by hand", () => {
  const read = (matter: string) => conditionsOf("cursor", `---\n${matter}\n---\nUse tabs.\n`);
  const text = "Use tabs.";
  const rows = [
    ["description:\nglobs:\nalwaysApply: true", { isGeneral: true, globs: [], text }],
    ["globs: *.ts,src/**/*.{js,jsx}\nalwaysApply: false", {
      isGeneral: false,
      globs: ["**/*.ts", "src/**/*.{js,jsx}"],
      text,
    }],
    ["description: How  migrations: work\nalwaysApply: false", {
      isGeneral: false,
      globs: [],
      description: "How migrations: work",
      text,
    }],
    ["alwaysApply: false", { isGeneral: false, globs: [], text }],
  ] as const;
  for (const [matter, found] of rows) assert.deepEqual(read(matter), found, matter);
  assert.deepEqual(conditionsOf("cursor", text), { isGeneral: false, globs: [], text });
});

Deno.test("rules of Claude are for all files unless they name paths", () => {
  const text = "Use tabs.\n";
  assert.deepEqual(conditionsOf("claude", text), { isGeneral: true, globs: [], text });
  const paths = '---\npaths:\n  - "src/**/*.ts"\n  - lib/*\n---\nUse tabs.';
  assert.deepEqual(conditionsOf("claude", paths), {
    isGeneral: false,
    globs: ["src/**/*.ts", "lib/*"],
    text: "Use tabs.",
  });
});

Deno.test("a hostile file of rules costs time in proportion to its length", async () => {
  const rows = [
    ["an import that never ends", (size: number) => `@a${"-".repeat(size)}a`],
    ["open braces", (size: number) => `---\nglobs: ${"{".repeat(size)}\n---\n`],
    ["fences", (size: number) => "```\n".repeat(size / 4) + "~~~"],
    ["lines of settings", (size: number) => `---\n${"a: [\n".repeat(size / 5)}---\n`],
    ["spaces", (size: number) => `---${" ".repeat(size)}\n---${" ".repeat(size)}x`],
    ["backticks", (size: number) => "`a".repeat(size / 2)],
  ] as const;
  await assertEachLinear(rows.map(([name]) => name), (name, size) => {
    const text = rows.find(([one]) => one === name)?.[1](size) ?? "";
    return () => [importsOf(text), conditionsOf("cursor", text)];
  }, 8_000);
});

Deno.test("what does not fit is cut after a whole line, and says so", () => {
  assert.deepEqual(fitted("AGENTS.md", "a\nb\n", 4), { path: "AGENTS.md", text: "a\nb\n", bytes: 4 });
  const cut = fitted("AGENTS.md", "one\nzwei ü\nthree\n", 10);
  assert.deepEqual(cut, {
    path: "AGENTS.md",
    text: "one\n[cut: the file has 18 bytes; read the rest]",
    bytes: 18,
  });
});
