/** The gate, attacked by an engine that says one thing and does another. */
import assert from "node:assert/strict";
import type { RequestPermissionRequest } from "../../denops/agent/deps/acp_sdk.ts";
import { type ApprovedCommand, type CommandInput, commandKey } from "../../denops/agent/protocol/commands.ts";
import {
  AnswerMeta,
  ApprovalMeta,
  META,
  ours,
  PERMISSION_OPTIONS,
} from "../../denops/agent/protocol/extensions.ts";
import type { CommandView } from "../../denops/agent/supervisor/commands/command_place.ts";
import type { Gate, GateContext } from "../../denops/agent/supervisor/gate/gate.ts";
import { waitUntil } from "../support/project.ts";
import { CLEAR, type GateSetup, NO_RULES, setUpGate, type UserRules } from "../support/gate.ts";

/** `undefined` is no default here. */
async function unheld(rules: UserRules, view: CommandView | undefined): Promise<GateSetup> {
  const setup = await setUpGate(rules);
  return { ...setup, context: { ...setup.context, view } };
}

function input(command: string, more: Partial<ApprovedCommand> = {}): ApprovedCommand {
  return {
    command,
    cwd: "/project",
    timeout: 120,
    access: "write",
    background: false,
    rehearsed: false,
    ...more,
  };
}

/** True once for what was approved. */
function spends(gate: Gate, ...what: Parameters<Gate["spend"]>): boolean {
  return gate.spend(...what) !== undefined;
}

function ask(asked: CommandInput, id = "call_1", force = false): RequestPermissionRequest {
  return {
    sessionId: "s",
    toolCall: { toolCallId: id, title: `run ${asked.command}`, kind: "execute" },
    options: [...PERMISSION_OPTIONS],
    _meta: { [META]: { reason: "a command", force, access: { kind: "command", ...asked } } },
  };
}

async function shown(setup: GateSetup): Promise<number> {
  return await waitUntil("the question", () => {
    const asked = setup.updates.findLast((update) => update.type === "approval");
    return asked?.type === "approval" ? asked.request : undefined;
  });
}

Deno.test("an approval is spent once, and only on exactly what was approved", async () => {
  await using setup = await setUpGate();
  const { gate, context } = setup;
  const approved = input("npm test");
  const answer = gate.permission(ask(approved), context);
  assert.equal(spends(gate, "s", { ...approved, toolCallId: "call_1" }), false, "not before the answer");
  gate.answer(await shown(setup), { option: "allow_once" });
  await answer;
  for (
    const [what, other] of Object.entries({
      "another command": input("npm test; rm -rf ."),
      "another folder": input("npm test", { cwd: "/project/sub" }),
      "with network": input("npm test", { access: "write+network" }),
      "at a higher level": input("npm test", { access: "git" }),
      "at a lower level": input("npm test", { access: "look" }),
      "in the background": input("npm test", { background: true }),
      "for longer": input("npm test", { timeout: 600 }),
      "with other programs": input("npm test", { activation: { before: ["/project/bin"], after: [] } }),
    })
  ) {
    assert.equal(spends(gate, "s", { ...other, toolCallId: "call_1" }), false, what);
  }
  assert.equal(spends(gate, "s", { ...approved, toolCallId: "call_2" }), false, "another call");
  assert.equal(spends(gate, "other", { ...approved, toolCallId: "call_1" }), false, "another session");
  assert.equal(spends(gate, "s", { ...approved, toolCallId: "call_1" }), true);
  assert.equal(spends(gate, "s", { ...approved, toolCallId: "call_1" }), false, "a second time");
});

Deno.test("a rejected, cancelled or stopped request approves nothing, and a late answer neither", async () => {
  for (const end of ["reject", "cancel"] as const) {
    await using setup = await setUpGate();
    const { gate, context } = setup;
    const answer = gate.permission(ask(input("npm test")), context);
    const request = await shown(setup);
    if (end === "reject") gate.answer(request, { option: "reject", reason: "no" });
    else gate.settle(1);
    await answer;
    assert.equal(gate.answer(request, { option: "allow_once" }), false, "it is answered once");
    assert.equal(spends(gate, "s", { ...input("npm test"), toolCallId: "call_1" }), false);
  }
});

Deno.test("an edited command approves the edited one, not the one that was asked", async () => {
  await using setup = await setUpGate();
  const { gate, context } = setup;
  const answer = gate.permission(ask(input("npm test")), context);
  gate.answer(await shown(setup), { option: "allow_once", command: "npm run lint" });
  await answer;
  assert.equal(spends(gate, "s", { ...input("npm test"), toolCallId: "call_1" }), false);
  assert.equal(spends(gate, "s", { ...input("npm run lint"), toolCallId: "call_1" }), true);
});

Deno.test("an edited command is judged once more, and nothing is approved by editing", async () => {
  await using setup = await setUpGate({ allow: [], ask: ["run(make *)"], deny: ["run(rm *)"] });
  const { gate, context, updates } = setup;
  const answer = gate.permission(ask(input("npm test")), context);
  const request = await shown(setup);
  const last = () => {
    const update = updates.at(-1);
    assert.ok(update?.type === "approval_rejudged");
    const { approval } = update;
    assert.equal(approval.request, request);
    assert.ok(approval.kind === "command");
    return approval;
  };
  gate.edit(request, "sudo -n true\nls");
  assert.equal(last().command, "sudo -n true\nls");
  assert.equal(last().severity, "high");
  assert.equal(last().is_edited, true);
  gate.edit(request, "make build");
  assert.equal(last().reason, "rule run(make *) asks");
  assert.equal(last().suggestion, undefined);
  gate.edit(request, "npm test");
  assert.equal(last().is_edited, false);
  assert.equal(last().suggestion, "run(npm test *)");
  gate.edit(request, "rm notes.md");
  assert.equal(last().reason, "denied by rule run(rm *)");
  for (const command of ["npm test", "make build", "rm notes.md"]) {
    assert.equal(spends(gate, "s", { ...input(command), toolCallId: "call_1" }), false, command);
  }
  // Whoever says yes to what a rule forbids gets a no.
  gate.answer(request, { option: "allow_once", command: "rm notes.md" });
  const { outcome } = await answer;
  assert.equal(outcome.outcome === "selected" && outcome.optionId, "reject");
  assert.equal(spends(gate, "s", { ...input("rm notes.md"), toolCallId: "call_1" }), false);
  const before = updates.length;
  gate.edit(request, "npm test");
  assert.equal(updates.length, before, "nothing waits any more");
});

Deno.test("what is edited and allowed for the session is the edited command", async () => {
  await using setup = await setUpGate();
  const { gate, context } = setup;
  const first = gate.permission(ask(input("make build")), context);
  gate.answer(await shown(setup), { option: "allow_session", command: "make check" });
  await first;
  await gate.permission(ask(input("make check"), "call_2"), context);
  assert.equal(spends(gate, "s", { ...input("make check"), toolCallId: "call_2" }), true);
  const asked = gate.permission(ask(input("make build"), "call_3"), context);
  await shown(setup);
  gate.settle(1);
  assert.deepEqual((await asked).outcome, { outcome: "cancelled" });
});

Deno.test("a rule that comes while the question waits counts when it is answered", async () => {
  await using setup = await setUpGate();
  const { gate, context } = setup;
  const answer = gate.permission(ask(input("npm test")), context);
  const request = await shown(setup);
  await context.rules.add("run(npm *)", "deny", "session", 1);
  gate.answer(request, { option: "allow_once" });
  const { outcome } = await answer;
  assert.equal(outcome.outcome === "selected" && outcome.optionId, "reject");
});

Deno.test("what was approved and has not run is not approved any more after a stop", async () => {
  await using setup = await setUpGate();
  const { gate, context } = setup;
  const answer = gate.permission(ask(input("npm test")), context);
  gate.answer(await shown(setup), { option: "allow_once" });
  await answer;
  gate.settle(1);
  assert.equal(spends(gate, "s", { ...input("npm test"), toolCallId: "call_1" }), false);
});

Deno.test("a command that was allowed for the session is that command, not one like it", async () => {
  await using setup = await setUpGate();
  const { gate, context } = setup;
  const first = gate.permission(ask(input("make build")), context);
  gate.answer(await shown(setup), { option: "allow_session" });
  await first;
  await gate.permission(ask(input("make build"), "call_2"), context);
  assert.equal(
    spends(gate, "s", { ...input("make build"), toolCallId: "call_2" }),
    true,
    "the same one runs unasked",
  );
  const before = setup.updates.length;
  const asked = gate.permission(ask(input("make build install"), "call_3"), context);
  await waitUntil("another question", () => setup.updates.length > before);
  gate.settle(1);
  await asked;
  assert.equal(spends(gate, "s", { ...input("make build install"), toolCallId: "call_3" }), false);
});

Deno.test("an approval is for the variables that it shows, once and for the session", async () => {
  await using setup = await setUpGate();
  const { gate, context, updates } = setup;
  const activation = { virtualEnv: "/project/.venv", before: ["/project/.venv/bin"], after: [] };
  const spoofed = { before: ["/project/\u202ebin"], after: ["/project"] };
  const first = gate.permission(ask(input("make build", { activation })), context);
  const request = await shown(setup);
  const view = updates.at(-1);
  assert.ok(view?.type === "approval" && view.kind === "command");
  assert.equal(view.activation, "PATH starts with .venv/bin, VIRTUAL_ENV is .venv");
  assert.equal(view.suggestion, undefined, "a rule would not cover it");
  gate.answer(request, { option: "allow_session" });
  await first;
  const spent = (more: Partial<ApprovedCommand>) =>
    spends(gate, "s", { ...input("make build", more), toolCallId: "call_1" });
  assert.deepEqual([{}, { activation: spoofed }, { activation }].map(spent), [false, false, true]);
  const before = updates.length;
  const other = gate.permission(ask(input("make build", { activation: spoofed }), "call_3"), context);
  await waitUntil("another question", () => updates.length > before);
  assert.match(JSON.stringify(updates.at(-1)), /"PATH starts with [^\u202e"]*bin, PATH ends with \."/);
  gate.settle(1);
  await other;
});

Deno.test("the loop guard and a missing sandbox ask, whatever the rules say; deny wins over allow", async () => {
  const rules = {
    allow: ["run(npm test)", "run(npm test *)"],
    ask: [],
    deny: ["run(npm publish)", "run(npm publish *)"],
  };
  for (const [force, view] of [[true, CLEAR], [false, undefined]] as const) {
    await using setup = await unheld(rules, view);
    const answer = setup.gate.permission(ask(input("npm test"), "call_1", force), setup.context);
    await shown(setup);
    setup.gate.settle(1);
    await answer;
  }
  await using setup = await setUpGate({ ...rules, allow: ["run(npm publish)", "run(npm publish *)"] });
  const { outcome } = await setup.gate.permission(ask(input("npm publish")), setup.context);
  assert.equal(outcome.outcome === "selected" && outcome.optionId, "reject");
  assert.ok(setup.updates.every(({ type }) => type === "denied"), "nobody was asked");
});

Deno.test("what identifies a command cannot be made ambiguous", () => {
  const a = commandKey("s", "c", input('x", "/project'));
  const b = commandKey("s", "c", { ...input("x"), cwd: '/project", "/project' });
  assert.notEqual(a, b);
});

/** Whether it runs unasked, at which access, and what is shown where it asks. */
async function judged(setup: GateSetup, asked: CommandInput, id: string) {
  const { gate, context, updates } = setup;
  const before = updates.length;
  const answer = gate.permission(ask(asked, id), context);
  const question = await Promise.race([
    answer.then(() => undefined),
    waitUntil("a question", () => updates.slice(before).find((update) => update.type === "approval")),
  ]);
  if (question !== undefined) gate.settle(1);
  const { outcome } = await answer;
  const meta = outcome.outcome === "selected" ? ours(AnswerMeta, outcome._meta) : undefined;
  return { question, access: meta?.access, rule: meta?.rule };
}

const without = ({ access: _, ...rest }: ApprovedCommand): CommandInput => rest;

Deno.test("a look runs unasked, at that level and no other", async () => {
  await using setup = await setUpGate();
  for (const command of ["ls", "npm test", 'python -c \'open("x", "w")\'', "echo x > a.txt"]) {
    const { access, rule } = await judged(setup, input(command, { access: "look" }), command);
    assert.deepEqual([access, rule], ["look", "look"], command);
    for (const more of ["write", "git", "look+network"] as const) {
      assert.equal(
        spends(setup.gate, "s", { ...input(command, { access: more }), toolCallId: command }),
        false,
        more,
      );
    }
    assert.equal(
      spends(setup.gate, "s", { ...input(command, { access: "look" }), toolCallId: command }),
      true,
    );
  }
});

Deno.test("a look asks where it reads as dangerous, wants the network, or the user wants to be asked", async () => {
  await using setup = await setUpGate();
  for (
    const [command, access] of [["rm -rf /", "look"], ["ls", "look+network"], [
      "git status",
      "write",
    ]] as const
  ) {
    const { question } = await judged(setup, input(command, { access }), command);
    assert.ok(question?.kind === "command" && question.access === access, command);
  }
  await using asking = await setUpGate(NO_RULES, CLEAR, "ask");
  assert.ok((await judged(asking, input("ls", { access: "look" }), "c")).question);
});

Deno.test("without an access the reading of the line proposes one", async () => {
  await using setup = await setUpGate();
  assert.equal((await judged(setup, without(input("git status && ls")), "c1")).access, "look");
  for (
    const [command, access] of [["echo x > a", "write"], ["git add .", "git"], ["curl x.org", "look+network"]]
  ) {
    const { question } = await judged(setup, without(input(command ?? "")), command ?? "");
    assert.equal(question?.kind === "command" && question.access, access, command);
  }
});

Deno.test("a rule on commands covers no level git; a line that reads as a look runs as one", async () => {
  await using setup = await setUpGate({
    allow: ["run(git *)", "run(make *)", "git(git commit *)"],
    ask: [],
    deny: [],
  });
  assert.ok((await judged(setup, input("git add a.txt", { access: "git" }), "c1")).question);
  assert.ok((await judged(setup, input("make all", { access: "git" }), "c2")).question);
  assert.equal((await judged(setup, input("git commit -m x", { access: "git" }), "c3")).access, "git");
  assert.equal((await judged(setup, input("make all", { access: "write" }), "c4")).access, "write");
  assert.equal((await judged(setup, input("git log", { access: "write" }), "c5")).access, "look");
  assert.equal(
    spends(setup.gate, "s", { ...input("git log", { access: "write" }), toolCallId: "c5" }),
    false,
  );
});

Deno.test("a request whose turn ends before it is judged is cancelled: nothing is shown or granted", async () => {
  await using setup = await setUpGate({ allow: ["run(npm test)"], ask: [], deny: [] });
  const { gate, updates } = setup;
  const ends = gate.ends(1);
  const context: GateContext = { ...setup.context, isOver: () => gate.ends(1) !== ends };
  gate.settle(1);
  for (const command of ["rm -rf build", "npm test"]) {
    assert.deepEqual(await gate.permission(ask(input(command)), context), {
      outcome: { outcome: "cancelled" },
    });
    assert.equal(spends(gate, "s", { ...input(command), toolCallId: "call_1" }), false, command);
  }
  assert.equal(
    await gate.startServer({ name: "lua_ls", command: "lua-language-server", root: "/project" }, context),
    undefined,
  );
  assert.deepEqual(updates, []);
});

Deno.test("for this session is for this folder and this access", async () => {
  await using setup = await setUpGate();
  const first = setup.gate.permission(ask(input("rm -rf build", { cwd: "/project/sub" })), setup.context);
  setup.gate.answer(await shown(setup), { option: "allow_session" });
  await first;
  assert.equal((await judged(setup, input("rm -rf build", { cwd: "/project/sub" }), "c1")).access, "write");
  assert.ok((await judged(setup, input("rm -rf build"), "c2")).question, "another folder");
  const git = input("rm -rf build", { cwd: "/project/sub", access: "git" });
  assert.ok((await judged(setup, git, "c3")).question, "another access");
});

Deno.test("what was agreed to for this session over an overlay does not run on the files themselves", async () => {
  await using setup = await setUpGate(NO_RULES, CLEAR, "ask");
  const context: GateContext = { ...setup.context, rehearses: true };
  const asked = setup.gate.permission(ask(input("make")), context);
  setup.gate.answer(await shown(setup), { option: "allow_session" });
  await asked;
  const before = setup.updates.length;
  await setup.gate.permission(ask(input("make"), "call_2"), context);
  assert.equal(
    setup.updates.slice(before).some(({ type }) => type === "approval"),
    false,
    "the same runs unasked",
  );
  for (const more of [{ direct: true }, { background: true }]) {
    const other = setup.gate.permission(ask(input("make", more), "call_3"), context);
    const request = await waitUntil("another question", () => {
      const last = setup.updates.slice(before).findLast((update) => update.type === "approval");
      return last?.type === "approval" ? last.request : undefined;
    });
    setup.gate.answer(request, { option: "reject" });
    await other;
  }
});

Deno.test("where what may not be read cannot be hidden everything asks, and says why", async () => {
  const masks = {
    complete: false,
    reason: "the project has too many files",
    folders: [],
    files: [],
  } as const;
  await using setup = await setUpGate({ allow: ["run(npm test)"], ask: [], deny: [] }, {
    masks,
    tracked: undefined,
  });
  for (const command of ["ls", "npm test"]) {
    const { question } = await judged(setup, input(command, { access: "look" }), command);
    assert.ok(question !== undefined, command);
    assert.match(question.reason, /cannot be hidden: the project has too many files/);
  }
});

Deno.test("where git's history holds what may not be read, a line of git asks for level git and says why", async () => {
  await using setup = await setUpGate(NO_RULES, { ...CLEAR, tracked: "config/.env" });
  assert.equal((await judged(setup, without(input("ls")), "c1")).access, "look");
  const { question } = await judged(setup, without(input("git log -p")), "c2");
  assert.ok(question?.kind === "command");
  assert.equal(question.access, "git");
  assert.match(question.reason, /git's history contains config\/\.env, which must not be read/);
});

Deno.test("without a sandbox nothing is promised of a command's level", async () => {
  await using setup = await unheld(NO_RULES, undefined);
  const { question } = await judged(setup, input("ls", { access: "look" }), "c");
  assert.ok(question?.kind === "command" && question.access === undefined);
});

Deno.test("a grant says whether what may not be read was hidden when it was given", async () => {
  const masks = {
    complete: false,
    reason: "the project has too many files",
    folders: [],
    files: [],
  } as const;
  for (const [view, isMasked] of [[CLEAR, true], [{ masks, tracked: undefined }, false]] as const) {
    await using setup = await setUpGate(NO_RULES, view);
    const answer = setup.gate.permission(ask(input("make")), setup.context);
    setup.gate.answer(await shown(setup), { option: "allow_once" });
    await answer;
    assert.equal(setup.gate.spend("s", { ...input("make"), toolCallId: "call_1" })?.isMasked, isMasked);
  }
});

Deno.test("an access of an unknown kind, or one that is not whole, is denied unseen and told; so is a command beside it", async () => {
  await using setup = await setUpGate({ allow: ["run(*)", "write(**)"], ask: [], deny: [] });
  const command = { kind: "command", ...input("ls", { access: "look" }) };
  const wrong = [
    { kind: "device", path: "/dev/sda" },
    { kind: "file", files: [] },
    { ...command, cwd: undefined },
    [command],
    ...[undefined, "none at all"],
  ];
  for (const access of wrong) {
    const _meta = access === "none at all" ? null : { [META]: { reason: "why", force: false, access } };
    const { outcome } = await setup.gate.permission({ ...ask(input("ls")), _meta }, setup.context);
    assert.ok(outcome.outcome === "selected" && outcome.optionId === "reject", JSON.stringify(access));
    assert.match(ours(AnswerMeta, outcome._meta)?.reason ?? "", /unknown kind/);
  }
  assert.equal(spends(setup.gate, "s", { ...input("ls", { access: "look" }), toolCallId: "call_1" }), false);
  assert.ok(setup.updates.every(({ type }) => type === "denied"), "nobody was asked");
  const logged = await setup.context.log.entries();
  assert.deepEqual(
    new Set(logged.map(({ answer, rule }) => `${answer}: ${rule}`)),
    new Set(["denied by rule: unknown access"]),
  );
});

/** The same as a sub-agent wants it. */
function forAgent(request: RequestPermissionRequest, agent: ApprovalMeta["agent"]): RequestPermissionRequest {
  const meta = ours(ApprovalMeta, request._meta);
  return { ...request, _meta: { [META]: { ...meta, agent } } };
}

Deno.test("a sub-agent is held to its own mode where that may change less, and never to one that may change more", async () => {
  await using setup = await setUpGate({ ...NO_RULES, allow: ["run(make)"] });
  const { gate, context, updates } = setup;
  const make = input("make", { access: "write" });
  const reads = forAgent(ask(make), { title: "Looks", access: "read" });
  const refused = await gate.permission(reads, context);
  assert.equal(refused.outcome.outcome === "selected" && refused.outcome.optionId, "reject");
  assert.ok(!spends(gate, "s", { ...make, toolCallId: "call_1" }));
  // What is read as no look is not raised either.
  const asLook = forAgent(ask(input("make", { access: "look" })), { title: "Looks", access: "read" });
  const raised = await gate.permission(asLook, context);
  assert.ok(
    raised.outcome.outcome !== "selected" || raised.outcome.optionId === "reject" ||
      ours(AnswerMeta, raised.outcome._meta)?.access === "look",
  );
  const writes = forAgent(ask(make, "call_2"), { title: "Writes", access: "write" });
  const inReading = await gate.permission(writes, { ...context, limits: { access: "read" } });
  assert.equal(inReading.outcome.outcome === "selected" && inReading.outcome.optionId, "reject");
  assert.deepEqual(updates.filter(({ type }) => type === "approval"), []);
});

Deno.test("whatever a sub-agent is called, the approval shows it as one line", async () => {
  await using setup = await setUpGate();
  const { gate, context, updates } = setup;
  const title = "Good\n\u202eevil " + "x".repeat(100_000);
  const waiting = gate.permission(
    forAgent(ask(input("make", { access: "write" }), "call_1", true), { title, access: "write" }),
    context,
  );
  const shown = await waitUntil("the approval", () => updates.find((one) => one.type === "approval"));
  const agent = shown.type === "approval" ? shown.agent ?? "" : "";
  assert.ok(
    agent.startsWith("Good ") && agent.length < 1_000 && !/[\n\u202e]/.test(agent),
    agent.slice(0, 100),
  );
  gate.settle(1);
  await waiting;
});
