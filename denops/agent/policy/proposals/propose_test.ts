import assert from "node:assert/strict";
import fc from "fast-check";
import type { FileRules } from "../../protocol/config.ts";
import type { FileAccess } from "../../protocol/access.ts";
import { judgeCommand } from "../command.ts";
import { withDefaults } from "../defaults.ts";
import type { Circumstances } from "../decide.ts";
import { decide } from "../decide.ts";
import { parseRule, type Rule, ruleText } from "../rules.ts";
import type { LoggedCase } from "./cases.ts";
import { sharedPattern } from "./patterns.ts";
import { type ProposalOptions, proposeRules, type RuleProposal } from "./propose.ts";

const NOW = Date.parse("2026-06-15T12:00:00Z");
const DAY = 24 * 60 * 60 * 1_000;
const ROOT = "/project";

const { safe_to_write } = withDefaults({
  safe_to_write: [{ glob: "content/**", safe: false }],
}) as Pick<FileRules, "safe_to_write">;

const BASE: Circumstances = {
  rules: [],
  sandboxed: true,
  commands: "ask",
  rehearses: true,
  places: { root: ROOT },
  hidesHistory: false,
  cannotHide: undefined,
  permission: "default",
  isTainted: true,
  foreign: undefined,
  tools: [],
  files: { deny_read: ["**/.env"], safe_to_write, read_rules: { deny: [], ask: [] } },
  reason: "asked",
};

type CaseFacts = Partial<Omit<LoggedCase, "access">>;

function logged(access: LoggedCase["access"], title: string, facts: CaseFacts = {}): LoggedCase {
  return {
    access,
    root: ROOT,
    time: NOW - DAY,
    title,
    end: "allowed",
    note: facts.end ?? "allowed",
    changes: "none",
    taint: "none",
    isForced: false,
    isWhole: true,
    tools: [],
    ...facts,
  };
}

function run(
  command: string,
  facts?: CaseFacts,
  access: "write" | "write+network" | "git" = "write",
): LoggedCase {
  const line = { kind: "command", command, cwd: ROOT, timeout: 60, background: false, access } as const;
  return logged(line, `run ${command}`, facts);
}

function write(name: string, facts?: CaseFacts): LoggedCase {
  const path = {
    path: `${ROOT}/${name}`,
    link: `${ROOT}/${name}`,
    relative: name,
    named: name,
    exists: true,
  };
  const files: readonly FileAccess[] = [{ access: "write", path }];
  return logged({ kind: "file", files }, `write ${name}`, facts);
}

const fetched = (url: string, facts?: CaseFacts) => logged({ kind: "fetch", url }, `fetch ${url}`, facts);
const times = (count: number, one: LoggedCase) => Array.from({ length: count }, () => one);

function propose(
  cases: readonly LoggedCase[],
  options: Partial<ProposalOptions> = {},
): readonly RuleProposal[] {
  const steps = proposeRules(cases, {
    root: ROOT,
    base: BASE,
    rulesOf: () => [],
    unwanted: [],
    now: NOW,
    ...options,
  });
  for (let step = steps.next();; step = steps.next()) if (step.done === true) return step.value;
}

const texts = (rules: readonly Rule[]) => rules.map(ruleText).join(", ");
const proposed = (cases: readonly LoggedCase[], options?: Partial<ProposalOptions>) =>
  propose(cases, options).map(({ verdict, rules, wider }) =>
    [`${verdict} ${texts(rules)}`, ...wider === undefined ? [] : [texts(wider.rules)]].join(" | ")
  );

Deno.test("three equal answers make a rule for exactly that line; two make none", () => {
  assert.deepEqual(proposed(times(2, run("npm test"))), []);
  assert.deepEqual(proposed(times(3, run("npm test"))), ["allow run(npm test) | run(npm test *)"]);
  assert.deepEqual(proposed(times(3, run("make && npm test"))), ["allow run(make), run(npm test)"]);
  assert.deepEqual(proposed(times(3, run("git commit -m x", {}, "git"))), [
    "allow git(git commit -m x) | git(git commit *)",
  ]);
  assert.deepEqual(proposed(times(3, run("npm test", {}, "write+network"))), [
    "allow run(npm test), network(npm test) | run(npm test *), network(npm test *)",
  ]);
});

Deno.test("different lines make a rule for the words that they share", () => {
  assert.deepEqual(
    proposed(["a", "b", "c"].map((name) => run(`cargo test --quiet ${name}`))),
    ["allow run(cargo test --quiet *) | run(cargo test *)"],
  );
  assert.deepEqual(proposed([run("make a"), run("npm test"), run("touch b")]), []);
});

Deno.test("no star for interpreters, shells, runners of packages, git push, rm and risky options", () => {
  for (
    const line of [
      "python x.py",
      "node x.js",
      "bash x.sh",
      "npx eslint",
      "npm run build",
      "deno task x",
      "uv run pytest",
      "rm",
      "curl example.com",
      "git -C sub add",
    ]
  ) {
    const lines = ["a", "b", "c"].map((name) => run(`${line} ${name}`));
    assert.deepEqual(proposed(lines), [], line);
    assert.doesNotMatch(proposed(times(3, run(`${line} a`))).join(), /\*/, line);
  }
  const pushes = ["a", "b", "c"].map((name) => run(`git push ${name}`, {}, "git"));
  assert.deepEqual(proposed(pushes), []);
});

Deno.test("a rejected line narrows the proposal, or removes it", () => {
  const lines = ["a", "b", "c"].map((name) => run(`cargo test --quiet ${name}`));
  const rejected = run("cargo test --release", { end: "rejected" });
  assert.deepEqual(proposed([...lines, rejected]), ["allow run(cargo test --quiet *)"], "nothing wider");
  const others = ["a", "b", "c"].map((name) => run(`cargo test --doc ${name}`));
  assert.deepEqual(proposed([...lines, ...others, rejected]).sort(), [
    "allow run(cargo test --doc *)",
    "allow run(cargo test --quiet *)",
  ]);
  assert.deepEqual(proposed([...lines, run("cargo test --quiet d", { end: "rejected" })]), []);
  assert.deepEqual(proposed([...times(9, run("npm test")), run("npm test", { end: "rejected" })]), []);
  const tainted = run("npm test", { end: "rejected", taint: "foreign", isForced: true });
  assert.deepEqual(proposed([...times(9, run("npm test")), tainted]), [], "any rejection counts");
  const dropped = run("npm test", { end: "rejected", changes: "plain" });
  assert.deepEqual(proposed([...times(9, run("npm test")), dropped]), [], "also of its changes");
});

Deno.test("two proposals never allow a rejected line together", () => {
  const cases = [...times(4, run("make a")), ...times(3, run("touch b"))];
  const both = run("make a && touch b", { end: "rejected" });
  assert.equal(proposed(cases).length, 2);
  assert.deepEqual(proposed([...cases, both]), ["allow run(make a) | run(make a *)"]);
});

Deno.test("forced questions, unknown and shortened requests and tainted sessions make no allow rule", () => {
  const facts: readonly CaseFacts[] = [
    { isForced: true },
    { taint: undefined },
    { isWhole: false },
    { taint: "network" },
    { taint: "foreign" },
    { changes: "sensitive" },
    { end: "stopped" },
    { end: "unasked" },
  ];
  for (const one of facts) {
    assert.deepEqual(proposed(times(3, run("npm test", one))), [], JSON.stringify(one));
  }
  const rejected = { end: "rejected", taint: "foreign" } as const;
  assert.deepEqual(proposed(times(3, run("npm test", rejected))), ["deny run(npm test)"]);
  assert.deepEqual(proposed(times(3, run("npm test", { ...rejected, isForced: true }))), []);
});

Deno.test("changes of a rehearsed command make a rule, and rejected ones make none", () => {
  const base = { ...BASE, commands: "look" } as const;
  const plain = { changes: "plain" } as const;
  assert.deepEqual(proposed(times(3, run("npm test")), { base }), [], "it runs unasked");
  assert.deepEqual(proposed(times(3, run("npm test", plain)), { base }), [
    "allow run(npm test) | run(npm test *)",
  ]);
  assert.deepEqual(proposed(times(3, run("npm test", { ...plain, end: "rejected" })), { base }), []);
});

Deno.test("files: the user's own list alone, a folder for three different files, never sensitive ones", () => {
  assert.deepEqual(proposed(times(3, write("content/a.po"))), ["allow write(content/a.po)"]);
  const names = ["content/a.po", "content/b.po", "content/c.po"];
  assert.deepEqual(proposed(names.map((name) => write(name))), ["allow write(content/*.po)"]);
  assert.deepEqual(proposed([...names.slice(1), ...names.slice(1)].map((name) => write(name))), []);
  const documents = ["a", "b", "c"].map((name) => write(`content/${name}.md`));
  assert.deepEqual(proposed(documents), [], "AGENTS.md would be among them");
  assert.deepEqual(
    proposed([...names.map((name) => write(name)), write("content/d.po", { end: "rejected" })]),
    [],
  );
  for (
    const name of [".env", "content/.env", "package.json", ".git/hooks/x", ".github/workflows/ci.yml", "../x"]
  ) {
    assert.deepEqual(proposed(times(3, write(name))), [], name);
  }
  const workflows = ["a", "b", "c"].map((name) => write(`.github/workflows/${name}.yml`));
  assert.deepEqual(proposed(workflows), []);
  assert.deepEqual(proposed(times(3, write(".husky/pre-commit", { end: "rejected" }))), [
    "deny write(.husky/pre-commit)",
  ]);
});

Deno.test("hosts, tools, engines and agents", () => {
  const mcp = (facts?: CaseFacts) => logged({ kind: "mcp", server: "git", tool: "log" }, "git log", facts);
  const search = logged({ kind: "search_web", engine: "brave", query: "x" }, "search x");
  const agent = logged({ kind: "agent", name: "codex", task: "x" }, "codex", { end: "rejected" });
  const star = logged({ kind: "agent", name: "c*", task: "x" }, "c*", { end: "rejected" });
  const pages = ["a", "b", "c"].map((page) => fetched(`https://docs.python.org/${page}`));
  assert.deepEqual(proposed(pages), ["allow fetch(docs.python.org)"]);
  assert.deepEqual(proposed(times(3, mcp())), ["allow mcp(git/log)"]);
  assert.deepEqual(proposed(times(3, mcp({ end: "rejected" }))), ["deny mcp(git/log)"]);
  assert.deepEqual(proposed(times(3, search)), ["allow search_web(brave)"]);
  assert.deepEqual(proposed(times(3, agent)), ["deny agent(codex)"]);
  assert.deepEqual(proposed(times(3, star)), []);
});

Deno.test("a rule that the user has, or does not want, is not proposed", () => {
  const cases = times(3, run("npm test"));
  const rule = parseRule("run(npm test)", "allow", "project");
  assert.deepEqual(proposed(cases, { rulesOf: () => [rule] }), []);
  assert.deepEqual(proposed(cases, { unwanted: [rule] }), []);
  const lines = ["a", "b", "c"].map((name) => run(`npm test ${name}`));
  assert.deepEqual(proposed(lines, { unwanted: [parseRule("run(npm test *)", "allow", "project")] }), []);
  const wide = [parseRule("run(make *)", "allow", "project")];
  assert.deepEqual(proposed(times(3, run("make a && npm test")), { unwanted: wide }), [
    "allow run(make a), run(npm test)",
  ]);
  const unwanted = [parseRule("run(make)", "allow", "project")];
  assert.deepEqual(proposed(times(3, run("make && npm test")), { unwanted }), [], "no part of others");
  const known = { rulesOf: () => unwanted };
  assert.deepEqual(proposed(times(3, run("make && npm test")), known), ["allow run(make), run(npm test)"]);
});

Deno.test("the dry run counts the last 30 days, and shows first what is dangerous or was never asked", () => {
  const cases = [
    run("git add a", { time: NOW - 31 * DAY }, "git"),
    run("git add a", {}, "git"),
    run("git add b", {}, "git"),
    run("git add c", { end: "stopped", note: "stopped" }, "git"),
    run("git add d", { root: "/other" }, "git"),
  ];
  const [{ rules, answers, project, all } = assert.fail(), ...others] = propose(cases);
  assert.deepEqual(others, []);
  assert.equal(texts(rules), "git(git add *)");
  assert.equal(answers, 3);
  assert.deepEqual([project.answered, project.others, all.answered], [2, 1, 3]);
  assert.deepEqual(project.examples.map(({ text, note, danger }) => [text, note, danger]), [
    ["run git add c", "stopped", "may change the repository"],
    ["run git add a", "", "may change the repository"],
    ["run git add b", "", "may change the repository"],
  ]);
});

Deno.test("an answer in another project contradicts a rule for all of them alone", () => {
  const other = run("npm test", { root: "/other", end: "rejected" });
  const [{ project, all } = assert.fail()] = propose([...times(3, run("npm test")), other]);
  assert.equal(project.conflict, undefined);
  assert.equal(all.conflict, "run npm test");
});

const LINES = [
  "npm test",
  "npm test -- a",
  "npm test -- b",
  "cargo test a",
  "cargo test --doc b",
  "make",
  "make a",
  "make a && npm test",
  "touch x",
  "rm x",
  "git push",
  "n\\pm test",
  "'make' a",
  "ls",
  "sh -c 'make a'",
];
const oneCase = fc.record({
  what: fc.oneof(
    fc.record({ line: fc.constantFrom(...LINES), access: fc.constantFrom("write", "write+network", "git") }),
    fc.constantFrom("content/a.po", "content/b.po", "content/c.po", "package.json", ".env"),
    fc.constantFrom("https://a.example/x", "https://b.example/y", "http://localhost/"),
  ),
  facts: fc.record({
    end: fc.constantFrom("allowed", "allowed", "allowed", "rejected", "stopped", "unasked", "refused"),
    taint: fc.constantFrom("none", "none", "none", "network", "foreign", undefined),
    isForced: fc.constantFrom(false, false, false, true),
    changes: fc.constantFrom("none", "none", "plain", "sensitive"),
    time: fc.constantFrom(NOW - DAY, NOW - 40 * DAY),
    root: fc.constantFrom(ROOT, ROOT, ROOT, "/other"),
  }),
}).map(({ what, facts }) =>
  typeof what !== "string"
    ? run(what.line, facts, what.access)
    : what.startsWith("http")
    ? fetched(what, { ...facts, changes: "none" })
    : write(what, { ...facts, changes: "none" })
);
const RULES = ["allow run(ls)", "deny run(touch *)", "deny fetch(b.example)", "allow run(make)"].map(
  (text) => {
    const [verdict, rule] = text.split(/ (.*)/);
    return parseRule(rule ?? "", verdict === "deny" ? "deny" : "allow", "user");
  },
);

/** The policy's own answer, without this feature. */
function policy(
  { access, taint, changes }: LoggedCase,
  rules: readonly Rule[],
  foreign = taint === "foreign",
) {
  const circumstances = { ...BASE, rules, foreign: foreign ? "unknown" as const : undefined };
  if (access.kind !== "command") return decide(access, circumstances).decision.verdict;
  const { decision, rehearsed, agreed } = decide(access, circumstances);
  const asks = rehearsed && (changes === "sensitive" || (changes === "plain" && !agreed));
  return decision.verdict === "allow" && asks ? "ask" : decision.verdict;
}

Deno.test("whatever the log says: no proposal allows a rejected request or changes a deny, and the dry run tells what the policy does", () => {
  fc.assert(
    fc.property(fc.array(oneCase, { maxLength: 40 }), fc.subarray(RULES), (cases, current) => {
      const found = propose(cases, { rulesOf: () => current });
      const own = cases.filter(({ root }) => root === ROOT);
      const all = [...current, ...found.flatMap(({ rules }) => rules)];
      const forms = found.flatMap(({ verdict, wider, ...form }) =>
        [form, ...wider === undefined ? [] : [wider]].map((one) => ({ ...one, verdict }))
      );
      for (const one of own) {
        for (const foreign of [false, true]) {
          const before = policy(one, current, foreign);
          for (const rules of [all, ...forms.map(({ rules }) => [...current, ...rules])]) {
            const after = policy(one, rules, foreign);
            if (before === "deny") assert.equal(after, "deny", one.title);
            if (one.end === "rejected" && before !== "allow") assert.notEqual(after, "allow", one.title);
            if (one.end === "allowed") assert.ok(after !== "deny" || before === "deny", one.title);
          }
        }
      }
      for (const { verdict, rules, project } of forms) {
        assert.equal(project.conflict, undefined);
        const end = verdict === "allow" ? "allowed" : "rejected";
        const answered = own.filter((one) =>
          one.time > NOW - 30 * DAY && !one.isForced && one.end === end &&
          policy(one, current, one.end !== "rejected" && one.taint === "foreign") === "ask" &&
          policy(one, [...current, ...rules], one.end !== "rejected" && one.taint === "foreign") === verdict
        );
        assert.equal(project.answered, answered.length, texts(rules));
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("the search pauses at each command, however many share their words", () => {
  const lines = Array.from({ length: 500 }, (_, at) => judgeCommand(`pytest -q t${at}`).commands).flat();
  const steps = sharedPattern(lines);
  let pauses = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) pauses++;
  assert.deepEqual([pauses, step.value], [500, "pytest -q *"]);
});
