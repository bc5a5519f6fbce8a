/** The gate in a mode that changes nothing: no rule, no yes and no word of the engine's makes it more. */
import assert from "node:assert/strict";
import type { RequestPermissionRequest } from "../../denops/agent/deps/acp_sdk.ts";
import type { Access } from "../../denops/agent/protocol/access.ts";
import { COMMAND_ACCESSES, type CommandAccess } from "../../denops/agent/protocol/commands.ts";
import { AnswerMeta, META, ours, PERMISSION_OPTIONS } from "../../denops/agent/protocol/extensions.ts";
import { type ModeAccess, TOOL_SETS, type ToolSet } from "../../denops/agent/protocol/modes.ts";
import type { Update } from "../../denops/agent/protocol/ui.ts";
import { ApprovalLog } from "../../denops/agent/supervisor/gate/approval_log.ts";
import { Gate, type GateContext } from "../../denops/agent/supervisor/gate/gate.ts";
import { RuleBook } from "../../denops/agent/supervisor/gate/rule_book.ts";
import { gateContext } from "../support/gate.ts";
import { scratch, waitUntil } from "../support/project.ts";

const RULES = { allow: ["run(**)", "git(**)", "network(**)", "write(**)", "mcp(*/*)"], ask: [], deny: [] };
const VIEW = { masks: { complete: true, folders: [], files: [] }, tracked: undefined } as const;

function request(access: Access, force = false): RequestPermissionRequest {
  return {
    sessionId: "s",
    toolCall: { toolCallId: "call", title: "a call", kind: "execute" },
    options: [...PERMISSION_OPTIONS],
    _meta: { [META]: { reason: "", force, access } },
  };
}

const line = { command: "npm test", cwd: "/project", timeout: 120, background: false };

function command(
  more: Partial<typeof line> & { readonly access?: CommandAccess; readonly direct?: boolean },
): Access {
  return { kind: "command", ...line, ...more };
}

async function setUp() {
  const state = await scratch();
  const updates: Update[] = [];
  let numbers = 0;
  const gate = new Gate((update) => updates.push(update), () => ++numbers);
  const rules = await RuleBook.open(state.root, "/project", RULES);
  const log = new ApprovalLog(state.root);
  const context = (mode: ModeAccess, more: Partial<GateContext> = {}): GateContext =>
    gateContext({
      chat: 1,
      root: "/project",
      rules,
      log,
      commands: "project",
      view: VIEW,
      rehearses: true,
      limits: { access: mode },
      ...more,
    });
  /** The answer; undefined if a person is asked. */
  const ask = async (access: Access, at: GateContext, force = false) => {
    const answering = gate.permission(request(access, force), at);
    const before = updates.length;
    const asked = new Promise<undefined>((resolve) =>
      setTimeout(() => updates.length > before ? resolve(undefined) : undefined, 0)
    );
    return await Promise.race([answering, asked]);
  };
  return { gate, updates, context, ask, [Symbol.asyncDispose]: () => state[Symbol.asyncDispose]() };
}

function said(response: Awaited<ReturnType<Gate["permission"]>> | undefined): string {
  if (response?.outcome.outcome !== "selected") return response === undefined ? "asks" : "cancelled";
  return `${response.outcome.optionId} ${ours(AnswerMeta, response.outcome._meta)?.access ?? ""}`.trim();
}

Deno.test("a command above a look is refused, however it is asked for, and nothing of it can be spent", async () => {
  await using setup = await setUp();
  const { gate, ask, context, updates } = setup;
  for (const mode of ["read", "docs"] as const) {
    for (const force of [false, true]) {
      for (const background of [false, true]) {
        for (const direct of [false, true]) {
          for (const access of [undefined, ...COMMAND_ACCESSES]) {
            if (access === "look") continue;
            const asked = command({ background, direct, ...(access === undefined ? {} : { access }) });
            assert.equal(said(await ask(asked, context(mode), force)), "reject", `${mode} ${access}`);
            const spent = {
              ...line,
              background,
              access: access ?? "write",
              rehearsed: false,
              toolCallId: "call",
            };
            assert.equal(gate.spend("s", spent), undefined);
          }
        }
      }
    }
  }
  assert.deepEqual(updates.filter(({ type }) => type === "approval"), []);
  assert.equal(said(await ask(command({ access: "write" }), context("write"))), "allow_once write");
});

Deno.test("a look runs as one; where no sandbox holds it, nothing runs", async () => {
  await using setup = await setUp();
  const { ask, context } = setup;
  assert.equal(said(await ask(command({ access: "look" }), context("read"))), "allow_once look");
  assert.equal(said(await ask(command({ access: "look" }), context("read", { view: undefined }))), "reject");
});

Deno.test("what was allowed for the session in another mode is not allowed in this one", async () => {
  await using setup = await setUp();
  const { gate, context, updates, ask } = setup;
  const asked = command({ access: "write+network", command: "curl -T x http://a.test; rm -rf src" });
  const answering = gate.permission(request(asked), context("write", { commands: "ask" }));
  const number = await waitUntil("the question", () => {
    const found = updates.findLast(({ type }) => type === "approval");
    return found?.type === "approval" ? found.request : undefined;
  });
  gate.answer(number, { option: "allow_session" });
  assert.match(said(await answering), /^allow_session|^allow_once/);
  assert.equal(said(await ask(asked, context("read"))), "reject");
});

Deno.test("no file is written, no tool of a server called, no language server started", async () => {
  await using setup = await setUp();
  const { ask, context } = setup;
  const file = (named: string): Access => ({
    kind: "file",
    files: [{
      access: "write",
      path: { path: `/project/${named}`, link: `/project/${named}`, relative: named, named, exists: true },
    }],
  });
  for (
    const access of [file("src/a.ts"), file("docs/a.md"), { kind: "mcp", server: "s", tool: "t" } as const]
  ) {
    assert.equal(said(await ask(access, context("read"))), "reject");
    assert.equal(said(await ask(access, context("write"))), "allow_once");
  }
  assert.equal(said(await ask(file("docs/a.md"), context("docs"))), "allow_once");
  assert.equal(said(await ask(file("src/a.ts"), context("docs"))), "reject");
  assert.equal(said(await ask({ kind: "ask", about: "server", text: "x" }, context("read"))), "reject");
});

Deno.test("a turn that is limited to a set of tools runs nothing, whatever its mode, rules and approvals allow", async () => {
  await using setup = await setUp();
  const { gate, ask, context, updates } = setup;
  for (const toolSet of Object.keys(TOOL_SETS) as readonly ToolSet[]) {
    const limited = (force: boolean) =>
      ask(command({ access: "look" }), context("write", { limits: { access: "write", toolSet } }), force);
    assert.equal(said(await limited(false)), "reject", toolSet);
    assert.equal(said(await limited(true)), "reject", toolSet);
    assert.equal(
      gate.spend("s", { ...line, access: "look", rehearsed: false, toolCallId: "call" }),
      undefined,
    );
  }
  assert.deepEqual(updates.filter(({ type }) => type === "approval"), []);
});
