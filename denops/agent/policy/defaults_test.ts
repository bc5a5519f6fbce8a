import assert from "node:assert/strict";
import lists from "./defaults.json" with { type: "json" };
import { FileRules } from "../protocol/config.ts";
import { withDefaults } from "./defaults.ts";
import { mayRead, mayWrite } from "./file_access.ts";
import { globProblem, matchesGlob } from "./glob.ts";

const { deny_read, safe_to_write } = FileRules.parse(lists);

function at(relative: string) {
  return { path: `/project/${relative}`, relative, named: relative, exists: true };
}

/** Half a sentence that the approval ends with → files that ask with it. */
const SENSITIVE: Readonly<Record<string, readonly string[]>> = {
  "it may hold secrets": [
    "a.key",
    ".pypirc",
    ".ssh/config",
    "github-copilot/hosts.json",
    ".env",
    "a/.env.local",
    "certs/a.pem",
    "id_ed25519",
    ".netrc",
    ".npmrc",
  ],
  "git obeys it": [".git", ".git/config", "sub/.git", ".gitmodules", "a/.gitattributes"],
  "git runs it automatically": [
    ".pre-commit-config.yaml",
    ".husky/pre-commit",
    ".githooks/pre-push",
    "lefthook.yml",
    ".lefthook-local.yml",
  ],
  "your tools run what is in it": [
    ".yarn/releases/a.cjs",
    "node_modules/typescript/lib/tsserver.js",
    "a/node_modules/.bin/eslint",
    ".venv/bin/python",
    "venv/bin/python",
    "vendor/bundle/ruby/a.rb",
  ],
  "direnv runs it automatically": [
    ".direnv/a",
    ".envrc",
  ],
  "Neovim runs it automatically": [
    ".lazy.lua",
    ".nvimrc",
    ".nvim.lua",
    ".exrc",
  ],
  "agent run takes rules and key commands from it": ["agent.nvim/config.json"],
  "the plugin runs it instead of its modules": ["agent.nvim/denops/agent/dist/engine/main.js"],
  "editors run what it names": [
    "a.code-workspace",
    ".devcontainer.json",
    ".devcontainer/a",
    ".dir-locals.el",
    ".fleet/run.json",
    ".vim/a",
    ".vscode/tasks.json",
    ".idea/a.xml",
    ".zed/settings.json",
  ],
  "agents run what it names": [
    ".gemini/a",
    ".opencode/a",
    "opencode.jsonc",
    ".cursor/rules/a.mdc",
    ".claude/rules/a.md",
    ".claude/settings.json",
    ".cursor/mcp.json",
    ".codex/a",
    ".agents/a",
    ".mcp.json",
  ],
  "agents obey it": [
    ".github/copilot-instructions.md",
    ".github/instructions/a.instructions.md",
    "AGENTS.local.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "a/CLAUDE.md",
    "GEMINI.md",
    ".cursorrules",
  ],
  "CI runs it": [
    ".azure-pipelines/a.yml",
    ".build.yml",
    ".buildkite/pipeline.yml",
    ".builds/a.yml",
    ".cirrus.star",
    ".cirrus.yml",
    ".drone.yml",
    ".github/actions/a/action.yml",
    ".gitlab/ci/a.yml",
    ".semaphore/a.yml",
    ".teamcity/a.kts",
    ".travis.yml",
    ".woodpecker.yml",
    ".woodpecker/a.yaml",
    "azure-pipelines-a.yml",
    "bitbucket-pipelines.yml",
    "cloudbuild.yaml",
    "appveyor.yml",
    ".forgejo/workflows/a.yml",
    ".gitea/workflows/a.yml",
    ".github/workflows/a.yml",
    ".gitlab-ci.yml",
    ".circleci/config.yml",
    "Jenkinsfile",
  ],
  "language servers and formatters run it": [
    ".flake8",
    ".luarc.json",
    ".mvn/jvm.config",
    ".rubocop.yml",
    ".rust-analyzer.toml",
    "rust-analyzer.toml",
    ".solargraph.yml",
    ".stylelintrc.js",
    "stylelint.config.js",
    ".ycm_extra_conf.py",
    ".postcssrc",
    ".graphqlrc.yml",
    "gradle/wrapper/gradle-wrapper.properties",
    ".pylintrc",
    "svelte.config.js",
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
  "package managers run what it names": [
    "bunfig.toml",
    ".yarnrc.yml",
    ".yarnrc",
    ".pnpmfile.cjs",
  ],
  "mise and asdf run what it names": [
    ".config/mise.toml",
    ".config/mise/a",
    ".mise/tasks/a",
    "mise.toml",
    ".mise.local.toml",
    ".tool-versions",
  ],
  "it decides which code is installed": [
    "Gemfile.lock",
    "Pipfile.lock",
    "composer.lock",
    "deno.lock",
    "flake.lock",
    "mix.lock",
    "npm-shrinkwrap.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "uv.lock",
    "yarn.lock",
    "package-lock.json",
    "Cargo.lock",
    "go.sum",
    "bun.lock",
    "bun.lockb",
  ],
  "debuggers run it automatically": [
    ".gdbinit",
    ".lldbinit",
  ],
  "editors and package managers run what it names": [
    "composer.json",
  ],
  "language servers run what it names": [
    "deno.jsonc",
  ],
  "node runs it automatically": [
    ".pnp.cjs",
  ],
  "package managers and language servers run it": [
    "setup.py",
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

Deno.test("every row is a glob, says why, and has an example", async () => {
  const manifests = await Deno.readTextFile(new URL("manifest_test.ts", import.meta.url));
  const examples = [
    ...Object.values(SENSITIVE).flat(),
    ...[...manifests.matchAll(/"([^"\s]+)"/g)].map(([, name = ""]) => name),
  ];
  for (const { glob, safe, reason } of safe_to_write) {
    assert.equal(globProblem(glob), undefined, glob);
    assert.ok(examples.some((name) => matchesGlob(glob, name)), `${glob} has no example`);
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
  assert.deepEqual(withDefaults({ model: "a" }), { model: "a", safe_to_write });
  const own = { glob: "**/*.lock", safe: true };
  assert.deepEqual(withDefaults({ deny_read: [], safe_to_write: [own] }), {
    deny_read: [],
    safe_to_write: [...safe_to_write, own],
  });
  assert.deepEqual(withDefaults({ safe_to_write: "all" }), { safe_to_write: "all" });
  for (const none of [undefined, null, 1, [1]]) assert.equal(withDefaults(none), none);
});
