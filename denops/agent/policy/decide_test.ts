import assert from "node:assert/strict";
import fc from "fast-check";
import type { FileRules } from "../protocol/config.ts";
import type { Access, FileAccess } from "../protocol/access.ts";
import { type Circumstances, decide } from "./decide.ts";
import { allowKey, decideFiles } from "./decide_files.ts";
import { parseRule } from "./rules.ts";
import type { FileDecision } from "./file_access.ts";

const RULES: FileRules = {
  deny_read: ["**/.env"],
  safe_to_write: [{ glob: "**/*", safe: true }, { glob: "**/.env", safe: false }, {
    glob: "**/.git/**",
    safe: false,
  }],
  read_rules: { deny: ["closed/**"], ask: ["private/**"] },
};

function file(access: FileAccess["access"], relative: string, named: string = relative): FileAccess {
  const [path, link] = [`/project/${relative}`, `/project/${named}`];
  return { access, path: { path, link, relative, named, exists: true } };
}

const read = (relative: string, named?: string) => file("read", relative, named);
const list = (relative: string, named?: string) => file("list", relative, named);
const write = (relative: string, named?: string) => file("write", relative, named);

interface Case {
  readonly what: string;
  readonly files: readonly FileAccess[];
  /** Allowed for this session. */
  readonly allowed?: readonly FileAccess[];
  readonly verdict: FileDecision["verdict"];
}

const CASES: readonly Case[] = [
  { what: "no file is named", files: [], verdict: "deny" },
  { what: "an ordinary file", files: [read("a.ts"), write("a.ts")], verdict: "allow" },
  { what: "a sensitive file", files: [write(".git/config")], verdict: "ask" },
  { what: "a secret", files: [read(".env")], verdict: "deny" },
  { what: "a secret is written", files: [write(".env")], verdict: "ask" },
  { what: "a rule forbids to read it", files: [read("closed/a")], verdict: "deny" },
  { what: "a rule asks before it is read", files: [read("private/a")], verdict: "ask" },
  {
    what: "the user has let it be read",
    files: [read("private/a")],
    allowed: [read("private/a")],
    verdict: "allow",
  },
  {
    what: "the user has let another be read",
    files: [read("private/b")],
    allowed: [read("private/a")],
    verdict: "ask",
  },
  { what: "what is asked about is only listed", files: [list("private")], verdict: "allow" },
  { what: "what is forbidden is not even listed", files: [list("closed")], verdict: "deny" },
  { what: "the strictest wins: ask", files: [write("a.ts"), write(".git/config")], verdict: "ask" },
  {
    what: "the strictest wins: deny",
    files: [write("a.ts"), write(".git/x"), read(".env")],
    verdict: "deny",
  },
  { what: "in any order", files: [read(".env"), write(".git/x"), write("a.ts")], verdict: "deny" },
  { what: "allowed", files: [write(".git/config")], allowed: [write(".git/config")], verdict: "allow" },
  {
    what: "allowed under another name",
    files: [write(".git/config", "notes.txt")],
    allowed: [write(".git/config")],
    verdict: "allow",
  },
  {
    what: "another file was allowed",
    files: [write(".git/config")],
    allowed: [write(".git/hooks/x")],
    verdict: "ask",
  },
  {
    what: "its folder was allowed",
    files: [write(".git/config")],
    allowed: [write(".git")],
    verdict: "ask",
  },
  {
    what: "reading was allowed",
    files: [write(".git/config")],
    allowed: [read(".git/config")],
    verdict: "ask",
  },
  {
    what: "one of two was allowed",
    files: [write(".git/config"), write(".git/hooks/x")],
    allowed: [write(".git/config")],
    verdict: "ask",
  },
  { what: "what is denied stays denied", files: [read(".env")], allowed: [read(".env")], verdict: "deny" },
  {
    what: "a link with an allowed file's name to another file",
    files: [write(".git/hooks/x", ".git/config")],
    allowed: [write(".git/config")],
    verdict: "ask",
  },
];

for (const { what, files, allowed = [], verdict } of CASES) {
  Deno.test(`decision: ${what}: ${verdict}`, () => {
    assert.equal(decideFiles(files, RULES, new Set(allowed.map(allowKey))).verdict, verdict);
  });
}

Deno.test("one more file never makes a decision milder", () => {
  const order = ["allow", "ask", "deny"];
  const any = fc.constantFrom(read("a.ts"), write("a.ts"), read(".env"), write(".env"), write(".git/config"));
  const files = fc.array(any, { minLength: 1, maxLength: 4 });
  fc.assert(fc.property(files, any, files, (some, more, allowed) => {
    const session = new Set(allowed.map(allowKey));
    const strictness = (list: readonly FileAccess[]) =>
      order.indexOf(decideFiles(list, RULES, session).verdict);
    assert.equal(strictness([...some, more]), Math.max(strictness(some), strictness([more])));
  }));
});

function circumstances(allow: readonly string[], deny: readonly string[]): Circumstances {
  return {
    rules: [
      ...allow.map((text) => parseRule(text, "allow", "user")),
      ...deny.map((text) => parseRule(text, "deny", "user")),
    ],
    ...{
      sandboxed: true,
      commands: "look",
      rehearses: false,
      places: {},
      hidesHistory: false,
      cannotHide: undefined,
      permission: "default",
      isTainted: false,
      foreign: undefined,
      tools: [],
      files: RULES,
    },
    reason: "the engine asks",
  };
}

Deno.test("a call of an MCP tool suggests the rule for exactly this tool", () => {
  const suggestionOf = (server: string, tool: string, allow: readonly string[] = []) =>
    decide({ kind: "mcp", server, tool }, circumstances(allow, [])).suggestion;
  assert.equal(suggestionOf("git", "log"), "mcp(git/log)");
  assert.equal(suggestionOf("git", "log", ["mcp(git/*)"]), undefined);
  for (const tool of ["*", "a*", "a/b", "a), run(*", "", "a b"]) {
    assert.equal(suggestionOf("git", tool), undefined);
  }
});

Deno.test("the gate's word on each kind of access is the rules' of that kind; without one it asks", () => {
  const given = circumstances(
    ["fetch(a.example)", "search_web(brave)", "mcp(git/*)", "write(a.ts)", "run(*)"],
    ["fetch(b.example)", "search_web(e*)", "mcp(git/drop)", "read(b.ts)", "agent(deep-*)"],
  );
  const line = { kind: "command", cwd: "/p", timeout: 1, background: false } as const;
  const cases: readonly (readonly [Access, string])[] = [
    [{ kind: "fetch", url: "https://a.example/x" }, "allow fetch(a.example)"],
    [{ kind: "fetch", url: "https://b.example/x" }, "deny fetch(b.example)"],
    [{ kind: "fetch", url: "https://c.example/x" }, "ask asked"],
    [{ kind: "fetch", url: "https://a.example" }, "deny address"],
    [{ kind: "fetch", url: "https://\u0430.example/" }, "deny address"],
    [{ kind: "fetch", url: "http://localhost:3000/" }, "deny private host"],
    [{ kind: "fetch", url: "http://[::ffff:a01:203]/" }, "deny private host"],
    [{ kind: "search_web", engine: "brave", query: "x" }, "allow search_web(brave)"],
    [{ kind: "search_web", engine: "exa", query: "x" }, "deny search_web(e*)"],
    [{ kind: "search_web", engine: "kagi", query: "x" }, "ask asked"],
    [{ kind: "mcp", server: "git", tool: "log" }, "allow mcp(git/*)"],
    [{ kind: "mcp", server: "git", tool: "drop" }, "deny mcp(git/drop)"],
    [{ kind: "mcp", server: "a", tool: "log" }, "ask asked"],
    [{ kind: "file", files: [write("a.ts")] }, "allow write(a.ts)"],
    [{ kind: "file", files: [write("a.ts"), write("c.ts")] }, "ask asked"],
    [{ kind: "file", files: [write("a.ts"), read("b.ts")] }, "deny read(b.ts)"],
    [{ ...line, command: "make", access: "write" }, "allow run(*)"],
    [{ kind: "agent", name: "codex", task: "x" }, "ask asked"],
    [{ kind: "agent", name: "explore", task: "x", access: "read" }, "allow a sub-agent"],
    [{ kind: "agent", name: "deep-explore", task: "x", access: "read" }, "deny agent(deep-*)"],
    [{ kind: "ask", about: "limit", text: "Go on?" }, "ask asked always"],
    [{ kind: "nothing" }, "ask asked"],
  ];
  for (const [access, expected] of cases) {
    const { decision, always } = decide(access, given);
    const said = `${decision.verdict} ${decision.rule}${always ? " always" : ""}`;
    assert.equal(said, expected, JSON.stringify(access));
  }
  const search = decide({ kind: "search_web", engine: "kagi", query: "x" }, given);
  assert.equal(search.suggestion, "search_web(kagi)");
  const unknown: Access = JSON.parse('{"kind": "device"}');
  assert.equal(decide(unknown, given).decision.verdict, "deny");
});

Deno.test("a call of an agent from elsewhere passes, unless a rule or an option is against it", () => {
  const call = { kind: "foreign", agent: "claude", tool: "execute", title: "Run it" } as const;
  const push = { ...call, command: "make && git push origin main" };
  const edit = { ...call, files: [write("src/a.ts")] };
  const look = { ...call, files: [read("closed/a")] };
  const tool = { ...call, mcp: { server: "notes", tool: "add" } };
  const judged = (access: Access, more: Partial<Circumstances> = {}) => {
    const { decision } = decide(access, { ...circumstances([], []), ...more });
    return decision.verdict;
  };
  const ruled = (access: Access, text: string, verdict: "ask" | "deny" = "deny") =>
    judged(access, { rules: [parseRule(text, verdict, "user")] });
  for (const access of [call, push, edit, look, tool]) assert.equal(judged(access), "allow");
  assert.equal(ruled(push, "run(git push *)"), "deny");
  assert.equal(ruled(push, "run(make)", "ask"), "ask");
  assert.equal(ruled(push, "run(npm *)"), "allow");
  assert.equal(ruled(edit, "write(src/**)", "ask"), "ask");
  assert.equal(ruled(edit, "read(src/**)"), "allow");
  assert.equal(ruled(look, "read(closed/**)"), "deny");
  assert.equal(ruled(tool, "mcp(notes/*)"), "deny");
  assert.equal(ruled(call, "agent(claude)"), "deny");
  assert.equal(ruled(call, "agent(codex)"), "allow");
  assert.equal(judged(push, { commands: "ask" }), "ask");
  assert.equal(judged(edit, { commands: "ask" }), "allow");
  assert.equal(judged(edit, { permission: "ask" }), "ask");
  assert.equal(judged(look, { permission: "ask" }), "allow");
  const allowed = [parseRule("run(make)", "allow", "user"), parseRule("run(git push *)", "allow", "user")];
  assert.equal(judged(push, { commands: "ask", rules: allowed }), "allow");
});
