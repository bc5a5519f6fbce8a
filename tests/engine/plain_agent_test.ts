/** Any ACP agent: what it asks in its own words is answered in them, and its commands go through the gate. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApprovalUpdate, Update } from "../../denops/agent/protocol/ui.ts";
import { AgentConnection } from "../../denops/agent/supervisor/agents/connection.ts";
import { spawnAgent } from "../../denops/agent/supervisor/agents/spawn.ts";
import { AgentProcess } from "../../denops/agent/supervisor/agents/process.ts";
import { Terminals } from "../../denops/agent/supervisor/commands/terminals.ts";
import { ApprovalLog } from "../../denops/agent/supervisor/gate/approval_log.ts";
import { Gate } from "../../denops/agent/supervisor/gate/gate.ts";
import type { ApprovalChoice } from "../../denops/agent/supervisor/gate/outcome.ts";
import { RuleBook } from "../../denops/agent/supervisor/gate/rule_book.ts";
import { screenUpdates } from "../../denops/agent/supervisor/screen/updates.ts";
import { lookups } from "../../denops/agent/supervisor/system/lookups.ts";
import { PLUGIN } from "../support/agent.ts";
import { commandRunner } from "../support/command_sandbox.ts";
import { scratch } from "../support/project.ts";
import { gateContext } from "../support/gate.ts";

const AGENT = fileURLToPath(new URL("../support/plain_agent.ts", import.meta.url));

/** One turn, in which the user says the same to everything. */
async function play(choice: ApprovalChoice) {
  await using project = await scratch({});
  await using state = await scratch();
  const { sandbox } = commandRunner([project.root], state.root);
  const asked: ApprovalUpdate[] = [];
  let last = 0;
  const gate = new Gate((update: Update) => {
    if (update.type !== "approval") return;
    asked.push(update);
    setTimeout(() => gate.answer(update.request, { option: choice }));
  }, () => ++last);
  const view = { masks: { complete: true, folders: [], files: [] }, tracked: undefined } as const;
  const context = gateContext({
    ...{ chat: 1, root: project.root, commands: "ask" as const, view },
    rules: await RuleBook.open(state.root, project.root, { allow: [], ask: [], deny: [] }),
    log: new ApprovalLog(state.root),
    rehearses: true,
  });
  await using terminals = new Terminals([project.root], lookups, {
    spend: (sessionId, input) => gate.spend(sessionId, input),
    ask: (sessionId, input) => gate.command(sessionId, input, context),
    specify: (input) => sandbox.specify(input, []),
    show: () => {},
    running: () => {},
  });
  const told: Update[] = [];
  await using agent = await AgentConnection.start(
    new AgentProcess(spawnAgent({
      program: Deno.execPath(),
      args: [
        "run",
        "-A",
        "--cached-only",
        `--config=${join(PLUGIN, "deno.json")}`,
        "--quiet",
        "--no-check",
        AGENT,
        project.root,
      ],
      env: { PATH: Deno.env.get("PATH") ?? "", HOME: Deno.env.get("HOME") ?? "", ...denoDir() },
      cwd: project.root,
    })),
    {
      update: ({ update }) => told.push(...screenUpdates(1, update)),
      permission: (request) => gate.permission(request, context),
      question: () => Promise.resolve({ action: "cancel" }),
      terminals,
    },
  );
  assert.equal(agent.abilities.loadSession, true);
  assert.equal(
    await agent.resumeSession("of another day", [project.root]),
    undefined,
    "it has not said that it can",
  );
  const { sessionId } = await agent.newSession([project.root]);
  const { stopReason } = await agent.prompt(sessionId, [{ type: "text", text: "Go" }]);
  assert.equal(stopReason, "end_turn");
  const said = told.flatMap((update) => update.type === "text" ? [update.text] : []).join("");
  return { told, said, asked: asked.map((one) => one.kind === "command" ? one.command : one.title) };
}

function denoDir(): Record<string, string> {
  const folder = Deno.env.get("DENO_DIR");
  return folder === undefined ? {} : { DENO_DIR: folder };
}

const LINE = `A='b c' printf '%s %s\\n' 'it'\\''s' '$HOME'`;

Deno.test("a plain agent: a yes is its own option by kind, and its command runs as it was shown", async () => {
  const { told, said, asked } = await play("allow_once");
  assert.equal(said, "chosen proceed_once\n0 it's $HOME");
  assert.deepEqual(asked, ["look around", LINE]);
  assert.deepEqual(told.filter(({ type }) => type !== "text"), [
    { type: "user", chat: 1, text: "Go" },
    { type: "agent_state", chat: 1, mode: "careful" },
    { type: "agent_state", chat: 1, commands: [{ name: "tidy", description: "Tidies up" }] },
    { type: "agent_state", chat: 1, options: [{ id: "fast", name: "Fast", value: "true" }] },
    { type: "plan", chat: 1, steps: [{ step: "Look", status: "in_progress" }] },
    { type: "usage", chat: 1, used: 10, size: 100, cost: 0.5 },
  ]);
});

Deno.test("a plain agent: for the session is its option for always, a no is its no, and nothing runs", async () => {
  assert.match((await play("allow_session")).said, /^chosen proceed_always\n0 /);
  assert.match((await play("reject")).said, /^chosen no\nrefused: .*not approved/);
});
