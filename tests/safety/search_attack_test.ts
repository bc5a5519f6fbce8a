/** Searches find nothing outside of the project and nothing that may not be read, whatever is asked for. */
import assert from "node:assert/strict";
import type { SearchRequest } from "../../denops/agent/protocol/search.ts";
import { search } from "../../denops/agent/supervisor/project/search.ts";
import type { SearchOptions } from "../../denops/agent/supervisor/project/place.ts";
import { type Scratch, scratch } from "../support/project.ts";
import { sample } from "../support/sample.ts";

const OUTSIDE = "OUTSIDE-6b1e";
const SECRET = "SECRET-90d4";
/** Globs that ripgrep and git read as we do, and some that they read otherwise. */
const RULES = {
  deny_read: ["**/.env", "**/.env.*", "**/*.{crt,pem}"],
  read_rules: { deny: ["**/.[s]sh/**"], ask: ["**/+(ledger|accounts).txt", "plans/**"] },
};

/** A project that is a folder of a larger repository; everything is committed, and changed since. */
async function repository(): Promise<Scratch> {
  const files = (version: string) => ({
    "outside/notes.txt": `word ${OUTSIDE} ${version}\n`,
    "proj/src/a.ts": `word ${version}\n`,
    "proj/.env": `word ${SECRET} ${version}\n`,
    "proj/.ENV.local": `word ${SECRET} ${version}\n`,
    "proj/config/server.pem": `word ${SECRET} ${version}\n`,
    "proj/books/LEDGER.txt": `word ${SECRET} ${version}\n`,
    "proj/plans/next.md": `word ${SECRET} ${version}\n`,
    "proj/.ssh/config": `word ${SECRET} ${version}\n`,
    "proj/new\nline/.env": `word ${SECRET} ${version}\n`,
    "proj/.ssh/new\nline": `word ${SECRET} ${version}\n`,
    "proj/separator\u2028/.env": `word ${SECRET} ${version}\n`,
  });
  const around = await scratch(files("1"), { git: true });
  for (const [path, text] of Object.entries(files("2"))) await around.write(path, text);
  await around.write("proj/untracked/accounts.txt", `word ${SECRET}\n`);
  await around.write("proj/plans/untracked.md", `word ${SECRET}\n`);
  await Deno.symlink("../outside", around.path("proj/to-folder"));
  await Deno.symlink("../outside/notes.txt", around.path("proj/to-file"));
  await Deno.symlink(".env", around.path("proj/to-secret"));
  await Deno.symlink("..", around.path("proj/to-parent"));
  return around;
}

/** Paths as a request may name them. */
const PATHS = [
  "",
  ".",
  ".env",
  ".ENV.local",
  "config",
  ".ssh",
  "books",
  "books/LEDGER.txt",
  "plans",
  "plans/next.md",
  "separator\u2028",
  "to-folder",
  "to-file",
  "to-secret",
  "to-parent",
  "to-parent/outside",
  "..",
  "../outside",
  ":",
  ":/",
  ":(top)",
  ":(top)*",
  ":(top)outside",
  ":(top,glob)**",
  ":/outside/notes.txt",
  ":!nothing",
  ":^nothing",
  ":(exclude)nothing",
  ":(attr:text)",
  "-rf",
  "--no-ignore",
  "src/a.ts",
];

const QUERIES = ["--pre=cat", "-e word", "--files", "(?s).*", "word|\n", "--output=../outside/new.txt"];
const AT_ONCE = 8;

const GLOBS = [
  "**",
  "**/*",
  ".env",
  "**/.env*",
  "*.pem",
  "!nothing",
  ".ssh/**",
  "../**",
  "/**",
  "*\n*",
  "{.env,a.ts}",
];

const GREP = { op: "grep", sessionId: "s", isRegex: true, case: "smart", context: 2, most: 100 } as const;
const FILES = { op: "files", sessionId: "s", most: 100 } as const;
const CHANGES = { op: "changes", sessionId: "s" } as const;

const LOOKING: readonly SearchRequest[] = [
  ...PATHS.flatMap((path) => [{ ...GREP, query: "word", path }, { ...FILES, path }]),
  ...GLOBS.flatMap((glob) => [{ ...GREP, query: "word", path: "", glob }, { ...FILES, path: "", glob }]),
  ...QUERIES.map((query) => ({ ...GREP, query, path: "" })),
];

const GIT: readonly SearchRequest[] = [
  ...PATHS.flatMap((path) => [
    { ...CHANGES, path },
    { ...CHANGES, path, query: "word" },
    { ...CHANGES, path, since: "2000-01-01" },
  ]),
  ...QUERIES.flatMap((query) => [{ ...CHANGES, path: "", query }, { ...CHANGES, path: "", since: query }]),
];

/** What no answer may hold: contents, and names of what may not be listed. */
const UNTOLD = [
  OUTSIDE,
  SECRET,
  "notes.txt",
  "server.pem",
  ".env",
  ".ENV",
  "LEDGER.txt",
  "accounts.txt",
  "next.md",
  "untracked.md",
];

async function answers(
  requests: readonly SearchRequest[],
  options: SearchOptions,
): Promise<readonly string[]> {
  const { signal } = new AbortController();
  const found: string[] = [];
  for (let at = 0; at < requests.length; at += AT_ONCE) {
    found.push(
      ...await Promise.all(
        requests.slice(at, at + AT_ONCE).map(async (request) => {
          // An error names what was asked for.
          return await search(request, options, signal).then(JSON.stringify, () => "refused");
        }),
      ),
    );
  }
  return found;
}

/** A run of all tests makes every second request. */
async function check(all: readonly SearchRequest[], sandboxed: boolean): Promise<void> {
  const requests = sample(all, Math.ceil(all.length / 2));
  await using around = await repository();
  const options = { roots: [around.path("proj")], rules: RULES, sandboxed };
  const found = await answers(requests, options);
  const leaks = requests.map((request, index) => ({ request, answer: found[index] ?? "" }))
    .filter(({ answer }) => UNTOLD.some((text) => answer.includes(text)));
  assert.deepEqual(leaks, []);
  assert.ok(found.some((answer) => answer.includes("src/a.ts")), "what may be found is found");
  await assert.rejects(Deno.lstat(around.path("outside/new.txt")), Deno.errors.NotFound);
}

for (const sandboxed of Deno.build.os === "linux" ? [true, false] : [false]) {
  Deno.test({
    name: `ripgrep stays in the project and finds no secret (${sandboxed ? "bubblewrap" : "no sandbox"})`,
    ignore: Deno.build.os === "windows",
    fn: () => check(LOOKING, sandboxed),
  });
}

Deno.test({
  // Without a sandbox: inside one the rest of this repository is not even there.
  name: "git stays in the project, even if the repository is larger, and tells no secret",
  ignore: Deno.build.os === "windows",
  fn: () => check(GIT, false),
});

Deno.test("a wrong pattern is told by what is wrong with it, a name as it is written", async () => {
  await using project = await scratch({ "a.ts": "a\n" }, { git: true });
  await project.write("ünï.ts", "new\n");
  const options = { roots: [project.root], rules: RULES, sandboxed: false };
  const signal = new AbortController().signal;
  await assert.rejects(search({ ...GREP, query: "(", path: "" }, options, signal), /unclosed group$/);
  const answer = await search({ ...CHANGES, path: "" }, options, signal);
  assert.ok(answer.op === "changes" && answer.text.includes("?? ünï.ts"), JSON.stringify(answer));
});

Deno.test("a glob for all files finds nothing that git ignores, and nothing of git itself", async () => {
  await using project = await scratch({ ".gitignore": "build/\n", "src/a.ts": "ref: word\n" }, { git: true });
  await project.write("build/o.js", "ref: word\n");
  const options = { roots: [project.root], rules: RULES, sandboxed: false };
  for (const glob of ["*", "**", "**/*", "**/**", "*/*", ".git/**", "{.git,src}/**"]) {
    for (
      const request of [{ ...GREP, query: "ref", path: "", glob }, { ...FILES, path: "", glob }]
    ) {
      const found = JSON.stringify(await search(request, options, new AbortController().signal));
      assert.doesNotMatch(found, /HEAD|hooks/, `${request.op} ${glob}`);
      if (!glob.includes("git")) assert.match(found, /a\.ts/, `${request.op} ${glob}`);
      if (glob.startsWith("**") || glob === "*") assert.doesNotMatch(found, /o\.js/, `${request.op} ${glob}`);
    }
  }
});
