import assert from "node:assert/strict";
import { type FileDecision, isInGit, mayRead, mayWrite } from "./file_access.ts";
import type { ResolvedPath } from "./path.ts";

const RULES = {
  deny_read: ["**/.env", "**/.env.*", "**/*.pem", "**/id_rsa*", "**/.ssh/**"],
  read_rules: { deny: ["closed/**", "both/**"], ask: ["private/**", "both/**", "**/.env"] },
};

const SAFE_TO_WRITE = [
  { glob: "**/*", safe: true },
  { glob: "**/.env*", safe: false },
  { glob: "**/.git", safe: false },
  { glob: "**/.git/**", safe: false },
  { glob: "docs/.git/**", safe: true },
];

/** A path with the name it was called by, where that is another one. */
function at(relative: string, named: string = relative): ResolvedPath {
  return { path: `/project/${relative}`, relative, named, exists: true };
}

interface Case {
  readonly path: string;
  readonly named?: string;
  readonly verdict: FileDecision["verdict"];
}

const READS: readonly Case[] = [
  { path: "src/main.ts", verdict: "allow" },
  { path: "", verdict: "allow" },
  { path: ".envrc", verdict: "allow" },
  { path: "environment.ts", verdict: "allow" },
  { path: ".env/lib/site.py", verdict: "allow" },
  { path: "closed/a.txt", verdict: "deny" },
  { path: "Closed/A.TXT", verdict: "deny" },
  { path: "closed", verdict: "deny" },
  { path: "a.txt", named: "closed/link", verdict: "deny" },
  { path: "closed/a.txt", named: "link", verdict: "deny" },
  { path: "disclosed/a.txt", verdict: "allow" },
  { path: "private/a.txt", verdict: "ask" },
  { path: "PRIVATE/a.txt", verdict: "ask" },
  { path: "private/a.txt", named: "link/a.txt", verdict: "ask" },
  { path: "private/a.txt", named: "closed/link", verdict: "deny" },
  { path: "both/a.txt", verdict: "deny" },
  { path: ".env", verdict: "deny" },
  { path: "a/b/.env", verdict: "deny" },
  { path: ".env.local", verdict: "deny" },
  { path: ".env.", verdict: "deny" },
  { path: ".ENV", verdict: "deny" },
  { path: "a/.Env.Local", verdict: "deny" },
  { path: "certs/server.PEM", verdict: "deny" },
  { path: ".pem", verdict: "deny" },
  { path: "id_rsa", verdict: "deny" },
  { path: "id_rsa.bak", verdict: "deny" },
  { path: ".ssh", verdict: "deny" },
  { path: ".ssh/config", verdict: "deny" },
  { path: "home/.ssh/deep/down/key", verdict: "deny" },
  // A link counts under its own name and under its target's.
  { path: ".env", named: "notes.txt", verdict: "deny" },
  { path: "notes.txt", named: ".env", verdict: "deny" },
  { path: "a/.env", named: "link/.env", verdict: "deny" },
  { path: "src/main.ts", named: "link.ts", verdict: "allow" },
  // What a regular expression takes for the end of a line is an ordinary character of a name.
  ...["\n", "\r", "\r\n", "\u2028", "\u2029"].flatMap((end): readonly Case[] => [
    { path: `a${end}b/.env`, verdict: "deny" },
    { path: `${end}/.env`, verdict: "deny" },
    { path: `a/b${end}/c/.env.local`, verdict: "deny" },
    { path: `.ssh/a${end}b`, verdict: "deny" },
    { path: `a${end}b/c.pem`, verdict: "deny" },
    { path: `a${end}b/c.ts`, verdict: "allow" },
  ]),
];

const WRITES: readonly Case[] = [
  { path: "src/main.ts", verdict: "allow" },
  { path: ".gitignore", verdict: "allow" },
  { path: ".env", verdict: "ask" },
  { path: ".ENV.local", verdict: "ask" },
  { path: ".envrc", verdict: "ask" },
  { path: ".git", verdict: "ask" },
  { path: ".GIT/hooks/pre-commit", verdict: "ask" },
  { path: "vendor/x/.git/config", verdict: "ask" },
  // The last entry that matches decides.
  { path: "docs/.git/description", verdict: "allow" },
  { path: "docs/.git", verdict: "allow" },
  { path: "deep/docs/.git/config", verdict: "ask" },
  // The stricter of a link's two names.
  { path: ".git/config", named: "notes.txt", verdict: "ask" },
  { path: "notes.txt", named: ".git/config", verdict: "ask" },
  { path: "docs/.git/config", named: "link", verdict: "allow" },
  ...["\n", "\u2028"].flatMap((end): readonly Case[] => [
    { path: `a${end}b/main.ts`, verdict: "allow" },
    { path: `a${end}b/.git/config`, verdict: "ask" },
    { path: `.git/a${end}b`, verdict: "ask" },
  ]),
];

/** The cases that are decided in another way than the table says. */
function wrong(cases: readonly Case[], decide: (path: ResolvedPath) => FileDecision) {
  return cases.map((wanted) => ({ ...wanted, got: decide(at(wanted.path, wanted.named)).verdict }))
    .filter(({ verdict, got }) => verdict !== got);
}

Deno.test("what may be read", () => {
  assert.deepEqual(wrong(READS, (path) => mayRead(path, RULES)), []);
});

Deno.test("what may be written without asking", () => {
  assert.deepEqual(wrong(WRITES, (path) => mayWrite(path, SAFE_TO_WRITE)), []);
});

Deno.test("what no entry speaks of is asked about", () => {
  assert.equal(mayWrite(at("main.ts"), []).verdict, "ask");
  assert.equal(mayWrite(at("main.ts"), [{ glob: "docs/**", safe: true }]).verdict, "ask");
});

Deno.test("the reason names the file as it was called, and the rule", () => {
  assert.deepEqual(mayRead(at(".env", "notes.txt"), RULES), {
    verdict: "deny",
    rule: "**/.env",
    reason: "notes.txt may hold secrets and is not readable (deny_read: **/.env)",
  });
  assert.deepEqual(mayWrite(at(".git/config", "notes.txt"), SAFE_TO_WRITE), {
    verdict: "ask",
    rule: "**/.git/**",
    reason: "notes.txt needs your approval (matches **/.git/**)",
  });
});

Deno.test("git's own files are known in any case, by a link's name and by its target's", () => {
  const inGit = (relative: string, named = relative) => isInGit({ relative, named });
  for (const name of [".git", ".git/config", "a/.GIT/config", "vendor/.Git"]) assert.ok(inGit(name), name);
  assert.ok(inGit(".git/config", "notes.txt"));
  assert.ok(inGit("notes.txt", ".git/x"));
  for (const name of [".github/a", "a.git/config", ".gitignore"]) assert.ok(!inGit(name), name);
});
