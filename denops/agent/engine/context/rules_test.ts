import assert from "node:assert/strict";
import { fitted, importsOf, instructionsOf } from "./rules.ts";

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
  const globsOf = (matter: string) => instructionsOf(`---\n${matter}\n---\nUse tabs.\n`);
  for (
    const [matter, globs] of [
      ['applyTo: "**/*.cs,**/*.csproj"', ["**/*.cs", "**/*.csproj"]],
      ["description: x\napplyTo: **/*.{ts,tsx}, docs/**", ["**/*.{ts,tsx}", "docs/**"]],
      ["applyTo:\n  - src/**\n  - 'a b/*'\nname: x", ["src/**", "a b/*"]],
      ["applyTo: ['*.md', \"*.txt\"]", ["*.md", "*.txt"]],
      ["description: by hand", []],
    ] as const
  ) assert.deepEqual(globsOf(matter), { globs, text: "Use tabs.\n" }, matter);
  assert.deepEqual(instructionsOf("Use tabs.\n---\napplyTo: x\n---\n").globs, []);
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
