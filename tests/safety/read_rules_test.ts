/** Rules on reading: what they deny is not there, and before what they ask about is read somebody is asked. */
import assert from "node:assert/strict";
import type { ApprovalChoice } from "../../denops/agent/supervisor/gate/outcome.ts";
import { OPTION } from "../../denops/agent/protocol/extensions.ts";
import { messagesOf } from "../model/model_messages.ts";
import { ModelServer } from "../model/model_server.ts";
import { BUBBLEWRAP, DENO, openProject } from "../support/engine.ts";
import { type Scratch, scratch } from "../support/project.ts";

const RULES = {
  allow: ["read(.env)", "read(private/**)", "run(cat *)"],
  ask: ["read(private/**)", "read(alias.txt)"],
  deny: ["read(closed/**)"],
};

const ASKED = "private text";
const CLOSED = "closed text";

async function playground(): Promise<Scratch> {
  const around = await scratch({
    "proj/src/a.ts": "const word = 1;\n",
    "proj/private/one.txt": "word before\n",
    "proj/private/two.txt": "word before\n",
    "proj/closed/one.txt": "word before\n",
    "proj/.env": "word before\n",
    "proj/package.json": '{ "name": "demo" }\n',
    "state/.keep": "",
  }, { git: true });
  await around.write("proj/private/one.txt", `word ${ASKED}\n`);
  await around.write("proj/private/two.txt", `word ${ASKED}\n`);
  await around.write("proj/closed/one.txt", `word ${CLOSED}\n`);
  await around.write("proj/.env", `word ${CLOSED}\n`);
  await Deno.symlink("private/one.txt", around.path("proj/link.txt"));
  await Deno.symlink("closed/one.txt", around.path("proj/closed-link.txt"));
  await Deno.symlink("src/a.ts", around.path("proj/alias.txt"));
  return around;
}

interface Case {
  readonly call: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the model gets if every question is answered with yes. */
  readonly says: RegExp;
  /** How often the user is asked. */
  readonly asks: number;
}

const FORBIDDEN = /^Cannot read .+: denied by rule read\(closed\/\*\*\)\.$/;
const LEFT_OUT = String
  .raw`\[2 files were left out: the user is asked before such a file is read \(read\(private/\*\*\)\); use read\]`;
const PASSED_OVER = new RegExp(String.raw`^(?!.*(?:private|closed) text)[^]*${LEFT_OUT}$`);

const CASES: readonly Case[] = [
  { call: "read_file", args: { path: "private/one.txt" }, says: /^1\tword private text$/, asks: 1 },
  // What was allowed once is asked about again.
  { call: "read_file", args: { path: "private/one.txt", limit: 5 }, says: /^1\tword private text$/, asks: 1 },
  { call: "read_file", args: { path: "link.txt" }, says: /^1\tword private text$/, asks: 1 },
  { call: "read_file", args: { path: "alias.txt" }, says: /^1\tconst word/, asks: 1 },
  { call: "read_file", args: { path: "src/a.ts" }, says: /^1\tconst word/, asks: 0 },
  { call: "read_file", args: { path: "PRIVATE/one.txt" }, says: /does not exist/, asks: 1 },
  {
    call: "read_files",
    args: { paths: ["private/one.txt", "src/a.ts", "private/two.txt", "closed/one.txt"] },
    says: /one\.txt ──\n1\tword private text\n[^]*two\.txt ──\n1\tword private text\n[^]*Cannot read closed/,
    asks: 2,
  },
  {
    call: "research",
    args: { operations: [{ type: "read", path: "private/one.txt" }, { type: "search", query: "word" }] },
    says: new RegExp(`word private text[^]*src/a\\.ts[^]*${LEFT_OUT}`),
    asks: 1,
  },
  { call: "search_workspace", args: { query: "word" }, says: PASSED_OVER, asks: 0 },
  { call: "search_workspace", args: { query: "private text" }, says: PASSED_OVER, asks: 0 },
  { call: "search_workspace", args: { query: "word", directory: "private" }, says: PASSED_OVER, asks: 0 },
  {
    call: "search_workspace",
    args: { query: "word", directory: "private/one.txt" },
    says: /^Cannot search: private\/one\.txt is read only after the user is asked .+; use read\.$/,
    asks: 0,
  },
  { call: "find_files", args: { query: "one" }, says: PASSED_OVER, asks: 0 },
  { call: "list_files", args: {}, says: PASSED_OVER, asks: 0 },
  { call: "list_directory", args: { path: "private" }, says: PASSED_OVER, asks: 0 },
  { call: "find_code_changes", args: {}, says: PASSED_OVER, asks: 0 },
  { call: "find_code_changes", args: { since: "2000-01-01" }, says: PASSED_OVER, asks: 0 },
  { call: "find_code_changes", args: { query: "before" }, says: PASSED_OVER, asks: 0 },
  {
    // An edit that fails tells what the file holds.
    call: "edit_file",
    args: { path: "private/two.txt", old_str: "word private", new_str: "b" },
    says: /^Edited private\/two\.txt/,
    asks: 1,
  },
  { call: "move_file", args: { from: "private/two.txt", to: "open.txt" }, says: /^Moved/, asks: 1 },
  { call: "read_file", args: { path: "closed/one.txt" }, says: FORBIDDEN, asks: 0 },
  { call: "read_file", args: { path: "closed-link.txt" }, says: FORBIDDEN, asks: 0 },
  { call: "read_file", args: { path: "CLOSED/one.txt" }, says: FORBIDDEN, asks: 0 },
  { call: "move_file", args: { from: "closed/one.txt", to: "free.txt" }, says: FORBIDDEN, asks: 0 },
  { call: "search_workspace", args: { query: "word", directory: "closed" }, says: FORBIDDEN, asks: 0 },
  // No rule opens what deny_read closes.
  { call: "read_file", args: { path: ".env" }, says: /\(deny_read: \*\*\/\.env\)\.$/, asks: 0 },
];

function scriptOf(cases: readonly Case[]): string {
  return `${
    cases.map(({ call, args }) => `call ${call} ${JSON.stringify(args)}`).join("\n---\n")
  }\n---\nsay Done.`;
}

/** What the model got of each call, and how often each of them asked. */
async function play(cases: readonly Case[], answer: ApprovalChoice, level = DENO) {
  await using around = await playground();
  await using server = await ModelServer.start(scriptOf(cases));
  const setup = { level, root: around.path("proj"), stateDir: around.path("state"), rules: RULES };
  await using project = await openProject({ ...setup, baseUrl: `${server.url}/v1` }, answer);
  await project.play("Go on.");
  const last = server.requests.at(-1);
  assert.ok(last !== undefined);
  const results = messagesOf(last.wire, last.body).flatMap(({ results }) => results);
  assert.equal(results.length, cases.length);
  return results.map(({ id, text }) => ({
    text,
    asked: project.asked.filter(({ tool }) => tool === id),
  }));
}

const nameOf = ({ call, args }: Case) => `${call} ${JSON.stringify(args)}`;

Deno.test({
  name: "read rules: a yes opens one file for one call, and searches pass over what is asked about",
  ignore: Deno.build.os === "windows",
  async fn() {
    const results = await play(CASES, OPTION.allowOnce);
    for (const [index, one] of CASES.entries()) {
      assert.match(results[index]?.text ?? "", one.says, nameOf(one));
      assert.equal(results[index]?.asked.length, one.asks, `${nameOf(one)} asks`);
    }
    const [first] = results.flatMap(({ asked }) => asked);
    assert.equal(first?.reason, "rule read(private/**) asks");
    assert.equal(first?.suggestion, undefined, "no rule could answer");
  },
});

Deno.test({
  name: "read rules: after a no the model has seen nothing, whatever it tries",
  ignore: Deno.build.os === "windows",
  async fn() {
    const more: Case = {
      call: "edit_file",
      args: { path: "private/one.txt", old_str: "nowhere", new_str: "b" },
      says: /rejected/,
      asks: 1,
    };
    const results = await play([more, ...CASES], OPTION.reject);
    for (const [index, one] of [more, ...CASES].entries()) {
      const text = results[index]?.text ?? "";
      assert.ok(!text.includes(ASKED) && !text.includes(CLOSED), `${nameOf(one)}: ${text}`);
      if (one.asks > 0) assert.match(text, /The user rejected this/, nameOf(one));
    }
  },
});

Deno.test({
  name: "read rules: a yes for the session is asked for once",
  ignore: Deno.build.os === "windows",
  async fn() {
    const results = await play(CASES.slice(0, 3), OPTION.allowSession);
    assert.deepEqual(results.map(({ asked }) => asked.length), [1, 0, 0]);
  },
});

Deno.test({
  name: "read rules: commands do not see what is denied or asked about",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const command = "cat private/one.txt closed/one.txt link.txt package.json";
    const cases = [{ call: "run_terminal_command", args: { command }, says: /"name"/, asks: 0 }];
    const [result] = await play(cases, OPTION.allowOnce, BUBBLEWRAP);
    assert.match(result?.text ?? "", /"name": "demo"/);
    assert.ok(!result?.text.includes(ASKED) && !result?.text.includes(CLOSED), result?.text);
  },
});
