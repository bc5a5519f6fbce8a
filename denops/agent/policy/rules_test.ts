import assert from "node:assert/strict";
import fc from "fast-check";
import { hostMatches, toolMatches } from "./remote_rules.ts";
import { parseRule, patternProblems, type Rule, ruleText } from "./rules.ts";
import { fetchRule, mcpRule } from "./matching_rules.ts";

Deno.test("every kind of rule is read, and shown as it was written", () => {
  for (
    const text of [
      "run(git diff *)",
      'run(grep "a b" *)',
      "network(npm install *)",
      "read(private/**)",
      "write(src/**/*.{ts,js})",
      "write(app/\\[id\\]/page.tsx)",
      "fetch(docs.python.org)",
      "fetch(*.python.org:8080)",
      "fetch(*)",
      "fetch(münchen.de)",
      "fetch([::1]:8080)",
      "search_web(brave)",
      "mcp(github/create_issue)",
      "mcp(github/*)",
      "mcp(*/read_*)",
      "agent(deep-*)",
      'run(node -e "f(a), g(b)")',
    ]
  ) assert.equal(ruleText(parseRule(text, "allow", "user")), text);
});

Deno.test("a wrong rule says which one it is and what is wrong", () => {
  for (
    const [text, says] of [
      [
        "run(a), network(a)",
        /^Not a rule: run\(a\), network\(a\)\. These are several rules: give each one separately\.$/,
      ],
      ["git diff", /^Not a rule: git diff\. Rules look like /],
      ["draw(x)", /^Not a rule: draw\(x\)\. Rules look like /],
      ["run(a\nb)", /^Not a rule: run\(a b\)\. Rules look like /],
      ["run()", /^Not a rule: run\(\)\. Its pattern is empty\.$/],
      ['run(echo "a)', /^Not a rule: run\(echo "a\)\. Its pattern needs a closing "\.$/],
      ["network(   )", /Its pattern is empty\.$/],
      ["read([x)", /^Not a rule: read\(\[x\)\. Its pattern needs a closing \]\.$/],
      ["write({a,b)", /needs a closing }\.$/],
      ["write(a)b)", /needs an opening \(\.$/],
      ["read(/etc/**)", /must be relative to the project/],
      ["read(C:/Users)", /must be relative to the project/],
      ["read(~/.ssh/**)", /must be relative to the project/],
      ["read(./src)", /must be relative to the project/],
      ["read(src/../..)", /must not hold \.\.\.$/],
      ["fetch(https://python.org)", /must be a host alone/],
      ["fetch(python.org/docs)", /must be a host alone/],
      ["fetch(a b)", /is not a host/],
      ["fetch(py*.org)", /is not a host/],
      ["fetch(*python.org)", /is not a host/],
      ["fetch(python.org:x)", /is not a host/],
      ["agent(two words)", /must be a mode's or an agent's name/],
      ["search_web(two words)", /must be a search engine's name/],
      ["mcp(github)", /must be server\/tool/],
      ["mcp(a/b/c)", /must be server\/tool/],
      ["mcp(/b)", /must be server\/tool/],
    ] as const
  ) assert.throws(() => parseRule(text, "deny", "user"), { message: says }, text);
});

Deno.test("wrong patterns of all options are found, each with its option", () => {
  const problems = patternProblems({
    rules: { allow: ["run(ls)", "nothing"], ask: ["fetch(a/b)"], deny: ["read([)"] },
    deny_read: ["**/.env", "{a"],
    safe_to_write: [{ glob: "**/*", safe: true }, { glob: "/etc/**", safe: true }],
  });
  assert.deepEqual(problems.map((line) => line.split(":").slice(0, 2).join(":").slice(0, 40)), [
    "rules.allow: Not a rule",
    "rules.ask: Not a rule",
    "rules.deny: Not a rule",
    "files.deny_read: {a needs a closing }.",
    "files.safe_to_write: /etc/** must be rel",
  ]);
});

Deno.test("hosts", () => {
  for (
    const [pattern, url, matches] of [
      ["docs.python.org", "https://docs.python.org/3/", true],
      ["docs.python.org", "https://DOCS.Python.org./3/", true],
      ["Docs.Python.org", "https://docs.python.org", true],
      ["docs.python.org", "https://docs.python.org.evil.example/", false],
      ["docs.python.org", "https://evil.example/docs.python.org", false],
      ["docs.python.org", "https://docs.python.org@evil.example/", false],
      ["docs.python.org", "https://evil.example#@docs.python.org", false],
      ["python.org", "https://docs.python.org/", false],
      ["*.python.org", "https://docs.python.org/", true],
      ["*.python.org", "https://a.b.python.org/", true],
      ["*.python.org", "https://python.org/", false],
      ["*.python.org", "https://evilpython.org/", false],
      ["*", "http://anything.example:81", true],
      ["*:443", "https://anything.example", true],
      ["*:443", "http://anything.example", false],
      ["a.example:8080", "http://a.example:8080", true],
      ["a.example:8080", "http://a.example", false],
      ["127.0.0.1", "http://2130706433/", true],
      ["[::1]", "http://[0:0:0:0:0:0:0:1]/", true],
      ["münchen.de", "https://xn--mnchen-3ya.de/", true],
      ["*", "not an address", false],
    ] as const
  ) assert.equal(hostMatches(pattern, url), matches, `${pattern} ${url}`);
});

Deno.test("tools of MCP servers", () => {
  for (
    const [pattern, server, tool, matches] of [
      ["github/create_issue", "github", "create_issue", true],
      ["github/create_issue", "github", "create_issues", false],
      ["github/create_issue", "GitHub", "create_issue", false],
      ["github/*", "github", "anything", true],
      ["github/*", "gitlab", "anything", false],
      ["*/read_*", "files", "read_all", true],
      ["*/read_*", "files", "xread_all", false],
      ["git.ub/x", "github", "x", false],
      ["a/*", "a", "b/c", false],
    ] as const
  ) assert.equal(toolMatches(pattern, server, tool), matches, `${pattern} ${server} ${tool}`);
});

Deno.test("deny wins over ask, ask over allow, and the most specific rule is named", () => {
  const rules = (...texts: readonly string[]): readonly Rule[] =>
    texts.map((text) => {
      const [verdict, rule = ""] = text.split(/ (.*)/);
      assert.ok(verdict === "allow" || verdict === "ask" || verdict === "deny");
      return parseRule(rule, verdict, "user");
    });
  const shown = (rule: Rule | undefined) => rule && `${rule.verdict} ${ruleText(rule)}`;
  const all = rules(
    "allow fetch(*)",
    "allow fetch(a.example)",
    "ask fetch(*.b.example)",
    "deny fetch(x.b.example)",
  );
  assert.equal(shown(fetchRule(all, "https://a.example/")), "allow fetch(a.example)");
  assert.equal(shown(fetchRule(all, "https://c.example/")), "allow fetch(*)");
  assert.equal(shown(fetchRule(all, "https://y.b.example/")), "ask fetch(*.b.example)");
  assert.equal(shown(fetchRule(all, "https://x.b.example/")), "deny fetch(x.b.example)");
  assert.equal(fetchRule(rules("deny run(fetch)"), "https://fetch/"), undefined);
  const tools = rules("allow mcp(a/*)", "deny mcp(*/drop)");
  assert.equal(shown(mcpRule(tools, "a", "drop")), "deny mcp(*/drop)");
  assert.equal(shown(mcpRule(tools, "a", "list")), "allow mcp(a/*)");
  assert.equal(mcpRule(tools, "b", "list"), undefined);
});

Deno.test("whatever is written as a rule is read or refused in one line", () => {
  const kind = fc.constantFrom("run", "network", "read", "write", "fetch", "mcp", "other");
  fc.assert(fc.property(kind, fc.string(), (name, inside) => {
    try {
      parseRule(`${name}(${inside})`, "allow", "user");
    } catch (error) {
      assert.ok(error instanceof Error && /^Not a rule: [^\n\r]*$/.test(error.message), String(error));
    }
  }));
});
