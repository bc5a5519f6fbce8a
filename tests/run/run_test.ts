/** `agent run` in CI: real programs without Neovim; only the model is scripted. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { RunEvent } from "../../denops/agent/run/events.ts";
import { waitForNone } from "../support/processes.ts";
import { git, scratch } from "../support/project.ts";
import { run, runPlace, type RunResult, startRun } from "../support/run.ts";
import { callRun } from "../support/run_caller.ts";

/** Every line is an event of the documented schema. */
function eventsOf({ stdout }: RunResult): readonly RunEvent[] {
  return stdout.trimEnd().split("\n").map((line) => RunEvent.parse(JSON.parse(line)));
}

const of = <Type extends RunEvent["type"]>(events: readonly RunEvent[], type: Type) =>
  events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type);

const BROKEN = {
  "add.sh": "echo $(($1 - $2))\n",
  "test.sh": 'test "$(sh add.sh 1 2)" = 3 || { echo "1 + 2 is not 3"; exit 1; }\n',
};
const FIX = `
expect echo $(($1 - $2))
say I run the test first.
call run {"command": "sh test.sh"}
---
expect 1 + 2 is not 3
call edit_file {"path": "add.sh", "edits": [{"old_text": "-", "new_text": "+"}]}
---
call run {"command": "sh test.sh"}
---
say \x1b[31mFixed\x1b[0m: add.sh subtracted.
`;

Deno.test("a script fixes a failing test: the text comes from a pipe, the answer goes to standard output", async () => {
  await using place = await runPlace({ script: FIX, project: BROKEN });
  // Nobody has typed the address, so it stays text.
  const stdin = "Fix @add.sh, see @http://10.0.0.1/\n";
  const { code, stdout, stderr } = await run(place, ["run", "--max-turns", "9"], { stdin });
  assert.equal(code, 0, stderr);
  assert.deepEqual(place.server.problems, []);
  // Control characters of the model are displayed, never interpreted.
  assert.equal(stdout, "␛[31mFixed␛[0m: add.sh subtracted.\n");
  assert.match(
    stderr,
    /^I run the test first\.\n✗ run sh test\.sh .*\n✓ edit add\.sh {2}\+1 −1\n✓ run sh test\.sh .*\nmodified add\.sh {2}\+1 −1\nsession [0-9a-f-]{36}\n$/,
  );
  assert.equal(await place.project.read("add.sh"), "echo $(($1 + $2))\n");
  assert.equal(place.server.titleRequests.length, 0);
});

const REFUSED = `
call write_file {"path": ".env", "content": "KEY=1"}
---
expect Not allowed: no rule allows it, and nobody can approve it in this run.
call write_file {"path": ".git/hooks/pre-commit", "content": "true"}
---
call run {"command": "rm -r src"}
---
expect denied by rule run(rm *)
say Nothing was changed.
`;

const AGAIN = `
new-history
call write_file {"path": ".env", "content": "KEY=1"}
---
call run {"command": "cd src\\ncurl -s https://example.org"}
---
call run {"command": "touch src/new.ts"}
---
expect was not kept: no rule allows it
call run {"command": "touch src/.env src/b.ts"}
---
call write_file {"path": "gitlink/hooks/new", "content": "true"}
---
call read_skill {"name":"build"}
---
expect the user has not approved the skill build
say Done.
`;

const skill = (name: string) =>
  `---\nname: ${name}\ndescription: About ${name}.\n---\nThe text of ${name}.\n`;

Deno.test("without a rule it is refused, exit 3: deny rules, git's own files and skills that nobody approves; nothing is stored", async () => {
  await using place = await runPlace({
    script: REFUSED,
    project: { "src/a.ts": "1\n" },
    config: { rules: { deny: ["run(rm *)"] } },
  });
  const allowed = ["run(rm *)", "write(.git/**)"].flatMap((rule) => ["--allow", rule]);
  const refused = await run(place, ["run", "--json", ...allowed, "clean up"]);
  assert.equal(refused.code, 3, refused.stderr);
  const events = eventsOf(refused);
  assert.deepEqual(of(events, "refused").map(({ title, rule }) => [title, rule]), [
    ["write .env", "write(.env)"],
    ["run rm -r src", undefined],
  ]);
  assert.match(refused.stderr, /^$/);
  assert.match(of(events, "call").find(({ title }) => title.includes("pre-commit"))?.status ?? "", /failed/);
  const [end] = of(events.slice(-1), "end");
  assert.deepEqual([end?.code, end?.reason, end?.answer], [3, "refused", "Nothing was changed."]);
  assert.equal(await git(place.project.root, "status", "--porcelain"), "");
  assert.equal(await git(place.project.root, "ls-files"), "src/a.ts");

  await Deno.symlink(".git", place.project.path("gitlink"));
  await place.project.write(".agents/skills/build/SKILL.md", skill("build"));
  const folder = join(place.environment.HOME ?? "", ".claude/skills/notes");
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(join(folder, "SKILL.md"), skill("notes"));
  place.server.play(AGAIN);
  const again = await callRun(place, ["--allow", "write(.env)", "/notes Take them"]);
  assert.deepEqual([again.code, again.stdout], [3, "Done.\n"], again.stderr);
  assert.equal(await place.project.read(".env"), "KEY=1");
  const [skills, written, curl, touched, sensitive, hook, read, ...others] = again.stderr.split("\n");
  assert.match(skills ?? "", /^Skills of this project need your approval: build\./);
  assert.match(written ?? "", /^✓ write \.env /);
  assert.match(
    curl ?? "",
    /^✗ refused: run cd src ⏎ curl -s https:\/\/example\.org \(.*\); --allow 'run\(cd src\)' --allow 'run\((curl -s https:\/\/example\.org)\)' .*--allow 'network\(\1\)' allow it$/,
  );
  assert.equal(
    touched,
    "✗ refused: run touch src/new.ts (it changed 1 file, which no rule keeps); --allow 'run(touch *)' allows it",
  );
  assert.equal(
    sensitive,
    "✗ refused: run touch src/.env src/b.ts (it changed 2 files, and no rule keeps the sensitive ones: src/.env)",
  );
  assert.equal(
    hook,
    "✗ refused: write gitlink/hooks/new (gitlink/hooks/new needs your approval: git obeys it)",
  );
  assert.match(read ?? "", /^✗ refused: use the project's skill build \(.*\)$/);
  // Nobody approves the project's skill; the user's is sent and read.
  const sent = JSON.stringify(place.server.requests.at(-1)?.body);
  assert.match(sent, /- notes: About notes\./);
  assert.match(sent, /The text of notes\./);
  assert.doesNotMatch(sent, /About build|The text of build/);
  assert.match(others.join("\n"), /^✗ read the skill build .*\ncreated {2}\.env .*\nsession .*\n$/);
  await assert.rejects(Deno.lstat(place.state.path("rules")), Deno.errors.NotFound);
  assert.deepEqual(place.server.problems, []);
});

const PRICE = { models: { scripted: { price: { input: 1_000, output: 1_000 } } } };

Deno.test("a cap of money ends the turn with exit 4; a turn that is given up has failed, exit 1", async () => {
  await using place = await runPlace({
    script: `call read_file {"path": "a.txt"}\nusage 100 100\n---\nsay Not reached.`,
    project: { "a.txt": "one\n" },
    config: PRICE,
  });
  const money = await callRun(place, ["--json", "--max-usd", "0.05", "read"]);
  assert.equal(money.code, 4, money.stderr);
  const [end] = of(eventsOf(money).slice(-1), "end");
  assert.deepEqual([end?.reason, end?.cost], ["cap", 0.2]);
  assert.match(money.stderr, /^Stopped at a limit: this session has cost 0\.20; the cap is 0\.05 /m);
  assert.equal(place.server.requests.length, 1);

  const broken = Array.from({ length: 3 }, () => "stop =MALFORMED_FUNCTION_CALL").join("\n---\n");
  place.server.play(`new-history\n${broken}`);
  const given = await callRun(place, ["--json", "read"]);
  assert.equal(given.code, 1, given.stderr);
  const [failed] = of(eventsOf(given).slice(-1), "end");
  assert.deepEqual([failed?.reason, failed?.error], [
    "failed",
    "The model's tool calls cannot be read. Ask again, or choose another model.",
  ]);
});

Deno.test("Ctrl-C during a command stops the turn, exit 130: no change of it is kept, and the session continues", async () => {
  await using place = await runPlace({
    script: `call run {"command": "echo changed > a.txt; echo new > b.txt; sleep 600"}`,
    project: { "a.txt": "one\n" },
  });
  const process = startRun(place, ["run", "--json", "--allow", "run(echo *)", "change a.txt"]);
  await process.stdin.close();
  let stdout = "";
  for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) {
    const before = stdout;
    stdout += text;
    // A terminal sends it to all processes of the group.
    const isRunning = (output: string) => output.includes('"status":"running"');
    if (isRunning(stdout) && !isRunning(before)) Deno.kill(-process.pid, "SIGINT");
  }
  const { code } = await process.status;
  await process.stderr.cancel();
  const [end] = of(eventsOf({ code, stdout, stderr: "" }).slice(-1), "end");
  // The engine has ended the turn, and has not died.
  assert.deepEqual([code, end?.code, end?.reason, end?.error], [130, 130, "stopped", undefined]);
  assert.equal(await git(place.project.root, "status", "--porcelain"), "");
  await waitForNone([place.project.root]);

  place.server.play(`new-history\nexpect Go on\ncall read_file {"path": "a.txt"}`);
  const next = await callRun(place, ["--session", "last", "--json", "--max-turns", "1", "Go on"]);
  assert.equal(next.code, 4, next.stderr);
  const [start] = of(eventsOf(next), "start");
  assert.equal(start?.session, end?.session);
  assert.match(next.stderr, /^Stopped at a limit: 1 step done\.$/m);
  const messages = JSON.stringify(place.server.requests.at(-1)?.body.messages);
  assert.ok(messages.includes("change a.txt"), messages);
  assert.deepEqual(place.server.problems, []);
});

const UNHELD = `
call run {"command": "sh make.sh"}
---
call run {"command": "sh other.sh"}
---
say Done.
`;

Deno.test("without a sandbox commands are refused in one line; --unsandboxed runs those of --allow, and says so", async () => {
  await using place = await runPlace({
    script: UNHELD,
    project: { "make.sh": "echo made > made.txt\n", "other.sh": "echo other > other.txt\n" },
    config: { sandbox: "off", rules: { allow: ["run(sh other.sh)"] } },
  });
  const refused = await callRun(place, ["--allow", "run(sh make.sh)", "make"]);
  assert.equal(refused.code, 3, refused.stderr);
  assert.equal(
    refused.stderr.replace(/\nsession .*\n/, ""),
    ["make", "other"].map((name) =>
      `✗ refused: run sh ${name}.sh (commands do not run here without a sandbox; see --unsandboxed)`
    ).join("\n"),
  );
  assert.equal(await git(place.project.root, "status", "--porcelain"), "");

  place.server.play(`new-history\n${UNHELD}`);
  const unheld = await callRun(place, ["--unsandboxed", "--allow", "run(sh make.sh)", "make"]);
  assert.equal(unheld.code, 3, unheld.stderr);
  assert.equal(await git(place.project.root, "status", "--porcelain"), "?? made.txt");
  assert.match(unheld.stderr, /^--unsandboxed: commands that --allow covers run without a sandbox/m);
  assert.match(unheld.stderr, /^Runs without a sandbox: run sh make\.sh$/m);
  assert.match(
    unheld.stderr,
    /^✗ refused: run sh other\.sh \(commands do not run here without a sandbox; no --allow covers sh other\.sh\)$/m,
  );
  const log = await place.state.read("approvals.jsonl");
  assert.match(log, /"answer":"allowed by rule","rule":"run\(sh make\.sh\) without a sandbox"/);

  assert.deepEqual(place.server.problems, []);
});

Deno.test("a wrong command line or configuration is exit 2, one clear line, and no request", async () => {
  await using place = await runPlace({ script: "say Not reached." });
  await using empty = await scratch();
  const session = await run(place, ["run", "--session", "last", "x"]);
  assert.equal(session.code, 2);
  assert.match(session.stderr, /^Cannot continue a session of .*: it has none\.\n$/);
  const rule = await callRun(place, ["--json", "--allow", "rm", "x"]);
  assert.equal(rule.code, 2);
  const [end] = of(eventsOf(rule), "end");
  assert.deepEqual([end?.code, end?.reason], [2, "usage"]);
  assert.match(end?.error ?? "", /^--allow: Not a rule: rm\. /);
  const both = await callRun(place, ["--allow", "run(a), network(a)", "x"]);
  assert.deepEqual([both.code, both.stderr], [
    2,
    "--allow: Not a rule: run(a), network(a). These are several rules: give each one separately.\n",
  ]);
  const mode = await callRun(place, ["--mode", "none", "x"]);
  assert.equal(mode.code, 2);
  assert.match(mode.stderr, /^Unknown mode: none\. The modes are agent, [a-z, -]+\.\n$/);
  const key = await callRun(place, ["--json", "x"], { TEST_API_KEY: "" });
  assert.equal(key.code, 2);
  assert.deepEqual(eventsOf(key).map((event) => [event.type, event.type === "end" && event.error]), [
    ["end", 'Cannot use test: TEST_API_KEY is not set. Set it, or providers.test.api_key to "cmd:…".'],
  ]);
  await place.configure({ limits: { max_iteration: 3 } });
  const unknown = await callRun(place, ["x"]);
  assert.deepEqual(
    [unknown.code, unknown.stderr.replace(/\/\S*config/, "config")],
    [2, "Cannot use config.json: unknown option limits.max_iteration. See :help agent-options in Neovim.\n"],
  );
  await place.configure({ limits: { max_iterations: 0 }, model: 1 });
  const several = await callRun(place, ["x"]);
  assert.equal(several.code, 2);
  assert.match(several.stderr, /^Invalid options: .*limits\.max_iterations: must be at least 1\..*\n$/);
  const missing = await callRun(place, ["x"], { HOME: empty.root });
  const [first = "", ...lines] = missing.stderr.trimEnd().split("\n");
  assert.equal(
    first,
    `Cannot start: ${
      empty.path(".config/agent.nvim/config.json")
    } does not exist. Run :Agent config export in Neovim, or write:`,
  );
  assert.deepEqual(JSON.parse(lines.join("\n")), { provider: "anthropic" });
  assert.deepEqual([lines.length, missing.code], [3, 2]);
  assert.equal(place.server.requests.length, 0);
});
