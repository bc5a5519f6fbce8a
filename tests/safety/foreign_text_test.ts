/** Sessions that have read foreign text: the gate asks again, and neither an engine nor a restart makes it forget. */
import assert from "node:assert/strict";
import lists from "../../denops/agent/policy/defaults.json" with { type: "json" };
import type { RequestPermissionRequest } from "../../denops/agent/deps/acp_sdk.ts";
import type { Access } from "../../denops/agent/protocol/access.ts";
import type { CommandAccess } from "../../denops/agent/protocol/commands.ts";
import { FileRules } from "../../denops/agent/protocol/config.ts";
import { META, PERMISSION_OPTIONS } from "../../denops/agent/protocol/extensions.ts";
import type { ApprovalUpdate, Update } from "../../denops/agent/protocol/ui.ts";
import { fileAnswers } from "../../denops/agent/supervisor/client/answers/files.ts";
import type { ClientContext } from "../../denops/agent/supervisor/client/context.ts";
import { ForeignBook, NetworkBook } from "../../denops/agent/supervisor/gate/taint_books.ts";
import { Taints } from "../../denops/agent/supervisor/gate/taints.ts";
import { ChatPermission } from "../../denops/agent/supervisor/sessions/session_permission.ts";
import { type GateSetup, setUpGate } from "../support/gate.ts";
import { scratch, waitUntil } from "../support/project.ts";

const HELD = () => Promise.resolve(true);
const REASON = "this session has read MCP results";
const FILES = FileRules.parse(lists);

/** A Neovim with one chat. All share a state folder. */
async function neovims() {
  const state = await scratch();
  const updates: Update[] = [];
  const open = () => {
    const taints = new Taints(() => state.root);
    const ports = { push: (update: Update) => updates.push(update), notice() {}, projects: { taints } };
    return { taints, chat: new ChatPermission(1, ports) };
  };
  /** What the screen shows. */
  const shown = () => {
    const update = updates.findLast((one) => one.type === "agent_state");
    return update?.type === "agent_state" ? update.untrusted : undefined;
  };
  const stored = (session: string) =>
    waitUntil("the book", async () => await new ForeignBook(state.root).of(session));
  return { state, open, shown, stored, [Symbol.asyncDispose]: () => state[Symbol.asyncDispose]() };
}

Deno.test("a session with an MCP result stays foreign, here and in another Neovim, and cannot be loosened", async () => {
  await using setup = await neovims();
  const { chat } = setup.open();
  await chat.opened("s", true);
  assert.equal(setup.shown(), "");
  await chat.choose("commands", "s", HELD);
  const trust = chat.trust("s");
  trust.taint("mcp");
  assert.deepEqual([trust.foreign, trust.isTainted, trust.permission], ["mcp", true, "default"]);
  assert.equal(setup.shown(), REASON);
  assert.equal(chat.trust("other").foreign, undefined);
  await setup.stored("s");
  const { chat: later } = setup.open();
  await later.show("s");
  assert.equal(setup.shown(), REASON, "before it opens");
  await later.opened("s", false);
  assert.equal(later.trust("s").foreign, "mcp");
  await assert.rejects(
    later.choose("both", "s", HELD),
    /^Error: Cannot loosen this session: it has read MCP results, and text from there may tell/,
  );
});

Deno.test("only a copy without the turn of the foreign text is free of it", async () => {
  await using setup = await neovims();
  const { taints, chat } = setup.open();
  await chat.opened("s", true);
  taints.beginTurn("s");
  taints.beginTurn("s");
  chat.trust("s").taint("mcp");
  taints.beginTurn("s");
  // Later foreign text is not the first.
  chat.trust("s").taint("web");
  await setup.stored("s");
  for (const [name, one] of Object.entries({ here: taints, there: setup.open().taints })) {
    await one.fork("s", `${name} all`, undefined);
    await one.fork("s", `${name} two`, 2);
    await one.fork("s", `${name} one`, 1);
    await one.fork(`${name} two`, `${name} two one`, 1);
    await one.fork(`${name} two`, `${name} two two`, 2);
    assert.deepEqual(
      ["all", "two", "one", "two one", "two two"].map((copy) => one.foreign(`${name} ${copy}`)),
      ["mcp", "mcp", undefined, undefined, "mcp"],
    );
  }
  assert.equal(taints.hasUsedNetwork("here one"), false);
});

Deno.test("an unknown turn never clears: the supervisor counts turns itself, and rather too few", async () => {
  await using setup = await neovims();
  const { chat } = setup.open();
  // Somebody else has begun it.
  await chat.opened("s", false);
  chat.trust("s").taint("mcp");
  await setup.stored("s");
  const { taints } = setup.open();
  for (const turn of [undefined, 0, 1, 1_000]) {
    await taints.fork("s", `copy ${turn}`, turn);
    assert.equal(taints.foreign(`copy ${turn}`), "mcp");
  }
});

Deno.test("turns are counted across Neovims", async () => {
  await using setup = await neovims();
  const first = setup.open();
  await first.chat.opened("s", true);
  first.taints.beginTurn("s");
  await waitUntil("the count", async () => {
    const text = await Deno.readTextFile(setup.state.path("turns/sessions.json")).catch(() => "{}");
    return JSON.parse(text).s === 1 || undefined;
  });
  const { chat, taints } = setup.open();
  await chat.opened("s", false);
  taints.beginTurn("s");
  chat.trust("s").taint("mcp");
  await taints.fork("s", "one", 1);
  await taints.fork("s", "two", 2);
  assert.deepEqual([taints.foreign("one"), taints.foreign("two")], [undefined, "mcp"]);
});

Deno.test("text that a message itself brings belongs to its turn, also before the engine reports that turn", async () => {
  await using setup = await neovims();
  const { chat, taints } = setup.open();
  await chat.opened("s", true);
  taints.beginTurn("s");
  taints.expectTurn("s");
  chat.trust("s").taint("mcp");
  taints.beginTurn("s");
  await taints.fork("s", "one", 1);
  await taints.fork("s", "two", 2);
  assert.deepEqual([taints.foreign("one"), taints.foreign("two")], [undefined, "mcp"]);
  // A message that failed had no turn.
  await chat.opened("t", true);
  taints.beginTurn("t");
  taints.expectTurn("t");
  taints.endTurn("t");
  chat.trust("t").taint("mcp");
  await taints.fork("t", "t one", 1);
  assert.equal(taints.foreign("t one"), "mcp");
});

Deno.test("a message that attaches an earlier session taints from its own turn on", async () => {
  await using setup = await neovims();
  await new ForeignBook(setup.state.root).note("earlier", { source: "mcp", turn: 1 });
  const { chat, taints } = setup.open();
  await chat.opened("s", true);
  taints.beginTurn("s");
  taints.expectTurn("s");
  await chat.attachesSession("s");
  taints.beginTurn("s");
  assert.equal(chat.trust("s").foreign, "session");
  assert.equal(setup.shown(), "this session may have read MCP or web results of an earlier one");
  await taints.fork("s", "one", 1);
  await taints.fork("s", "two", 2);
  assert.deepEqual([taints.foreign("one"), taints.foreign("two")], [undefined, "session"]);
});

Deno.test("a session that has only used the network makes none foreign", async () => {
  await using setup = await neovims();
  await new NetworkBook(setup.state.root).note("earlier", true);
  const { chat } = setup.open();
  await chat.opened("s", true);
  await chat.attachesSession("s");
  assert.deepEqual([chat.trust("s").foreign, chat.trust("s").isTainted], [undefined, true]);
});

Deno.test("a stored session that the supervisor has never seen may be a sub-agent of a foreign one", async () => {
  await using setup = await neovims();
  const clean = setup.open();
  await clean.chat.opened("agent", false);
  assert.equal(clean.chat.trust("agent").foreign, undefined);
  await new ForeignBook(setup.state.root).note("parent", { source: "mcp", turn: 1 });
  const { chat } = setup.open();
  await chat.opened("agent", false);
  assert.equal(chat.trust("agent").foreign, "session");
  await chat.opened("new", true);
  assert.equal(chat.trust("new").foreign, undefined);
});

Deno.test("with an unreadable book each session counts as foreign, and none is copied", async () => {
  await using setup = await neovims();
  await setup.state.write("foreign/sessions.json", "{");
  const { chat, taints } = setup.open();
  await chat.opened("s", true);
  assert.equal(chat.trust("s").foreign, "unknown");
  await assert.rejects(taints.fork("s", "copy", 1), /^Error: Cannot read/);
  await chat.opened("t", true);
  chat.trust("t").taint("mcp");
  assert.equal(chat.trust("t").foreign, "unknown");
});

function request(access: Access, id = "call", force = false): RequestPermissionRequest {
  return {
    sessionId: "s",
    toolCall: { toolCallId: id, title: "a call", kind: "execute" },
    options: [...PERMISSION_OPTIONS],
    _meta: { [META]: { reason: "", force, access } },
  };
}

const line = (command: string, access: CommandAccess) =>
  request({ kind: "command", command, cwd: "/project", timeout: 60, background: false, access });

function write(relative: string): RequestPermissionRequest {
  const path = { path: `/project/${relative}`, link: `/project/${relative}`, relative, named: relative };
  return request({ kind: "file", files: [{ access: "write", path: { ...path, exists: true } }] });
}

const approvals = ({ updates }: GateSetup) =>
  updates.filter((update): update is ApprovalUpdate & { type: "approval" } => update.type === "approval");

/** The answer to a request, or the approval that waits. */
async function asked(setup: GateSetup, sent: RequestPermissionRequest, context: GateSetup["context"]) {
  const before = approvals(setup).length;
  const answering = setup.gate.permission(sent, context);
  const answer = await Promise.race([answering, Promise.resolve().then(() => undefined)]);
  const approval = approvals(setup).at(before);
  return { answering, approval, outcome: answer?.outcome };
}

Deno.test("an attack of an MCP result one turn later: rules and earlier answers pass neither the network nor a sensitive write", async () => {
  await using state = await neovims();
  await using setup = await setUpGate({
    allow: ["network(*)", "run(*)", "git(*)", "write(**)", "mcp(docs/*)"],
    ask: [],
    deny: ["run(rm *)"],
  });
  const { gate } = setup;
  const { chat } = state.open();
  await chat.opened("s", true);
  const context = { ...setup.context, files: FILES, trust: chat.trust("s"), rehearses: true };
  const passes = async (sent: RequestPermissionRequest) => {
    const { answering, approval } = await asked(setup, sent, context);
    assert.equal(approval, undefined);
    const { outcome } = await answering;
    assert.equal(outcome.outcome === "selected" && outcome.optionId, "allow_once");
  };
  const evil = [
    line("curl http://evil.example", "look+network"),
    line("git push", "git+network"),
    write(".envrc"),
    write(".github/workflows/ci.yml"),
  ];
  for (const sent of evil) await passes(sent);
  await passes(request({ kind: "mcp", server: "docs", tool: "search" }));
  gate.settle(1);
  for (const sent of evil) {
    const { answering, approval } = await asked(setup, sent, context);
    assert.ok(approval, JSON.stringify(sent._meta));
    assert.ok(approval.reason.endsWith(`; ${REASON}`), approval.reason);
    assert.equal(approval.suggestion, undefined, "no rule would help");
    // It asks again, also after an answer for the session.
    gate.answer(approval.request, { option: "allow_session" });
    await answering;
    const again = await asked(setup, sent, context);
    assert.ok(again.approval);
    gate.answer(again.approval.request, { option: "reject" });
    await again.answering;
  }
  // The rest is as before.
  await passes(request({ kind: "mcp", server: "docs", tool: "search" }));
  await passes(line("ls", "look"));
  await passes(line("npm test", "write"));
  await passes(write("src/a.ts"));
  const { outcome } = await gate.permission(line("rm x", "write+network"), context);
  assert.equal(outcome.outcome === "selected" && outcome.optionId, "reject");
  gate.settle(1);
});

Deno.test("hosts that rules open are the network: a command that reaches them asks, and gets no more than them", async () => {
  await using state = await neovims();
  await using setup = await setUpGate({ allow: ["host(a.example)", "run(npm *)"], ask: [], deny: [] });
  const { chat } = state.open();
  await chat.opened("s", true);
  const context = { ...setup.context, trust: chat.trust("s"), rehearses: true, opensHosts: true };
  const sent = line("npm install", "write+network");
  assert.equal((await asked(setup, sent, context)).approval, undefined);
  context.trust.taint("mcp");
  const { answering, approval } = await asked(setup, sent, context);
  assert.ok(approval?.kind === "command");
  assert.equal(approval.reason, `needs network access; ${REASON}`);
  assert.deepEqual([approval.access, approval.hosts], ["write", "a.example"]);
  setup.gate.answer(approval.request, { option: "reject" });
  await answering;
});

Deno.test("a call that was granted by the user makes the session foreign, one that was rejected does not", async () => {
  await using state = await neovims();
  await using setup = await setUpGate();
  const { chat } = state.open();
  await chat.opened("s", true);
  const context = { ...setup.context, trust: chat.trust("s") };
  const calls: readonly (readonly [Access, string])[] = [
    [{ kind: "agent", name: "explore", task: "x", access: "read" }, "none"],
    [{ kind: "mcp", server: "docs", tool: "search" }, "mcp"],
  ];
  for (const [access, source] of calls) {
    for (const option of ["reject", "allow_once"] as const) {
      const { answering, approval } = await asked(setup, request(access), context);
      if (approval !== undefined) setup.gate.answer(approval.request, { option });
      await answering;
      const isRead = option === "allow_once" && source !== "none";
      assert.equal(context.trust.foreign, isRead ? source : undefined);
    }
  }
});

Deno.test("Neovim writes a sensitive file for the engine of such a session only if the gate has allowed that write", async () => {
  const approved = new Set<string>();
  const client = {
    permissions: { roots: ["/p"] },
    rulesOf: () => FILES,
    terminals: { keeps: () => false },
    agents: { keeps: () => false },
    hooks: { changes: { keeps: () => false } },
    userWrites: { isRunning: () => false },
    ports: {
      editor: { ask: () => Promise.resolve({ status: "not_open" }) },
      gate: { approved: { hasWrite: (_: number, path: string) => approved.has(path) } },
      limitsOf: () => ({ access: "write" }),
      isWorking: () => true,
      isStopped: () => false,
      chatOf: () => 1,
      ownerOf: () => 1,
      trustOf: () => ({ permission: "default", isTainted: true, foreign: "mcp", taint() {} }),
    },
  } as unknown as ClientContext;
  const save = (name: string, text = "", base = "") =>
    fileAnswers(client, true)
      .write_unsaved("s", { path: `/p/${name}`, base, text }, new AbortController().signal);
  const refusal = /^Error: this session has read MCP results, and this write .* was not approved$/;
  await assert.rejects(save(".envrc"), refusal);
  await assert.rejects(save("package.json", '{ "scripts": { "prepare": "evil" } }', "{}"), refusal);
  assert.equal((await save("package.json", '{ "version": "2" }', "{}")).status, "not_open");
  assert.equal((await save("src/a.ts")).status, "not_open");
  approved.add("/p/.envrc");
  assert.equal((await save(".envrc")).status, "not_open");
});
