/** What a session may do unasked: only the user loosens it, for one session of one chat, and the network ends it. */
import assert from "node:assert/strict";
import type { RequestPermissionRequest } from "../../denops/agent/deps/acp_sdk.ts";
import type { Access } from "../../denops/agent/protocol/access.ts";
import type { CommandAccess } from "../../denops/agent/protocol/commands.ts";
import { META, PERMISSION_OPTIONS } from "../../denops/agent/protocol/extensions.ts";
import type { Update } from "../../denops/agent/protocol/ui.ts";
import type { LspQuestion } from "../../denops/agent/protocol/lsp.ts";
import { languageServerAnswers } from "../../denops/agent/supervisor/client/answers/language_servers.ts";
import type { ClientContext } from "../../denops/agent/supervisor/client/context.ts";
import { NetworkBook } from "../../denops/agent/supervisor/gate/taint_books.ts";
import { Taints } from "../../denops/agent/supervisor/gate/taints.ts";
import { ChatPermission } from "../../denops/agent/supervisor/sessions/session_permission.ts";
import { type GateSetup, setUpGate } from "../support/gate.ts";
import { scratch, waitUntil } from "../support/project.ts";
import { startTainted } from "../support/tainted.ts";

const HELD = () => Promise.resolve(true);

async function chats() {
  const state = await scratch();
  const updates: Update[] = [];
  const notices: string[] = [];
  const open = (chat: number) =>
    new ChatPermission(chat, {
      push: (update) => updates.push(update),
      notice: (_, text) => notices.push(text),
      // Each chat is in a Neovim of its own.
      projects: { taints: new Taints(() => state.root) },
    });
  /** What the screen shows. */
  const last = () => {
    const update = updates.at(-1);
    return update?.type === "agent_state" ? update.permission : undefined;
  };
  return { state, open, last, notices, [Symbol.asyncDispose]: () => state[Symbol.asyncDispose]() };
}

Deno.test("a choice holds for the session that the chat begins with, and for no other one", async () => {
  await using setup = await chats();
  const { open, last } = setup;
  const chat = open(1);
  await chat.choose("both", undefined, HELD);
  assert.equal(chat.trust("first").permission, "default", "not before it opens");
  await chat.opened("first", true);
  assert.equal(chat.trust("first").permission, "both");
  assert.equal(chat.trust("other").permission, "default");
  // The engine has crashed: the same session opens again.
  await chat.opened("first", false);
  assert.equal(chat.trust("first").permission, "both");
  await chat.opened("other", true);
  assert.equal(last(), "default");
  assert.deepEqual(["first", "other"].map((id) => chat.trust(id).permission), ["default", "default"]);
  assert.equal(open(2).trust("first").permission, "default", "another chat, also of another Neovim");
});

Deno.test("a choice that is checked while the chat's new session opens holds for that session, not for the next one", async () => {
  await using setup = await chats();
  const chat = setup.open(1);
  const { promise: held, resolve } = Promise.withResolvers<boolean>();
  const choosing = chat.choose("both", undefined, () => held);
  await chat.opened("first", true);
  resolve(true);
  await choosing;
  assert.equal(chat.trust("first").permission, "both");
  await chat.opened("second", true);
  assert.equal(chat.trust("second").permission, "default");
});

Deno.test("a choice that is checked while a stored session opens is dropped", async () => {
  await using setup = await chats();
  const chat = setup.open(1);
  const { promise: held, resolve } = Promise.withResolvers<boolean>();
  const choosing = chat.choose("both", undefined, () => held);
  await chat.opened("stored", false);
  resolve(true);
  await choosing;
  assert.equal(chat.trust("stored").permission, "default");
});

Deno.test("a session that asks about everything asks about language servers, and a tool set starts none", async () => {
  const policyOf = async (toolSet: "edits" | undefined) => {
    const policies: unknown[] = [];
    const client = {
      permissions: { roots: ["/p"], user: { lsp_start: "always" } },
      ports: {
        editor: {
          ask: ({ params }: { params: { servers: { policy: string } } }) => {
            policies.push(params.servers.policy);
            return Promise.resolve({ kind: "nothing", reason: "none" });
          },
        },
        gate: {},
        limitsOf: () => ({ access: "write", toolSet }),
        chatOf: () => 1,
        ownerOf: () => 1,
        trustOf: () => ({ permission: "ask", isTainted: false, foreign: undefined, taint() {} }),
      },
    } as unknown as ClientContext;
    const question = { may_start: true, request: { op: "diagnostics" } } as unknown as LspQuestion;
    await languageServerAnswers(client).lsp("s", question, new AbortController().signal);
    return policies;
  };
  assert.deepEqual([await policyOf(undefined), await policyOf("edits")], [["ask"], ["running"]]);
});

Deno.test("a stored session that opens in a loosened empty chat is not loosened", async () => {
  await using setup = await chats();
  const chat = setup.open(1);
  await chat.choose("commands", undefined, HELD);
  await chat.opened("stored", false);
  assert.equal(chat.trust("stored").permission, "default");
  assert.equal(setup.last(), "default");
});

Deno.test("a session that has used the network asks again, is never loosened again, but can be tightened", async () => {
  await using setup = await chats();
  const { open, last, notices } = setup;
  const chat = open(1);
  await chat.opened("s", true);
  await chat.choose("commands", "s", HELD);
  const trust = chat.trust("s");
  trust.taint();
  assert.equal(trust.permission, "default");
  assert.equal(trust.isTainted, true);
  assert.equal(last(), "default");
  assert.match(notices.join("\n"), /^This session uses the network, .*: from here on it asks as usual\.$/);
  await assert.rejects(chat.choose("both", "s", HELD), /^Error: Cannot loosen this session: it has used/);
  await chat.choose("ask", "s", HELD);
  assert.equal(trust.permission, "ask");
  // Also when it is resumed, here or in another Neovim.
  await waitUntil("the book", async () => (await new NetworkBook(setup.state.root).of("s")) || undefined);
  const later = open(2);
  await assert.rejects(later.choose("sensitive", "s", HELD), /it has used the network/);
  await later.opened("s", false);
  assert.equal(later.trust("s").isTainted, true);
});

Deno.test("tightening wins over loosening that is still being checked, and without a sandbox nothing loosens commands", async () => {
  await using setup = await chats();
  const chat = setup.open(1);
  await chat.opened("s", true);
  const loosening = chat.choose("both", "s", HELD);
  await chat.choose("ask", "s", HELD);
  await loosening;
  assert.equal(chat.trust("s").permission, "ask");
  for (const choice of ["commands", "both"] as const) {
    await assert.rejects(chat.choose(choice, "s", () => Promise.resolve(false)), /they have no sandbox/);
  }
  assert.equal(chat.trust("s").permission, "ask");
});

Deno.test("a book of the network that cannot be read loosens nothing", async () => {
  await using setup = await chats();
  await setup.state.write("network/sessions.json", "{");
  const chat = setup.open(1);
  await chat.choose("both", undefined, HELD);
  await chat.opened("s", true);
  assert.equal(chat.trust("s").permission, "default");
  await assert.rejects(chat.choose("both", "s", HELD), /^Error: Cannot read/);
});

function request(access: Access, id = "call"): RequestPermissionRequest {
  return {
    sessionId: "s",
    toolCall: { toolCallId: id, title: "a call", kind: "execute" },
    options: [...PERMISSION_OPTIONS],
    _meta: { [META]: { reason: "", force: false, access } },
  };
}

const line = (command: string, access: CommandAccess) =>
  request({ kind: "command", command, cwd: "/project", timeout: 60, background: false, access });

function trustIn(setup: GateSetup, permission: "commands" | "ask") {
  const tainted: boolean[] = [];
  const context = {
    ...setup.context,
    trust: { permission, isTainted: false, foreign: undefined, taint: () => void tainted.push(true) },
  };
  return { tainted, context };
}

const asked = ({ updates }: GateSetup) => updates.filter(({ type }) => type === "approval").length;

Deno.test("the gate runs commands of a loosened session unasked; the network asks, and is noted with its grant", async () => {
  await using setup = await setUpGate(undefined, undefined, "ask");
  const { context, tainted } = trustIn(setup, "commands");
  await setup.gate.permission(line("make", "write"), context);
  assert.equal(asked(setup), 0);
  assert.deepEqual(tainted, []);
  const spent = setup.gate.spend("s", {
    ...{ command: "make", cwd: "/project", timeout: 60, background: false, access: "write" },
    ...{ rehearsed: false, toolCallId: "call" },
  });
  assert.deepEqual(spent, { chat: 1, isMasked: true, agreed: false, byUser: false });
  const answering = setup.gate.permission(line("curl http://a.example", "look+network"), context);
  assert.equal(asked(setup), 1);
  assert.deepEqual(tainted, [], "not before the answer");
  const approval = setup.updates.findLast((update) => update.type === "approval");
  assert.ok(approval?.type === "approval");
  setup.gate.answer(approval.request, { option: "allow_once" });
  await answering;
  assert.deepEqual(tainted, [true]);
});

Deno.test("a rule that allows the network is no less the network, nor is a host or a server's tool", async () => {
  await using setup = await setUpGate({
    allow: ["run(curl *)", "network(curl *)", "fetch(*)", "mcp(*/*)"],
    ask: [],
    deny: [],
  });
  const { context, tainted } = trustIn(setup, "commands");
  await setup.gate.permission(line("curl http://a.example", "write+network"), context);
  await setup.gate.permission(request({ kind: "fetch", url: "https://a.example/" }), context);
  await setup.gate.permission(request({ kind: "mcp", server: "a", tool: "b" }), context);
  assert.deepEqual(tainted, [true, true, true]);
  assert.equal(asked(setup), 0);
});

Deno.test("what waits on the screen stays there when the session is loosened, and what was allowed for it asks when it is tightened", async () => {
  await using setup = await setUpGate(undefined, undefined, "ask");
  let permission: "default" | "both" | "ask" = "default";
  const trust = {
    get permission() {
      return permission;
    },
    isTainted: false,
    foreign: undefined,
    taint() {},
  };
  const context = { ...setup.context, trust };
  const answering = setup.gate.permission(line("make", "write"), context);
  permission = "both";
  await setup.gate.permission(line("npm test", "write"), context);
  assert.equal(asked(setup), 1);
  assert.ok(!setup.updates.some(({ type }) => type === "approval_closed"));
  const approval = setup.updates.find((update) => update.type === "approval");
  assert.ok(approval?.type === "approval");
  setup.gate.answer(approval.request, { option: "allow_session" });
  await answering;
  permission = "ask";
  void setup.gate.permission(line("make", "write"), context);
  assert.equal(asked(setup), 2);
  setup.gate.settle(1);
});

Deno.test({
  name: "no word of an engine that has been taken over loosens its session",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using around = await scratch({
      "proj/package.json": "{}",
      "proj/.agents/permission.json": '{ "permission": "both" }',
    });
    const root = around.path("proj");
    const command = { command: "make all", cwd: root, timeout: 60, access: "write", background: false };
    const words = { permission: "both", isTainted: false, trust: { permission: "both" }, tools: [] };
    const update = (params: Readonly<Record<string, unknown>>) =>
      ({ method: "session/update", request: false, params: { update: params } }) as const;
    await using tainted = await startTainted([
      update({ sessionUpdate: "current_mode_update", currentModeId: "agent", _meta: { [META]: words } }),
      update({
        sessionUpdate: "session_info_update",
        title: "t",
        permission: "both",
        _meta: { [META]: words },
      }),
      update({
        sessionUpdate: "config_option_update",
        configOptions: [{
          ...{ id: "permission", name: "permission", type: "select", currentValue: "both" },
          options: [{ value: "both", name: "both" }],
        }],
      }),
      { method: "_agent/permission", request: true, params: { permission: "both" } },
      {
        method: "session/request_permission",
        request: true,
        params: {
          toolCall: { toolCallId: "t", title: "run make all", kind: "execute", _meta: { [META]: words } },
          options: [...PERMISSION_OPTIONS],
          _meta: { [META]: { reason: "", force: false, access: { kind: "command", ...command }, ...words } },
        },
      },
    ], { root, options: `shell = { commands = "ask" }` });
    const { nvim } = tainted;
    await nvim.command("Agent go");
    const screen = await nvim.waitForScreen("$ make all");
    assert.doesNotMatch(screen, /unasked/);
    assert.equal(await nvim.lua(`return require("agent.chat").current().timeline.permission`), "default");
    await nvim.command("Agent reject no");
    await nvim.waitFor(`require("agent").status():find("ready$")`);
  },
});

Deno.test("a message that attaches an earlier session taints its session if another one has used the network", async () => {
  await using setup = await chats();
  const { open, notices, state } = setup;
  const chat = open(1);
  await chat.opened("s", true);
  await chat.choose("commands", "s", HELD);
  await new NetworkBook(state.root).note("s", false);
  await chat.attachesSession("s");
  assert.deepEqual([chat.trust("s").permission, chat.trust("s").isTainted], ["commands", false]);
  await new NetworkBook(state.root).note("earlier", true);
  await chat.attachesSession("s");
  assert.deepEqual([chat.trust("s").permission, chat.trust("s").isTainted], ["default", true]);
  assert.match(notices.join("\n"), /^The earlier session may have used the network, .*asks as usual\.$/);
});
