/** The gate, attacked by an engine that says one thing and does another. */
import assert from "node:assert/strict";
import type { RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { type CommandInput, commandKey } from "../denops/agent/protocol/commands.ts";
import { META } from "../denops/agent/protocol/extensions.ts";
import type { Update } from "../denops/agent/protocol/ui.ts";
import { ApprovalLog } from "../denops/agent/supervisor/approval_log.ts";
import { Gate, type GateContext } from "../denops/agent/supervisor/gate.ts";
import { RuleBook, type UserRules } from "../denops/agent/supervisor/rule_book.ts";
import { type Scratch, scratch, waitUntil } from "./support/project.ts";

const NO_RULES: UserRules = { allow: [], ask: [], deny: [] };

interface Setup extends AsyncDisposable {
  readonly gate: Gate;
  readonly context: GateContext;
  readonly updates: Update[];
  readonly state: Scratch;
}

async function setUp(rules: UserRules = NO_RULES, sandboxed = true): Promise<Setup> {
  const state = await scratch();
  const updates: Update[] = [];
  let request = 0;
  const gate = new Gate((update) => updates.push(update), () => ++request);
  const book = await RuleBook.open(state.root, "/project", rules);
  const context = {
    chat: 1,
    root: "/project",
    rules: book,
    log: new ApprovalLog(state.root),
    sandboxed,
    allowSafe: true,
  };
  return { gate, context, updates, state, [Symbol.asyncDispose]: () => state[Symbol.asyncDispose]() };
}

function input(command: string, more: Partial<CommandInput> = {}): CommandInput {
  return { command, cwd: "/project", timeout: 120, network: false, background: false, ...more };
}

function ask(asked: CommandInput, id = "call_1", force = false): RequestPermissionRequest {
  return {
    sessionId: "s",
    toolCall: { toolCallId: id, title: `run ${asked.command}`, kind: "execute", rawInput: asked },
    options: [],
    _meta: { [META]: { reason: "a command", force } },
  };
}

async function shown(setup: Setup): Promise<number> {
  return await waitUntil("the question", () => {
    const asked = setup.updates.findLast((update) => update.type === "approval");
    return asked?.type === "approval" ? asked.request : undefined;
  });
}

Deno.test("an approval is spent once, and only on exactly what was approved", async () => {
  await using setup = await setUp();
  const { gate, context } = setup;
  const approved = input("npm test");
  const answer = gate.permission(ask(approved), context);
  assert.equal(gate.spend("s", { ...approved, toolCallId: "call_1" }), false, "not before the answer");
  gate.answer(await shown(setup), { option: "allow_once" });
  await answer;
  for (
    const [what, other] of Object.entries({
      "another command": input("npm test; rm -rf ."),
      "another folder": input("npm test", { cwd: "/project/sub" }),
      "with network": input("npm test", { network: true }),
      "in the background": input("npm test", { background: true }),
      "for longer": input("npm test", { timeout: 600 }),
    })
  ) {
    assert.equal(gate.spend("s", { ...other, toolCallId: "call_1" }), false, what);
  }
  assert.equal(gate.spend("s", { ...approved, toolCallId: "call_2" }), false, "another call");
  assert.equal(gate.spend("other", { ...approved, toolCallId: "call_1" }), false, "another session");
  assert.equal(gate.spend("s", { ...approved, toolCallId: "call_1" }), true);
  assert.equal(gate.spend("s", { ...approved, toolCallId: "call_1" }), false, "a second time");
});

Deno.test("a rejected, cancelled or stopped request approves nothing, and a late answer neither", async () => {
  for (const end of ["reject", "cancel"] as const) {
    await using setup = await setUp();
    const { gate, context } = setup;
    const answer = gate.permission(ask(input("npm test")), context);
    const request = await shown(setup);
    if (end === "reject") gate.answer(request, { option: "reject", reason: "no" });
    else gate.settle(1);
    await answer;
    assert.equal(gate.answer(request, { option: "allow_once" }), false, "it is answered once");
    assert.equal(gate.spend("s", { ...input("npm test"), toolCallId: "call_1" }), false);
  }
});

Deno.test("an edited command approves the edited one, not the one that was asked", async () => {
  await using setup = await setUp();
  const { gate, context } = setup;
  const answer = gate.permission(ask(input("npm test")), context);
  gate.answer(await shown(setup), { option: "allow_once", command: "npm run lint" });
  await answer;
  assert.equal(gate.spend("s", { ...input("npm test"), toolCallId: "call_1" }), false);
  assert.equal(gate.spend("s", { ...input("npm run lint"), toolCallId: "call_1" }), true);
});

Deno.test("an edited command is judged once more, and nothing is approved by editing", async () => {
  await using setup = await setUp({ allow: [], ask: ["run(make *)"], deny: ["run(rm *)"] });
  const { gate, context, updates } = setup;
  const answer = gate.permission(ask(input("npm test")), context);
  const request = await shown(setup);
  const last = () => {
    const update = updates.at(-1);
    assert.ok(update?.type === "approval_rejudged");
    assert.equal(update.approval.request, request);
    return update.approval;
  };
  gate.edit(request, "sudo -n true\nls");
  assert.equal(last().command, "sudo -n true\nls");
  assert.equal(last().severity, "high");
  assert.equal(last().is_edited, true);
  gate.edit(request, "make build");
  assert.equal(last().reason, "a rule asks: run(make *)");
  assert.equal(last().suggestion, undefined);
  gate.edit(request, "npm test");
  assert.equal(last().is_edited, undefined);
  assert.equal(last().suggestion, "run(npm test *)");
  gate.edit(request, "rm notes.md");
  assert.equal(last().reason, "a rule forbids it: run(rm *)");
  for (const command of ["npm test", "make build", "rm notes.md"]) {
    assert.equal(gate.spend("s", { ...input(command), toolCallId: "call_1" }), false, command);
  }
  // Whoever says yes to what a rule forbids gets a no.
  gate.answer(request, { option: "allow_once", command: "rm notes.md" });
  const { outcome } = await answer;
  assert.equal(outcome.outcome === "selected" && outcome.optionId, "reject");
  assert.equal(gate.spend("s", { ...input("rm notes.md"), toolCallId: "call_1" }), false);
  const before = updates.length;
  gate.edit(request, "npm test");
  assert.equal(updates.length, before, "nothing waits any more");
});

Deno.test("what is edited and allowed for the session is the edited command", async () => {
  await using setup = await setUp();
  const { gate, context } = setup;
  const first = gate.permission(ask(input("make build")), context);
  gate.answer(await shown(setup), { option: "allow_session", command: "make check" });
  await first;
  await gate.permission(ask(input("make check"), "call_2"), context);
  assert.equal(gate.spend("s", { ...input("make check"), toolCallId: "call_2" }), true);
  const asked = gate.permission(ask(input("make build"), "call_3"), context);
  await shown(setup);
  gate.settle(1);
  assert.deepEqual((await asked).outcome, { outcome: "cancelled" });
});

Deno.test("a rule that comes while the question waits counts when it is answered", async () => {
  await using setup = await setUp();
  const { gate, context } = setup;
  const answer = gate.permission(ask(input("npm test")), context);
  const request = await shown(setup);
  await context.rules.add("run(npm *)", "deny", "session", 1);
  gate.answer(request, { option: "allow_once" });
  const { outcome } = await answer;
  assert.equal(outcome.outcome === "selected" && outcome.optionId, "reject");
});

Deno.test("what was approved and has not run is not approved any more after a stop", async () => {
  await using setup = await setUp();
  const { gate, context } = setup;
  const answer = gate.permission(ask(input("npm test")), context);
  gate.answer(await shown(setup), { option: "allow_once" });
  await answer;
  gate.settle(1);
  assert.equal(gate.spend("s", { ...input("npm test"), toolCallId: "call_1" }), false);
});

Deno.test("a command that was allowed for the session is that command, not one like it", async () => {
  await using setup = await setUp();
  const { gate, context } = setup;
  const first = gate.permission(ask(input("make build")), context);
  gate.answer(await shown(setup), { option: "allow_session" });
  await first;
  await gate.permission(ask(input("make build"), "call_2"), context);
  assert.equal(
    gate.spend("s", { ...input("make build"), toolCallId: "call_2" }),
    true,
    "the same one runs unasked",
  );
  const before = setup.updates.length;
  const asked = gate.permission(ask(input("make build install"), "call_3"), context);
  await waitUntil("another question", () => setup.updates.length > before);
  gate.settle(1);
  await asked;
  assert.equal(gate.spend("s", { ...input("make build install"), toolCallId: "call_3" }), false);
});

Deno.test("the loop guard and a missing sandbox ask, whatever the rules say; deny wins over allow", async () => {
  const rules = {
    allow: ["run(npm test)", "run(npm test *)"],
    ask: [],
    deny: ["run(npm publish)", "run(npm publish *)"],
  };
  for (const [force, sandboxed] of [[true, true], [false, false]] as const) {
    await using setup = await setUp(rules, sandboxed);
    const answer = setup.gate.permission(ask(input("npm test"), "call_1", force), setup.context);
    await shown(setup);
    setup.gate.settle(1);
    await answer;
  }
  await using setup = await setUp({ ...rules, allow: ["run(npm publish)", "run(npm publish *)"] });
  const { outcome } = await setup.gate.permission(ask(input("npm publish")), setup.context);
  assert.equal(outcome.outcome === "selected" && outcome.optionId, "reject");
  assert.equal(setup.updates.length, 0, "nobody was asked");
});

Deno.test("what identifies a command cannot be made ambiguous", () => {
  const a = commandKey("s", "c", input('x", "/project'));
  const b = commandKey("s", "c", { ...input("x"), cwd: '/project", "/project' });
  assert.notEqual(a, b);
});
