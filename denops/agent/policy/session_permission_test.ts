/** What the user loosens or tightens: never more than that, whatever an engine asks for. */
import assert from "node:assert/strict";
import fc from "fast-check";
import lists from "./defaults.json" with { type: "json" };
import { type Access, type FileAccess, SESSION_PERMISSIONS } from "../protocol/access.ts";
import { COMMAND_ACCESSES, hasNetwork, levelOf } from "../protocol/commands.ts";
import { FileRules } from "../protocol/config.ts";
import { type Circumstances, decide } from "./decide.ts";
import { decideFiles } from "./decide_files.ts";
import { parseRule, RULE_VERDICTS } from "./rules.ts";
import { UNASKED } from "./session_permission.ts";

const FILES: FileRules = {
  ...FileRules.parse(lists),
  // The user's own entry has no reason.
  safe_to_write: [...FileRules.parse(lists).safe_to_write, { glob: "own/**", safe: false }],
  read_rules: { deny: ["closed/**"], ask: ["private/**"] },
};

const BASE: Circumstances = {
  rules: [],
  sandboxed: true,
  commands: "look",
  rehearses: false,
  places: { root: "/p", home: "/home/me" },
  hidesHistory: false,
  cannotHide: undefined,
  permission: "default",
  isTainted: false,
  foreign: undefined,
  tools: [],
  files: FILES,
  reason: "the engine asks",
};

const LINES = [
  ...["ls", "npm test", "make", "rm -rf build", "echo x > a.txt", "cat .env", "sudo make", "rm -rf ~"],
  ...[
    "git commit -m x",
    "git push",
    "git config core.pager x",
    "echo x > .git/config",
    "curl http://a.example",
  ],
  ...["ls $(cat x)", "a-program-nobody-knows", "cat > .git/hooks/pre-commit", "node -e 'x'", "git status"],
];

const LOOSE = SESSION_PERMISSIONS.filter((one) => one !== "ask" && one !== "default");

const loose = fc.constantFrom(...LOOSE);
const line = fc.record({
  kind: fc.constant("command" as const),
  command: fc.array(fc.constantFrom(...LINES), { minLength: 1, maxLength: 3 }).map((all) => all.join(" && ")),
  cwd: fc.constant("/p"),
  timeout: fc.constant(60),
  background: fc.boolean(),
  direct: fc.boolean(),
}).chain((command) =>
  fc.option(fc.constantFrom(...COMMAND_ACCESSES), { nil: undefined })
    .map((access): Access => access === undefined ? command : { ...command, access })
);
const rule = fc.tuple(
  fc.constantFrom(...RULE_VERDICTS),
  fc.constantFrom("run(npm *)", "run(rm *)", "run(*)", "git(git *)", "network(curl *)", "run(ls)"),
).map(([verdict, text]) => parseRule(text, verdict, "user"));
const at: fc.Arbitrary<Circumstances> = fc.record({
  rules: fc.array(rule, { maxLength: 3 }),
  sandboxed: fc.boolean(),
  commands: fc.constantFrom("look", "ask", "project"),
  rehearses: fc.boolean(),
  hidesHistory: fc.boolean(),
  cannotHide: fc.constantFrom(undefined, undefined, "too many"),
  isTainted: fc.boolean(),
}).map((more) => ({ ...BASE, ...more }));

Deno.test("a loosened session runs no command that has no sandbox, reaches git or the network, or a rule asks about", () => {
  fc.assert(
    fc.property(line, at, loose, (access, base, permission) => {
      if (access.kind !== "command") return;
      const [before, after] = [decide(access, base), decide(access, { ...base, permission })];
      assert.deepEqual([after.requestedAccess, after.always], [before.requestedAccess, before.always]);
      if (after.decision.verdict === before.decision.verdict) return;
      assert.equal(before.decision.verdict, "ask");
      assert.deepEqual(after.decision, { verdict: "allow", rule: UNASKED.commands });
      assert.notEqual(permission, "sensitive");
      assert.ok(base.sandboxed && !base.isTainted && base.cannotHide === undefined);
      assert.ok(!before.always, "nobody may answer for the user");
      assert.notEqual(levelOf(after.requestedAccess), "git");
      const unruled = (kind: string) =>
        !base.rules.some((one) => one.kind === kind && one.verdict === "allow");
      assert.ok(!hasNetwork(after.requestedAccess) || !unruled("network"));
      assert.doesNotMatch(before.decision.rule, /\(/, "an explicit rule");
      // It runs exactly as it would after an approval, and its changes are reviewed.
      assert.equal(after.access, before.requestedAccess);
      assert.equal(after.rehearsed, before.rehearsed);
      assert.equal(after.agreed, false);
    }),
    { numRuns: 2_000 },
  );
});

const NAMES = [
  ...[
    "src/a.ts",
    ".env.example",
    ".envrc",
    ".github/workflows/ci.yml",
    "AGENTS.md",
    "package.json",
    ".vscode/x",
  ],
  ...[".git/config", ".GIT/hooks/a", "sub/.git", ".gitattributes", ".gitmodules", ".husky/x", "lefthook.yml"],
  ...[
    ".vscode/.gitattributes",
    "node_modules/x/.husky/pre-commit",
    ".husky/build.rs",
    ".idea/.lintstagedrc.js",
  ],
  ...[".env", "a.pem", ".npmrc", ".ssh/config", "closed/.envrc", "private/.envrc", "own/.envrc", "own/a.ts"],
  ...["../x/.envrc", "/etc/.envrc", "a/../../.envrc", "C:/.envrc"],
];
const FREE = new Set(NAMES.slice(0, 7));

const name = fc.constantFrom(...NAMES);
const written = fc.record({
  access: fc.constantFrom("write", "write", "read", "list"),
  relative: name,
  named: fc.option(name, { nil: undefined }),
  risk: fc.constantFrom(undefined, undefined, "it has other names"),
}).map(({ access, relative, named = relative, risk }): FileAccess => ({
  access,
  path: { path: `/p/${relative}`, link: `/p/${named}`, relative, named, exists: true },
  ...(risk === undefined ? {} : { risk }),
}));

/** Without the reason why the session's permission does not cover it. */
function withoutNote(judgement: ReturnType<typeof decide> | undefined) {
  if (judgement?.decision.verdict !== "ask") return judgement;
  const reason = judgement.decision.reason.replace(/; unasked sensitive files leave .* out: .*$/, "");
  return { ...judgement, decision: { ...judgement.decision, reason } };
}

Deno.test("a write that asks although sensitive files are unasked says why", () => {
  const reasonOf = (permission: Circumstances["permission"], ...names: readonly string[]) => {
    const files = names.map((name): FileAccess => ({ access: "write", path: pathOf(name) }));
    const { decision } = decide({ kind: "file", files }, { ...BASE, permission });
    return decision.verdict === "ask" ? decision.reason : decision.verdict;
  };
  const why = "the engine asks; unasked sensitive files leave it out: ";
  assert.equal(reasonOf("sensitive", ".env"), `${why}it may not be read freely`);
  assert.equal(reasonOf("both", ".git/config"), `${why}it is git's own file`);
  assert.equal(reasonOf("sensitive", ".husky/x"), `${why}git obeys it`);
  assert.equal(reasonOf("sensitive", "own/a.ts"), `${why}your option files.safe_to_write lists it`);
  assert.equal(reasonOf("sensitive", "../x/.envrc"), `${why}it is outside of the project`);
  assert.equal(
    reasonOf("sensitive", ".envrc", ".env"),
    `${why.replace(" it ", " .env ")}it may not be read freely`,
  );
  assert.equal(reasonOf("sensitive", ".envrc"), "allow");
  assert.equal(reasonOf("default", ".env"), "the engine asks");
  assert.equal(reasonOf("commands", ".env"), "the engine asks");
});

Deno.test("a loosened session writes no file of git's, none that is unreadable, elsewhere or the user's own exception", () => {
  const files = fc.array(written, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(files, fc.boolean(), loose, (files, isTainted, permission) => {
      const access: Access = { kind: "file", files };
      const [before, after] = ["default" as const, permission].map((permission) =>
        decide(access, { ...BASE, permission, isTainted })
      );
      if (after?.decision.verdict !== "allow") return assert.deepEqual(withoutNote(after), before);
      assert.equal(after.decision.rule, UNASKED.sensitive);
      assert.ok(!isTainted && permission !== "commands");
      for (const { access, path, risk } of files) {
        if (access !== "write") continue;
        assert.equal(risk, undefined);
        assert.ok(FREE.has(path.relative) && FREE.has(path.named), path.named);
      }
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("an explicit rule is stronger than what the session may do unasked", () => {
  const access: Access = { kind: "file", files: [{ access: "write", path: pathOf(".envrc") }] };
  const verdict = (...rules: Circumstances["rules"]) =>
    decide(access, { ...BASE, permission: "both", rules }).decision.verdict;
  assert.equal(verdict(), "allow");
  assert.equal(verdict(parseRule("write(.envrc)", "ask", "user")), "ask");
  assert.equal(verdict(parseRule("write(.envrc)", "deny", "user")), "deny");
});

Deno.test("other kinds of access are as before in a loosened session", () => {
  const others: readonly Access[] = [
    { kind: "fetch", url: "https://a.example" },
    { kind: "search_web", engine: "exa", query: "x" },
    { kind: "mcp", server: "a", tool: "b" },
    { kind: "agent", name: "codex", task: "x" },
    { kind: "ask", about: "server", text: "x" },
    { kind: "effects", terminal: "1" },
    { kind: "nothing" },
  ];
  for (const access of others) {
    for (const permission of LOOSE) {
      assert.deepEqual(decide(access, { ...BASE, permission }), decide(access, BASE), access.kind);
    }
  }
});

Deno.test("a session that asks about everything allows no command and no write, whatever the rules say", () => {
  const rules = ["run(*)", "git(*)", "network(*)", "write(**)", "fetch(*)", "mcp(*/*)"]
    .map((text) => parseRule(text, "allow", "user"));
  fc.assert(
    fc.property(line, at, (access, base) => {
      const { decision, always } = decide(access, {
        ...base,
        permission: "ask",
        rules: [...base.rules, ...rules],
      });
      assert.notEqual(decision.verdict, "allow");
      assert.ok(decision.verdict === "deny" || always, "nothing that was approved before answers");
    }),
    { numRuns: 500 },
  );
  const asks = { ...BASE, permission: "ask" as const, rules };
  const verdict = (access: Access) => decide(access, asks).decision.verdict;
  assert.equal(verdict({ kind: "file", files: [{ access: "write", path: pathOf("src/a.ts") }] }), "ask");
  assert.equal(verdict({ kind: "fetch", url: "https://a.example/" }), "ask");
  assert.equal(verdict({ kind: "mcp", server: "a", tool: "b" }), "ask");
  assert.equal(verdict({ kind: "agent", name: "explore", task: "x", access: "read" }), "allow");
});

Deno.test("the engine then asks about each write, also about one that was allowed for the session, and reads freely", () => {
  const asks = { ...FILES, asks_writes: true };
  const write: FileAccess = { access: "write", path: pathOf("src/a.ts") };
  const allowed = new Set(["write:/p/src/a.ts"]);
  assert.equal(decideFiles([write], FILES, allowed).verdict, "allow");
  assert.equal(decideFiles([write], asks, allowed).verdict, "ask");
  assert.equal(decideFiles([{ ...write, access: "read" }], asks, new Set()).verdict, "allow");
  assert.equal(decideFiles([{ ...write, path: pathOf("closed/a") }], asks, allowed).verdict, "ask");
});

Deno.test("a rule on a tool asks or denies under each name of the tool, and nothing allows a tool", () => {
  const access: Access = { kind: "file", files: [{ access: "write", path: pathOf("src/a.ts") }] };
  const allow = parseRule("write(src/**)", "allow", "user");
  const given = (verdict: "ask" | "deny", tools: readonly string[], text = "tool(rename_symbol)") =>
    decide(access, { ...BASE, tools, rules: [allow, parseRule(text, verdict, "user")] }).decision;
  assert.equal(given("ask", ["refactor", "code_action"]).verdict, "allow");
  assert.deepEqual(given("ask", ["refactor", "rename_symbol"]), {
    verdict: "ask",
    rule: "tool(rename_symbol)",
    reason: "rule tool(rename_symbol) asks",
  });
  assert.equal(given("deny", ["refactor", "rename_symbol"]).verdict, "deny");
  assert.equal(given("deny", ["refactor"], "tool(re*)").verdict, "deny");
  assert.throws(() => parseRule("tool(edit)", "allow", "user"), {
    message: "Not a rule: tool(edit). Tools can be in ask and deny only. " +
      "Allow what it touches, such as write(src/**).",
  });
  assert.throws(() => parseRule("tool(two words)", "ask", "user"), /must be a tool's name/);
});

function pathOf(relative: string) {
  return { path: `/p/${relative}`, link: `/p/${relative}`, relative, named: relative, exists: true };
}
