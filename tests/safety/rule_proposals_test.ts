/** Rules from the log: which answers make one, what the user's choice does, and how long others wait meanwhile. */
import assert from "node:assert/strict";
import type { RequestPermissionRequest } from "../../denops/agent/deps/acp_sdk.ts";
import { ruleText } from "../../denops/agent/policy/rules.ts";
import { META, PERMISSION_OPTIONS } from "../../denops/agent/protocol/extensions.ts";
import type { GateContext } from "../../denops/agent/supervisor/gate/gate.ts";
import { loggedCases } from "../../denops/agent/supervisor/gate/logged_requests.ts";
import { chooseProposal, proposalsOf, unwantedRules } from "../../denops/agent/supervisor/gate/proposals.ts";
import { RuleBook } from "../../denops/agent/supervisor/gate/rule_book.ts";
import { CLEAR, type GateSetup, NO_RULES, setUpGate } from "../support/gate.ts";
import { waitUntil } from "../support/project.ts";

const ALLOW = { verdict: "allow", rules: ["run(npm test)"] } as const;

function question(command: string, force = false): RequestPermissionRequest {
  const access = {
    kind: "command",
    command,
    cwd: "/project",
    timeout: 60,
    access: "write",
    background: false,
  };
  return {
    sessionId: "s",
    toolCall: { toolCallId: "call", title: `run ${command}`, kind: "execute" },
    options: [...PERMISSION_OPTIONS],
    _meta: { [META]: { reason: "a command", force, access } },
  };
}

type Answer = "allow_once" | "reject";

/** Asks three times, and answers each question. */
async function answer(
  { gate, updates }: GateSetup,
  context: GateContext,
  option: Answer,
  request = question("npm test"),
): Promise<void> {
  for (let time = 0; time < 3; time++) {
    const before = updates.length;
    const answering = gate.permission(request, context);
    const number = await waitUntil("the question", () => {
      const update = updates.slice(before).find((one) => one.type === "approval");
      return update?.type === "approval" ? update.request : undefined;
    });
    gate.answer(number, { option });
    await answering;
  }
}

const setUp = () => setUpGate(NO_RULES, CLEAR, "ask");

async function proposed({ context, state }: GateSetup): Promise<readonly string[]> {
  const found = await proposalsOf(context, state.root);
  return found.map(({ verdict, rules }) => `${verdict} ${rules.map(ruleText).join(", ")}`);
}

Deno.test("the user's answers make a rule; forced questions and tainted sessions make none that allows", async () => {
  const trust = { permission: "default", isTainted: true, foreign: undefined, taint: () => {} } as const;
  const foreign = { ...trust, foreign: "mcp" } as const;
  const asksAll = { ...trust, permission: "ask", isTainted: false } as const;
  const cases: readonly (readonly [Partial<GateContext>, boolean, Answer, readonly string[]])[] = [
    [{}, false, "allow_once", ["allow run(npm test)"]],
    [{}, false, "reject", ["deny run(npm test)"]],
    [{}, true, "allow_once", []],
    [{}, true, "reject", []],
    [{ trust }, false, "allow_once", []],
    [{ trust: foreign }, false, "allow_once", []],
    [{ trust: foreign }, false, "reject", ["deny run(npm test)"]],
    [{ trust }, false, "reject", ["deny run(npm test)"]],
    [{ trust: asksAll }, false, "allow_once", []],
  ];
  for (const [more, force, option, expected] of cases) {
    await using setup = await setUp();
    await answer(setup, { ...setup.context, ...more }, option, question("npm test", force));
    assert.deepEqual(await proposed(setup), expected, JSON.stringify([more, force, option]));
  }
});

Deno.test("lines that the log cuts or changes make no rule", async () => {
  for (const line of ["npm test\nrm -rf x", `touch ${"x".repeat(400)}`]) {
    await using setup = await setUp();
    await answer(setup, setup.context, "allow_once", question(line));
    assert.deepEqual(await proposed(setup), [], line.slice(0, 20));
  }
});

Deno.test("a chosen rule answers at once, in this project or in all; an unwanted one is not proposed again", async () => {
  await using setup = await setUp();
  const { context, gate, updates, state } = setup;
  await answer(setup, context, "allow_once");
  await chooseProposal({ ...ALLOW, to: "nowhere" }, context, state.root);
  assert.deepEqual(await proposed(setup), []);
  assert.deepEqual(context.rules.rules(1), []);
  await (await unwantedRules(state.root, context.root)).remove("run(npm test)");
  assert.deepEqual(await proposed(setup), ["allow run(npm test)"]);
  await chooseProposal({ ...ALLOW, to: "all projects" }, context, state.root);
  const other = await RuleBook.open(state.root, "/other", NO_RULES);
  assert.deepEqual(other.rules(1).map(({ source, ...rule }) => `${ruleText(rule)} ${source}`), [
    "run(npm test) all projects",
  ]);
  const before = updates.length;
  await gate.permission(question("npm test"), context);
  assert.deepEqual(updates.slice(before).filter(({ type }) => type === "approval"), [], "nobody is asked");
  await other.remove("run(npm test)", "all projects", 1);
  assert.deepEqual(context.rules.rules(1), []);
});

Deno.test("of the rules of a proposal none is added if one is wrong", async () => {
  await using setup = await setUp();
  const choice = { verdict: "allow", rules: ["run(make)", "run("], to: "project" } as const;
  await assert.rejects(chooseProposal(choice, setup.context, setup.state.root), /Not a rule/);
  assert.deepEqual(setup.context.rules.rules(1), []);
});

Deno.test("the question about a command's changes belongs to the command", async () => {
  const entry = {
    root: "/p",
    time: "2026-01-02T03:04:05.678Z",
    session: "s",
    title: "run make",
    rule: "write",
  };
  const command = { kind: "command", command: "make", cwd: "/p", timeout: 1, background: false } as const;
  const effects = { kind: "effects", terminal: "1" } as const;
  const asked = { answer: "reject", rule: "asked", question: { forced: false, taint: "none" } } as const;
  const found = await loggedCases([
    { ...entry, call: "1", answer: "allowed by rule", accesses: command },
    { ...entry, call: "2", answer: "allowed by rule", accesses: command },
    { ...entry, call: "1", accesses: effects, ...asked },
    { ...entry, call: "2", accesses: effects, answer: "allowed by rule" },
    {
      ...entry,
      call: "3",
      accesses: { ...command, command: "rm x" },
      answer: "denied by rule",
      rule: "mode",
    },
  ]);
  assert.deepEqual(found.map(({ end, changes }) => `${end} ${changes}`), ["rejected plain", "unasked none"]);
});

Deno.test("an engine that gives two commands one id: neither counts as one whose changes the user has seen", async () => {
  const entry = { root: "/p", time: "2026-01-02T03:04:05.678Z", session: "s", call: "1", title: "run" };
  const unasked = { ...entry, answer: "allowed by rule", rule: "write" };
  const command = { kind: "command", cwd: "/p", timeout: 1, background: false } as const;
  const found = await loggedCases([
    { ...unasked, accesses: { ...command, command: "make good" } },
    { ...unasked, accesses: { ...command, command: "make evil" } },
    {
      ...{ ...entry, answer: "allow_once", rule: "asked", question: { forced: false, taint: "none" } },
      accesses: { kind: "effects", terminal: "1" },
    },
  ]);
  assert.deepEqual(found.map(({ end }) => end), ["unasked", "unasked"]);
});

Deno.test("the loop of the supervisor continues while a long log is read", async () => {
  await using setup = await setUp();
  const { context, state } = setup;
  const command = {
    kind: "command",
    cwd: "/project",
    timeout: 1,
    background: false,
    access: "write",
  } as const;
  const question = { forced: false, taint: "none" } as const;
  for (let number = 0; number < 1_000; number++) {
    const line = `make target_${number % 100}`;
    const entry = { root: "/project", title: line, answer: "allow_once", rule: "asked", question };
    context.log.add({ ...entry, accesses: { ...command, command: line } });
  }
  await context.log.entries();
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const found = await proposalsOf(context, state.root);
  clearInterval(timer);
  assert.equal(found.length, 20, "no more at a time");
  assert.ok(turns > 2, `${turns} turns of the loop`);
});
