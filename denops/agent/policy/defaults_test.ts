import assert from "node:assert/strict";
import lists from "./defaults.json" with { type: "json" };
import type { FileRules } from "../protocol/config.ts";
import { withDefaults } from "./defaults.ts";
import { mayRead, mayWrite } from "./file_access.ts";
import { globProblem } from "./glob.ts";

const { deny_read, safe_to_write }: Pick<FileRules, "deny_read" | "safe_to_write"> = lists;

function at(relative: string) {
  return { path: `/project/${relative}`, relative, named: relative, exists: true };
}

/** Half a sentence that the approval ends with → files that ask with it. */
const SENSITIVE: Readonly<Record<string, readonly string[]>> = {
  "it may hold secrets": [".env", "a/.env.local", "certs/a.pem", "id_ed25519", ".netrc", ".npmrc"],
  "git obeys it": [".git", ".git/config", "sub/.git", ".gitmodules", "a/.gitattributes"],
  "git runs it by itself": [".husky/pre-commit", ".githooks/pre-push", "lefthook.yml", ".lefthook-local.yml"],
  "your tools run what is in it": [
    "node_modules/typescript/lib/tsserver.js",
    "a/node_modules/.bin/eslint",
    ".venv/bin/python",
    "venv/bin/python",
    "vendor/bundle/ruby/a.rb",
  ],
  "direnv runs it by itself": [".envrc"],
  "Neovim runs it by itself": [".nvim.lua", ".exrc"],
  "editors run what it names": [".vscode/tasks.json", ".idea/a.xml", ".zed/settings.json"],
  "agents run what it names": [
    ".claude/settings.json",
    ".cursor/mcp.json",
    ".codex/a",
    ".agents/a",
    ".mcp.json",
  ],
  "agents obey it": ["AGENTS.md", "a/CLAUDE.md", "GEMINI.md", ".cursorrules"],
  "CI runs it": [".github/workflows/a.yml", ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile"],
  "language servers and formatters run it": [
    ...[
      "build.rs",
      "a/build.rs",
      ".cargo/config.toml",
      ".cargo/config",
      "rust-toolchain",
      "rust-toolchain.toml",
    ],
    ...["eslint.config.mjs", ".eslintrc", ".eslintrc.json", "prettier.config.js", ".prettierrc.mjs"],
  ],
  "package managers run what it names": [".yarnrc.yml", ".yarnrc", ".pnpmfile.cjs"],
  "mise and asdf run what it names": ["mise.toml", ".mise.local.toml", ".tool-versions"],
  "it decides which code is installed": [
    "package-lock.json",
    "Cargo.lock",
    "go.sum",
    "bun.lock",
    "bun.lockb",
  ],
};

const ORDINARY = [
  "src/main.ts",
  "README.md",
  ".gitignore",
  "agents.ts",
  "config",

  "docs/build.md",
];

Deno.test("each sensitive file asks, and says why", () => {
  for (const [reason, paths] of Object.entries(SENSITIVE)) {
    for (const path of paths) {
      const decision = mayWrite(at(path), safe_to_write);
      assert.deepEqual("reason" in decision && decision.reason, `${path} needs your approval: ${reason}`);
    }
  }
  for (const path of ORDINARY) assert.equal(mayWrite(at(path), safe_to_write).verdict, "allow", path);
});

Deno.test("every row is a glob, and says why", () => {
  for (const { glob, safe, reason } of safe_to_write) {
    assert.equal(globProblem(glob), undefined, glob);
    assert.ok(safe || (reason ?? "") !== "", glob);
  }
  assert.deepEqual(deny_read.filter((glob) => globProblem(glob) !== undefined), []);
});

Deno.test("examples of .env are readable, and nothing else that is one", () => {
  const verdict = (path: string) =>
    mayRead(at(path), { deny_read, read_rules: { deny: [], ask: [] } }).verdict;
  for (const path of [".env.example", "a/.env.sample", ".env.template"]) assert.equal(verdict(path), "allow");
  for (
    const path of [".env", ".env.", ".env.local", ".env.example.local", ".ENV.production", "a/.env.examples"]
  ) {
    assert.equal(verdict(path), "deny", path);
  }
});

Deno.test("a configuration of another client has the same lists", () => {
  assert.deepEqual(withDefaults({ model: "a" }), { model: "a", deny_read, safe_to_write });
  const own = { glob: "**/*.lock", safe: true };
  assert.deepEqual(withDefaults({ deny_read: [], safe_to_write: [own] }), {
    deny_read: [],
    safe_to_write: [...safe_to_write, own],
  });
  assert.deepEqual(withDefaults({ safe_to_write: "all" }), { deny_read, safe_to_write: "all" });
  for (const none of [undefined, null, 1, [1]]) assert.equal(withDefaults(none), none);
});
