import assert from "node:assert/strict";
import fc from "fast-check";
import type { FileRules } from "../protocol/config.ts";
import { allowKey, decide, type FileTouch } from "./decide.ts";
import type { Decision } from "./file_access.ts";

const RULES: FileRules = {
  deny_read: ["**/.env"],
  safe_to_write: [{ glob: "**/*", safe: true }, { glob: "**/.env", safe: false }, {
    glob: "**/.git/**",
    safe: false,
  }],
  read_rules: { deny: ["closed/**"], ask: ["private/**"] },
};

function touch(access: FileTouch["access"], relative: string, named: string = relative): FileTouch {
  return { access, path: { path: `/project/${relative}`, relative, named, exists: true } };
}

const read = (relative: string, named?: string) => touch("read", relative, named);
const list = (relative: string, named?: string) => touch("list", relative, named);
const write = (relative: string, named?: string) => touch("write", relative, named);

interface Case {
  readonly what: string;
  readonly touches: readonly FileTouch[];
  /** Allowed for this session. */
  readonly allowed?: readonly FileTouch[];
  readonly verdict: Decision["verdict"];
}

const CASES: readonly Case[] = [
  { what: "nothing is touched", touches: [], verdict: "allow" },
  { what: "an ordinary file", touches: [read("a.ts"), write("a.ts")], verdict: "allow" },
  { what: "a sensitive file", touches: [write(".git/config")], verdict: "ask" },
  { what: "a secret", touches: [read(".env")], verdict: "deny" },
  { what: "a secret is written", touches: [write(".env")], verdict: "ask" },
  { what: "a rule forbids to read it", touches: [read("closed/a")], verdict: "deny" },
  { what: "a rule asks before it is read", touches: [read("private/a")], verdict: "ask" },
  {
    what: "the user has let it be read",
    touches: [read("private/a")],
    allowed: [read("private/a")],
    verdict: "allow",
  },
  {
    what: "the user has let another be read",
    touches: [read("private/b")],
    allowed: [read("private/a")],
    verdict: "ask",
  },
  { what: "what is asked about is only listed", touches: [list("private")], verdict: "allow" },
  { what: "what is forbidden is not even listed", touches: [list("closed")], verdict: "deny" },
  { what: "the strictest wins: ask", touches: [write("a.ts"), write(".git/config")], verdict: "ask" },
  {
    what: "the strictest wins: deny",
    touches: [write("a.ts"), write(".git/x"), read(".env")],
    verdict: "deny",
  },
  { what: "in any order", touches: [read(".env"), write(".git/x"), write("a.ts")], verdict: "deny" },
  { what: "allowed", touches: [write(".git/config")], allowed: [write(".git/config")], verdict: "allow" },
  {
    what: "allowed under another name",
    touches: [write(".git/config", "notes.txt")],
    allowed: [write(".git/config")],
    verdict: "allow",
  },
  {
    what: "another file was allowed",
    touches: [write(".git/config")],
    allowed: [write(".git/hooks/x")],
    verdict: "ask",
  },
  {
    what: "its folder was allowed",
    touches: [write(".git/config")],
    allowed: [write(".git")],
    verdict: "ask",
  },
  {
    what: "reading was allowed",
    touches: [write(".git/config")],
    allowed: [read(".git/config")],
    verdict: "ask",
  },
  {
    what: "one of two was allowed",
    touches: [write(".git/config"), write(".git/hooks/x")],
    allowed: [write(".git/config")],
    verdict: "ask",
  },
  { what: "what is denied stays denied", touches: [read(".env")], allowed: [read(".env")], verdict: "deny" },
  {
    what: "a link with an allowed file's name to another file",
    touches: [write(".git/hooks/x", ".git/config")],
    allowed: [write(".git/config")],
    verdict: "ask",
  },
];

for (const { what, touches, allowed = [], verdict } of CASES) {
  Deno.test(`decision: ${what}: ${verdict}`, () => {
    assert.equal(decide(touches, RULES, new Set(allowed.map(allowKey))).verdict, verdict);
  });
}

Deno.test("one more thing touched never makes a decision milder", () => {
  const order = ["allow", "ask", "deny"];
  const any = fc.constantFrom(read("a.ts"), write("a.ts"), read(".env"), write(".env"), write(".git/config"));
  const touches = fc.array(any, { maxLength: 4 });
  fc.assert(fc.property(touches, any, touches, (some, more, allowed) => {
    const session = new Set(allowed.map(allowKey));
    const strictness = (list: readonly FileTouch[]) => order.indexOf(decide(list, RULES, session).verdict);
    assert.equal(strictness([...some, more]), Math.max(strictness(some), strictness([more])));
  }));
});
