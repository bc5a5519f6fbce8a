/** The gate and rules on hosts: a command reaches the hosts that were judged, and no others. */
import assert from "node:assert/strict";
import type { RequestPermissionRequest } from "../../denops/agent/deps/acp_sdk.ts";
import type { CommandAccess } from "../../denops/agent/protocol/commands.ts";
import { AnswerMeta, META, ours, PERMISSION_OPTIONS } from "../../denops/agent/protocol/extensions.ts";
import type { Grant } from "../../denops/agent/supervisor/commands/terminals.ts";
import { type GateSetup, NO_RULES, setUpGate, type UserRules } from "../support/gate.ts";
import { waitUntil } from "../support/project.ts";

const COMMAND = {
  ...{ kind: "command", command: "npm install", cwd: "/project", timeout: 60, background: false },
  access: "write+network",
} as const;

async function setUp(rules: Partial<UserRules>, rehearses = true) {
  const setup = await setUpGate({ ...NO_RULES, ...rules });
  const tainted: boolean[] = [];
  const trust = {
    permission: "default",
    isTainted: false,
    foreign: undefined,
    taint: () => void tainted.push(true),
  } as const;
  return { ...setup, tainted, context: { ...setup.context, opensHosts: true, rehearses, trust } };
}

function request(more: Readonly<Record<string, unknown>> = {}, force = false): RequestPermissionRequest {
  return {
    sessionId: "s",
    toolCall: { toolCallId: "call", title: "run npm install", kind: "execute" },
    options: [...PERMISSION_OPTIONS],
    _meta: { [META]: { reason: "", force, access: { ...COMMAND, ...more } } },
  };
}

function spend({ gate }: GateSetup, access: CommandAccess, rehearsed: boolean): Grant | undefined {
  return gate.spend("s", { ...COMMAND, access, rehearsed, toolCallId: "call" });
}

async function shown({ updates }: GateSetup) {
  return await waitUntil("the question", () => {
    const approval = updates.findLast((update) => update.type === "approval");
    return approval?.type === "approval" && approval.kind === "command" ? approval : undefined;
  });
}

Deno.test("an allowed host is granted without a question, noted, and told to the engine", async () => {
  await using setup = await setUp({ allow: ["host(a.test)", "host(*.b.test)"], deny: ["host(x.b.test)"] });
  const hosts = ["*.b.test", "a.test", "!x.b.test"];
  const { outcome } = await setup.gate.permission(request({ hosts: ["evil.test"] }), setup.context);
  assert.ok(outcome.outcome === "selected");
  const { access, rehearsed, hosts: reported } = ours(AnswerMeta, outcome._meta) ?? {};
  assert.deepEqual({ access, rehearsed, reported }, { access: "write", rehearsed: true, reported: hosts });
  assert.deepEqual(setup.updates.filter(({ type }) => type === "approval"), []);
  assert.deepEqual(setup.tainted, [true]);
  // Later rules do not change it.
  await setup.context.rules.add("host(c.test)", "allow", "session", 1);
  assert.deepEqual(spend(setup, "write", true)?.hosts, hosts);
  assert.equal(spend(setup, "write", true), undefined);
  const [entry] = await setup.context.log.entries();
  assert.ok(entry?.accesses.kind === "command");
  assert.deepEqual([entry.accesses.access, entry.accesses.hosts], ["write", hosts]);
});

Deno.test("without a host rule an engine names its hosts in vain, and the whole network asks", async () => {
  await using setup = await setUp({});
  const answer = setup.gate.permission(request({ hosts: ["evil.test"] }), setup.context);
  const approval = await shown(setup);
  assert.deepEqual([approval.access, approval.hosts], ["write+network", undefined]);
  setup.gate.answer(approval.request, { option: "allow_once" });
  await answer;
  assert.deepEqual(spend(setup, "write+network", true)?.hosts, undefined);
  await setup.gate.permission(request({ hosts: ["evil.test"], access: "write" }), setup.context);
  assert.equal(spend(setup, "write", true)?.hosts, undefined);
});

Deno.test("the user's approval covers the hosts on the screen, less those that a rule closes meanwhile", async () => {
  await using setup = await setUp({ allow: ["host(a.test)", "host(*.b.test)"] }, false);
  const { gate, context } = setup;
  const answer = gate.permission(request(), context);
  const approval = await shown(setup);
  assert.deepEqual([approval.access, approval.hosts], ["write", "*.b.test, a.test"]);
  await context.rules.add("host(c.test)", "allow", "session", 1);
  await context.rules.add("host(x.b.test)", "deny", "session", 1);
  gate.answer(approval.request, { option: "allow_once" });
  await answer;
  assert.deepEqual(spend(setup, "write", false)?.hosts, ["*.b.test", "a.test", "!x.b.test"]);
});

Deno.test("for the session means these hosts: others ask again, and the whole network stays the whole network", async () => {
  await using setup = await setUp({}, false);
  const { gate, context, updates } = setup;
  const asked = () => updates.filter(({ type }) => type === "approval").length;
  const whole = gate.permission(request(), context);
  gate.answer((await shown(setup)).request, { option: "allow_session" });
  await whole;
  await context.rules.add("host(a.test)", "allow", "session", 1);
  await gate.permission(request(), context);
  assert.equal(asked(), 1);
  assert.ok(spend(setup, "write+network", false) !== undefined);
  const other = (more = {}) => gate.permission(request({ command: "npm ci", ...more }), context);
  const single = other();
  await waitUntil("the second question", () => asked() === 2);
  gate.answer((await shown(setup)).request, { option: "allow_session" });
  await single;
  await other();
  assert.equal(asked(), 2);
  await context.rules.add("host(b.test)", "allow", "session", 1);
  const more = other();
  await waitUntil("the third question", () => asked() === 3);
  assert.equal((await shown(setup)).hosts, "a.test, b.test");
  gate.answer((await shown(setup)).request, { option: "reject" });
  await more;
});

Deno.test("A with a rule on a host narrows what was asked", async () => {
  await using setup = await setUp({});
  const answer = setup.gate.permission(request(), setup.context);
  const approval = await shown(setup);
  assert.equal(approval.access, "write+network");
  setup.gate.answer(approval.request, { option: "allow_always", rule: "host(registry.npmjs.org)" });
  await answer;
  assert.equal(spend(setup, "write+network", true), undefined);
  assert.deepEqual(spend(setup, "write", true)?.hosts, ["registry.npmjs.org"]);
});
