import assert from "node:assert/strict";
import { setUpGate } from "../../../../tests/support/gate.ts";
import { scratch } from "../../../../tests/support/project.ts";
import type { Access } from "../../protocol/access.ts";
import { UNASKED } from "../../policy/session_permission.ts";
import { ApprovalLog, logLines } from "./approval_log.ts";

const entry = (title: string) => ({
  ...{ root: "/p", title, answer: "allow_once", rule: "asked" },
  accesses: { kind: "nothing" } as const,
});
const logged = (title: string) => ({ ...entry(title), time: "2026-01-02T03:04:05.678Z" });

Deno.test("two Neovims write one log; a full file is put aside once, and the older one goes", async () => {
  await using state = await scratch();
  const logs = [new ApprovalLog(state.root, 2_000), new ApprovalLog(state.root, 2_000)];
  for (let number = 0; number < 100; number++) {
    for (const [at, log] of logs.entries()) log.add(entry(`run ${at} ${number}`));
    if (number % 10 === 0) await Promise.all(logs.map((log) => log.entries()));
  }
  await Promise.all(logs.map((log) => log.entries()));
  const all = await logs[0]?.entries() ?? [];
  const sizes = await Promise.all(
    ["approvals.jsonl", "approvals.1.jsonl"].map(async (name) => (await Deno.stat(state.path(name))).size),
  );
  for (const size of sizes) assert.ok(size < 3_000, `${size} bytes`);
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) > 2_000, "not everything was put aside");
  for (const at of [0, 1]) {
    const own = all.flatMap(({ title }) => new RegExp(`^run ${at} (\\d+)$`).exec(title)?.[1] ?? []).map(
      Number,
    );
    const first = own[0] ?? 0;
    assert.deepEqual(
      own,
      Array.from({ length: 100 - first }, (_, index) => first + index),
      "the newest, no gap",
    );
  }
});

Deno.test("a line that a crash has left half written is passed over", async () => {
  await using state = await scratch();
  const log = new ApprovalLog(state.root);
  log.add(entry("first"));
  await log.entries();
  await Deno.writeTextFile(state.path("approvals.jsonl"), '{"time": "2026\n{"root": 1}\n', { append: true });
  log.add(entry("second"));
  assert.deepEqual((await log.entries()).map(({ title }) => title), ["first", "second"]);
});

Deno.test("what was accessed is kept with it, shortened; whatever it is, its line is shown", async () => {
  await using state = await scratch();
  const log = new ApprovalLog(state.root);
  const line = { kind: "command", cwd: "/p", timeout: 1, background: false, access: "write" } as const;
  for (const command of ["make", " ", "x".repeat(1e6)]) {
    log.add({ ...entry("run"), accesses: { ...line, command } });
  }
  const entries = await log.entries();
  assert.deepEqual(entries.map(({ accesses }) => accesses.kind), ["command", "nothing", "command"]);
  assert.match(logLines(entries)[0] ?? "", /allowed by you {2}run make {2}\(write\)$/);
  assert.ok((await Deno.stat(state.path("approvals.jsonl"))).size < 3_000);
});

Deno.test("an engine that lies in its titles: the log names what was judged", async () => {
  await using state = await scratch();
  const log = new ApprovalLog(state.root);
  const path = (named: string) => ({
    path: `/p/${named}`,
    link: named,
    relative: named,
    named,
    exists: true,
  });
  const accesses: readonly Access[] = [
    { kind: "command", cwd: "/p", timeout: 1, background: false, command: "make evil\nrm -rf x" },
    {
      kind: "file",
      files: [{ access: "write", path: path("src/a.ts") }, { access: "write", path: path("e") }],
    },
    { kind: "fetch", url: "https://evil.example/" },
  ];
  for (const access of accesses) log.add({ ...entry("edit src/a.ts"), accesses: access });
  assert.deepEqual((await log.entries()).map(({ title }) => title), [
    "run make evil ⏎ rm -rf x",
    "write e (edit src/a.ts)",
    "fetch https://evil.example/",
  ]);
});

Deno.test("questions about language servers and about skills are of different kinds", async () => {
  await using setup = await setUpGate();
  const { gate, context } = setup;
  const answers = [
    gate.startServer({ name: "lua_ls", command: "lua-language-server", root: "/project" }, context),
    gate.confirm("use the project's skill pdf", "the model follows it", context),
  ];
  for (const request of [1, 2]) gate.answer(request, { option: "allow_once" });
  await Promise.all(answers);
  const kinds = (await context.log.entries()).map(({ accesses: access }) =>
    access.kind === "ask" && access.about
  );
  assert.deepEqual(kinds, ["server", "trust"]);
});

Deno.test("the last ones are shown, one line each, and it is said that there are more", () => {
  assert.deepEqual(logLines([logged("a"), logged("b\n  c\u001b[31m")]), [
    "2026-01-02 03:04:05  allowed by you  a",
    "2026-01-02 03:04:05  allowed by you  b ⏎ c␛[31m",
  ]);
  const rules = { answer: "allowed by rule", rule: "run(npm *)" };
  const answers = logLines([{ ...logged("a"), ...rules }, { ...logged("b"), ...rules, rule: "write" }]);
  assert.deepEqual(answers.map((line) => line.slice(21)), [
    "allowed by rule  a  (run(npm *))",
    "allowed automatically  b  (write)",
  ]);
  const many = Array.from({ length: 2_005 }, (_, index) => logged(`run ${index}`));
  const lines = logLines(many);
  assert.equal(lines.length, 2_001);
  assert.equal(lines[0], "[the last 2000; 5 older ones are not shown]");
  assert.match(lines[1] ?? "", /run 5$/);
  assert.match(lines.at(-1) ?? "", /run 2004$/);
});

Deno.test("the help has every phrase about how a call was approved", async () => {
  await using state = await scratch();
  const log = new ApprovalLog(state.root);
  const help = (await Deno.readTextFile(new URL("../../../../doc/agent.txt", import.meta.url)))
    .replace(/\s+/g, " ");
  const command = { kind: "command", command: "x", cwd: "/p", timeout: 1, background: false } as const;
  const effects = { kind: "effects", terminal: "1" } as const;
  const always = { answer: "allow_always", rule: "run(npm test *)" };
  const automatic = (rule: string) => ({ answer: "allowed by rule", rule });
  const phrases = [
    ...["allow_once", "allow_session"].flatMap((answer) => [
      log.add({ ...entry("x"), answer, accesses: command }),
      log.add({ ...entry("x"), answer, accesses: effects }),
    ]),
    log.add({ ...entry("x"), edited: true, accesses: command }),
    log.add({ ...entry("x"), ...always, accesses: command }),
    ...["run(npm test *)", "look", "try", "write", "allowed for this session", "a sub-agent"]
      .map((rule) => log.add({ ...entry("x"), ...automatic(rule), accesses: command })),
    ...Object.values(UNASKED).map((rule) => log.add({ ...entry("x"), ...automatic(rule) })),
    ...["the command was allowed", "commands = project"]
      .map((rule) => log.add({ ...entry("x"), ...automatic(rule), accesses: effects })),
  ];
  assert.deepEqual(phrases.filter((phrase) => phrase === undefined || !help.includes(phrase)), []);
});
