/** A session that has read foreign text: no rule and no option lets the network or a sensitive write pass. */
import assert from "node:assert/strict";
import fc from "fast-check";
import lists from "./defaults.json" with { type: "json" };
import type { Access, FileAccess } from "../protocol/access.ts";
import { COMMAND_ACCESSES, hasNetwork, levelOf } from "../protocol/commands.ts";
import { FileRules } from "../protocol/config.ts";
import { type Circumstances, decide } from "./decide.ts";
import { decideEffects, judgeEffect, rulesOnChanges } from "./decide_effects.ts";
import { decideFiles } from "./decide_files.ts";
import { mayWrite } from "./file_access.ts";
import { foreignReason, foreignSource } from "./foreign.ts";
import { parseRule, type Rule, RULE_VERDICTS } from "./rules.ts";

const FILES = FileRules.parse(lists);

const BASE: Circumstances = {
  rules: [],
  sandboxed: true,
  commands: "project",
  rehearses: true,
  places: { root: "/p", home: "/home/me" },
  hidesHistory: false,
  cannotHide: undefined,
  permission: "default",
  isTainted: true,
  foreign: "mcp",
  tools: [],
  files: FILES,
  reason: "",
};

const allow = (...texts: readonly string[]) => texts.map((text) => parseRule(text, "allow", "user"));
const ALL = allow(
  "run(*)",
  "git(*)",
  "network(*)",
  "write(**)",
  "fetch(*)",
  "search_web(*)",
  "mcp(*/*)",
  "agent(*)",
);

const PATTERNS = [
  ...["host(a.example)", "host(*.example)", "host(registry.npmjs.org)"],
  ...["run(*)", "run(curl *)", "run(npm *)", "git(*)", "git(git push *)", "network(*)", "network(curl *)"],
  ...[
    "write(**)",
    "write(.envrc)",
    "write(package.json)",
    "fetch(*)",
    "fetch(*.com)",
    "mcp(*/*)",
    "agent(*)",
  ],
];
const rules = fc.array(
  fc.tuple(
    fc.constantFrom(...PATTERNS),
    fc.constantFrom("allow" as const, ...RULE_VERDICTS),
    fc.constantFrom("user" as const, "project" as const, "session" as const),
  ).map(([text, verdict, source]) => parseRule(text, verdict, source)),
  { maxLength: 8 },
).map((more): readonly Rule[] => more);

const LINES = [
  ...["ls", "npm test", "curl http://evil.example", "git push", "git commit -m x", "echo x > .envrc", "make"],
  ...["cat .env", "node -e 'fetch(1)'", "ls $(curl evil)", "npm install", "sudo ls", "git status"],
];
const command = fc.record({
  kind: fc.constant("command" as const),
  command: fc.array(fc.constantFrom(...LINES), { minLength: 1, maxLength: 3 }).map((all) => all.join(" && ")),
  cwd: fc.constant("/p"),
  timeout: fc.constant(60),
  background: fc.boolean(),
  direct: fc.boolean(),
}).chain((line) =>
  fc.option(fc.constantFrom(...COMMAND_ACCESSES), { nil: undefined })
    .map((access): Access => access === undefined ? line : { ...line, access })
);

const circumstances: fc.Arbitrary<Circumstances> = fc.record({
  rules,
  sandboxed: fc.boolean(),
  commands: fc.constantFrom("look", "ask", "project"),
  rehearses: fc.boolean(),
  hidesHistory: fc.boolean(),
  permission: fc.constantFrom("ask", "default", "commands", "sensitive", "both"),
  isTainted: fc.boolean(),
  foreign: fc.constantFrom("mcp", "web", "agent", "session", "unknown"),
  opensHosts: fc.boolean(),
  unsandboxed: fc.constantFrom(undefined, allow("run(*)")),
}).map((more) => ({ ...BASE, ...more }));

Deno.test("no sequence of rules runs a command with the network, or one whose changes nobody reviews", () => {
  fc.assert(
    fc.property(command, circumstances, (access, at) => {
      if (access.kind !== "command") return;
      const { decision, always, suggestion, requestedAccess, ...found } = decide(access, at);
      const ran = decision.verdict === "allow" ? found.access : requestedAccess;
      const isRisky = hasNetwork(ran) || found.hosts.length > 0 ||
        (levelOf(ran) === "write" && !found.rehearsed);
      const before = decide(access, { ...at, foreign: undefined });
      // It only asks more, and about nothing else.
      assert.deepEqual([requestedAccess, found.hosts], [before.requestedAccess, before.hosts]);
      if (before.decision.verdict === "deny") return assert.deepEqual(decision, before.decision);
      if (!isRisky) return assert.deepEqual(decision, before.decision);
      assert.ok(decision.verdict === "ask" && always, "nothing that was allowed before answers");
      assert.equal(suggestion, undefined, "no rule would help");
      // Such a session also asks about a line that would only look.
      if (at.permission === "ask") return;
      assert.ok(decision.reason.endsWith(foreignReason(at.foreign ?? "mcp")), decision.reason);
    }),
    { numRuns: 1_000 },
  );
});

const NAMES = [
  "src/a.ts",
  ".envrc",
  "package.json",
  "AGENTS.md",
  ".github/workflows/ci.yml",
  "node_modules/x/a",
];
const name = fc.constantFrom(...NAMES, ".env", "docs/a.md", ".husky/pre-commit");

function pathOf(relative: string, named = relative) {
  return { path: `/p/${relative}`, link: `/p/${named}`, relative, named, exists: true };
}

const file = fc.record({
  access: fc.constantFrom("write", "write", "read"),
  relative: name,
  named: fc.option(name, { nil: undefined }),
  risk: fc.constantFrom(undefined, undefined, "it has other names"),
  keys: fc.constantFrom(undefined, [], ["version"]),
}).map(({ access, relative, named, risk, keys }): FileAccess => ({
  access,
  path: pathOf(relative, named),
  ...(risk === undefined ? {} : { risk }),
  ...(keys === undefined ? {} : { keys }),
}));

Deno.test("no sequence of rules writes a sensitive file, and the engine's word on its keys does not count", () => {
  fc.assert(
    fc.property(fc.array(file, { minLength: 1, maxLength: 3 }), circumstances, (files, at) => {
      const access: Access = { kind: "file", files };
      const { decision, always, suggestion } = decide(access, at);
      const before = decide(access, { ...at, foreign: undefined }).decision;
      if (before.verdict === "deny") return assert.deepEqual(decision, before);
      const isSensitive = files.some(({ access, path, risk }) =>
        access === "write" && mayWrite(path, FILES.safe_to_write, risk).verdict === "ask"
      );
      if (!isSensitive) return assert.deepEqual(decision, before);
      assert.ok(decision.verdict === "ask" && always);
      assert.equal(suggestion, undefined);
    }),
    { numRuns: 1_000 },
  );
});

const change = fc.constantFrom(...NAMES, ".envrc", "src/b.ts");

Deno.test("no rule keeps a sensitive change of a rehearsed command unasked, also where a rule allowed the command", () => {
  fc.assert(
    fc.property(
      fc.array(change, { minLength: 1, maxLength: 4 }),
      rules,
      fc.record({ agreed: fc.boolean(), byUser: fc.boolean() }),
      fc.constantFrom("look" as const, "ask" as const, "project" as const),
      fc.constantFrom(undefined, "mcp" as const),
      (names, rules, grant, commands, foreign) => {
        const trust = { permission: "default" as const, foreign };
        const all = { rules: rulesOnChanges(rules, trust), safe_to_write: FILES.safe_to_write };
        const parts = names.map((name) => judgeEffect({ relative: name, named: name }, all));
        const decision = decideEffects(parts, grant, commands, trust);
        const kept = names.filter((_, index) => parts[index]?.state === "kept");
        const sensitive = kept.filter((name) =>
          mayWrite(pathOf(name), FILES.safe_to_write).verdict === "ask"
        );
        if (foreign === undefined || decision.verdict !== "allow" || sensitive.length === 0) return;
        // A package manager's own files, after the user's answer for this very run.
        assert.ok(grant.agreed && grant.byUser, sensitive.join(", "));
        assert.ok(parts.every(({ state }) => state !== "left"));
      },
    ),
    { numRuns: 1_000 },
  );
  const packages = judgeEffect(pathOf("node_modules/x/a"), { rules: [], safe_to_write: FILES.safe_to_write });
  const ofRule = { agreed: true, byUser: false };
  const decided = (foreign: Circumstances["foreign"], grant: { agreed: boolean; byUser: boolean } = ofRule) =>
    decideEffects([packages], grant, "look", { permission: "default", foreign });
  assert.equal(decided(undefined).verdict, "allow");
  assert.deepEqual(decided("mcp"), {
    verdict: "ask",
    rule: "asked",
    reason: "this session has read MCP results",
  });
  assert.equal(decided("mcp", { agreed: true, byUser: true }).verdict, "allow");
});

Deno.test("rules on servers and agents still answer, and those on hosts if they name one", () => {
  const verdict = (access: Access, ...texts: readonly string[]) =>
    decide(access, { ...BASE, rules: allow(...texts) }).decision;
  const fetching = { kind: "fetch", url: "https://docs.python.org/x" } as const;
  assert.equal(verdict({ kind: "mcp", server: "a", tool: "b" }, "mcp(a/*)").verdict, "allow");
  assert.equal(verdict({ kind: "agent", name: "codex", task: "x" }, "agent(codex)").verdict, "allow");
  assert.equal(verdict({ kind: "agent", name: "explore", task: "x", access: "read" }).verdict, "allow");
  for (const host of ["docs.python.org", "*.python.org", "docs.python.org:443"]) {
    assert.equal(verdict(fetching, `fetch(${host})`).verdict, "allow", host);
    assert.equal(verdict(fetching, "fetch(*)", `fetch(${host})`).verdict, "allow", host);
  }
  const searching = { kind: "search_web", engine: "brave", query: "x" } as const;
  assert.equal(verdict(searching, "search_web(*)", "search_web(brave)").verdict, "allow");
  assert.equal(verdict(searching, "search_web(*)").verdict, "ask");
  for (const host of ["*", "*:443", "*.org"]) {
    assert.deepEqual(verdict(fetching, `fetch(${host})`), {
      verdict: "ask",
      rule: "foreign text",
      reason: "needs network access; this session has read MCP results",
    });
  }
});

Deno.test("a look without the network needs no answer, although its line asked for the network", () => {
  const at = { ...BASE, rules: ALL };
  const input = { kind: "command", command: "ls", cwd: "/p", timeout: 60, background: false } as const;
  const { decision, access } = decide({ ...input, access: "look+network" }, at);
  assert.deepEqual([decision.verdict, access], ["allow", "look"]);
});

Deno.test("the engine then asks again about sensitive files that were allowed for the session, and only about these", () => {
  const allowed = new Set(["write:/p/.envrc", "read:/p/private"]);
  const again = { ...FILES, asks_again: true, read_rules: { deny: [], ask: ["private"] } };
  const verdict = (access: "read" | "write", name: string, rules: FileRules = again) =>
    decideFiles([{ access, path: pathOf(name) }], rules, allowed).verdict;
  assert.equal(verdict("write", ".envrc", FILES), "allow");
  assert.equal(verdict("write", ".envrc"), "ask");
  assert.equal(verdict("write", "src/a.ts"), "allow");
  assert.equal(verdict("read", "private"), "allow");
});

Deno.test("results of servers, pages and other agents are foreign, those of our sub-agents and of commands are not", () => {
  const sources: readonly (readonly [Access, string | undefined])[] = [
    [{ kind: "mcp", server: "a", tool: "b" }, "mcp"],
    [{ kind: "fetch", url: "https://a.example" }, "web"],
    [{ kind: "search_web", engine: "exa", query: "x" }, "web"],
    [{ kind: "agent", name: "codex", task: "x" }, "agent"],
    [{ kind: "agent", name: "explore", task: "x", access: "read" }, undefined],
    [{ kind: "command", command: "curl x", cwd: "/p", timeout: 1, background: false }, undefined],
    [{ kind: "nothing" }, undefined],
  ];
  for (const [access, source] of sources) assert.equal(foreignSource(access), source, access.kind);
});
