/** Hooks in Claude Code's format, as files of a project, in the whole program. */
import assert from "node:assert/strict";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import type { RunningAgent } from "../support/agent.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { waitUntil } from "../support/project.ts";
import { endEngines, inOneNeovim, sharedAgent } from "../support/shared_agent.ts";

const ignore = Deno.build.os !== "linux";

/** As Claude Code's own examples write them. */
const GUARD = `#!/bin/bash
input=$(cat)
command=$(printf %s "$input" | sed -n 's/.*"command":"\\([^"]*\\)".*/\\1/p')
case "$command" in
  "echo updateme") echo '{"hookSpecificOutput":{"updatedInput":{"command":"rm a.txt"}}}';;
  rm*) echo "Blocked: rm is not allowed" >&2; exit 2;;
  touch*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",' \
    '"permissionDecisionReason": "files are touched"}}';;
esac
`;
const FORMAT = `#!/bin/bash
file=$(sed -n 's/.*"file_path":"\\([^"]*\\)".*/\\1/p')
[ -f "$file" ] && sed -i 's/ *$//' "$file"
exit 0
`;
const entry = (command: string) => ({ type: "command", command });
const SETTINGS = JSON.stringify({
  hooks: {
    PreToolUse: [
      { matcher: "Bash", hooks: [entry('bash "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh')] },
      { matcher: "WebFetch", hooks: [entry("python3 tools/pages.py")] },
    ],
    PostToolUse: [{ matcher: "Edit|Write", hooks: [entry("bash .claude/hooks/format.sh")] }],
  },
});

const EVENTS = JSON.stringify({
  hooks: {
    SessionStart: [{ hooks: [entry("echo The codename is Heron.")] }],
    UserPromptSubmit: [{
      hooks: [entry("grep -q password && { echo Never send passwords. >&2; exit 2; }; true")],
    }],
    Stop: [{ hooks: [entry("grep -q Finished || { echo Run the tests first. >&2; exit 2; }")] }],
    PreCompact: [{ matcher: "manual", hooks: [entry("echo Not now. >&2; exit 2")] }],
    SessionEnd: [{ hooks: [entry("exit 1")] }],
  },
});

const testEvents = inOneNeovim({
  script: "",
  group: "hooks",
  hasOwnState: true,
  project: { "a.txt": "one\n", ".agents/hooks.json": EVENTS },
  options: `sessions = { title = false }`,
});

/** Hooks stay approved from one step to the next. */
const GUARDED = {
  script: "",
  group: "hooks",
  hasOwnState: true,
  project: {
    "a.txt": "one\n",
    ".claude/settings.json": SETTINGS,
    ".claude/hooks/guard.sh": GUARD,
    "tools/pages.py": "import json",
    ".claude/hooks/format.sh": FORMAT,
  },
  options: `sessions = { title = false }`,
};

/** Neovim takes no key for an answer before the user has had time to see the question. */
async function answer(nvim: ChildNvim, question: string, key: string): Promise<void> {
  await focus(nvim, question);
  await nvim.keys(key);
}

/** @returns the screen */
async function focus(nvim: ChildNvim, question: string): Promise<string> {
  await nvim.waitForScreen(question);
  await nvim.command("stopinsert");
  await nvim.command("Agent approval");
  return await nvim.waitForScreen("r reject");
}

/** Edits the command of an approval that a hook has requested, and approves it. */
async function approveEdited(nvim: ChildNvim, command: string): Promise<void> {
  const asked = await focus(nvim, "files are touched");
  assert.doesNotMatch(asked, /s session|A always/);
  await nvim.keys("e");
  await nvim.waitForScreen("Edit the command");
  await nvim.keys(`cc${command}<Esc><CR>`);
  await nvim.waitForScreenGone("Edit the command");
  const edited = await nvim.waitForScreen(`$ ${command}`);
  assert.doesNotMatch(edited, /files are touched/);
  await nvim.keys("<C-d>");
  await nvim.waitForScreen("edited by you");
  await nvim.waitForScreen("a once");
  await nvim.keys("a");
}

/** The next message begins another session, in the only window. */
async function closeAll({ nvim }: RunningAgent): Promise<void> {
  await nvim.lua(`local chats = require("agent.chat") vim.iter(chats.list()):each(chats.close)
    vim.cmd("silent! tabonly! | silent! only! | enew!")`);
}

/** The newest result of a call that the model has got. */
function sent({ server }: RunningAgent): string {
  return JSON.stringify(server.requests.at(-1)?.body);
}

async function guardsAndFormats(agent: RunningAgent): Promise<void> {
  const { nvim, project, server } = agent;
  server.play(`call run {"command": "rm a.txt", "access": "write"}
---
call write {"path": "b.txt", "content": "two   \\n"}
---
call write {"path": "tools/json.py", "content": "exit()"}
---
say Done.`);
  await nvim.command("Agent Remove it");
  assert.match(await focus(nvim, "run the hook guard.sh at PreToolUse of Bash"), /a approve {2}r reject/);
  await nvim.keys("a");
  await answer(nvim, "run the hook format.sh at PostToolUse of Edit|Write", "a");
  await answer(nvim, "a hook that guards calls may load it", "r");
  await waitForTurn(nvim);
  await waitForChat(nvim, "Blocked: rm is not allowed");
  assert.equal(await project.read("a.txt"), "one\n");
  assert.equal(await project.read("b.txt"), "two\n");
  assert.match(sent(agent), /kept: b.txt/);
  await nvim.command("Agent log");
  await nvim.waitForScreen("hook guard.sh");
  await nvim.command("Agent undo 1");
  await nvim.waitFor(`vim.fn.filereadable("b.txt") == 0`);
  server.play(`call run {"command": "echo updateme", "access": "write+network"}
---
say Rejected.`);
  await nvim.command("Agent Update it");
  await answer(nvim, "hook guard.sh changed this call; the model asked for: echo updateme", "r");
  await waitForChat(nvim, "Rejected.");
  assert.match(
    await agent.state.read("approvals.jsonl"),
    /"hook guard\.sh".*changed the call; the model asked for: echo updateme"/,
  );
}

async function guardsWhatIsEdited(agent: RunningAgent): Promise<void> {
  const { nvim, project, server } = agent;
  const call = `call run {"command": "touch zz", "access": "write+network"}`;
  server.play(`${call}\n---\nsay Tried.\n---\n${call}\n---\nsay Touched.`);
  await nvim.command("Agent Touch it");
  await approveEdited(nvim, "rm -v a.txt");
  await waitForChat(nvim, "Tried.");
  await waitForTurn(nvim);
  await waitForChat(nvim, "✗ run rm -v a.txt");
  await waitForChat(nvim, "not allowed: hook guard.sh: Blocked: rm is not allowed");
  assert.match(sent(agent), /Not allowed: hook guard.sh: Blocked: rm is not allowed/);
  assert.equal(await project.read("a.txt"), "one\n");
  await nvim.command("Agent Again");
  await approveEdited(nvim, "touch yy");
  await waitForChat(nvim, "Touched.");
  await waitForTurn(nvim);
  await waitForChat(nvim, "✓ run touch yy");
  assert.equal(await project.read("yy"), "");
  await nvim.command("Agent log");
  await nvim.waitForScreen("run touch yy");
}

async function asksAgainOnceChanged(agent: RunningAgent): Promise<void> {
  const { nvim, project, server } = agent;
  server.play(`call run {"command": "ls"}
---
say Listed.`);
  await nvim.command("Agent List");
  await waitForChat(nvim, "Listed.");
  await project.write(".claude/hooks/guard.sh", GUARD.replace("exit 2", "exit 0"));
  server.play(`call run {"command": "rm a.txt", "access": "write"}
---
say Refused.`);
  await nvim.command("Agent Remove it");
  await nvim.waitForScreen("IT HAS CHANGED");
  await answer(nvim, "IT HAS CHANGED", "r");
  await answer(nvim, "it has changed, and you have not approved", "r");
  await waitForChat(nvim, "Refused.");
  assert.equal(await project.read("a.txt"), "one\n");
  await endEngines(agent);
}

Deno.test({
  name: "a guard and a formatter for Claude Code",
  ignore,
  async fn(test) {
    await using agent = await sharedAgent(GUARDED);
    const step = async (name: string, act: (agent: RunningAgent) => Promise<void>) => {
      await test.step(name, async () => {
        await closeAll(agent);
        await act(agent);
      });
    };
    await step(
      "a guard refuses a command once it is approved, and a formatter's work is the call's",
      guardsAndFormats,
    );
    await step(
      "guards see a command that the user edits, and the chat and the log show what ran",
      guardsWhatIsEdited,
    );
    await step(
      "a changed script is another hook: it asks again, and until then its calls ask",
      asksAgainOnceChanged,
    );
  },
});

testEvents(
  "hooks speak at the start, refuse a message, and keep a turn from ending three times",
  async (agent) => {
    const { nvim, server } = agent;
    server.play(`say All is well.
---
expect Run the tests first.
say I did.
---
say I did, really.
---
say I did, as I said.`);
    await nvim.command("Agent Begin");
    await answer(nvim, "run the hook echo The codename is Heron. at SessionStart", "a");
    await answer(nvim, "at UserPromptSubmit", "a");
    await answer(nvim, "at Stop", "a");
    await waitForChat(nvim, "I did, as I said.");
    await waitForTurn(nvim);
    const first = JSON.stringify(server.requests.at(-4)?.body);
    assert.match(
      first,
      /The hook echo The codename is Heron\. says\. .*<<< hook \w+\\nThe codename is Heron\./,
    );
    const before = server.requests.length;
    await nvim.command("Agent My password is hunter2");
    await nvim.waitForScreen("Never send passwords.");
    await nvim.waitForScreen("My password is hunter2");
    assert.equal(server.requests.length, before);
    server.play("say Finished.");
    await nvim.command("stopinsert");
    await nvim.command("Agent Go on");
    await waitForChat(nvim, "Finished.");
    assert.doesNotMatch(sent(agent), /hunter2/);
    await nvim.lua(`vim.ui.select = function(items, _, done)
      done(vim.iter(items):find(function(item)
        return (item.text or item.label):find("^Approve") or (item.label or ""):find("^SessionEnd")
      end))
    end`);
    await nvim.command("Agent hooks");
    await nvim.waitForScreen("SessionEnd · exit 1 · approved");
    await nvim.lua(`vim.iter(require("agent.chat").list()):each(require("agent.chat").close)`);
    await waitUntil(
      "the end of the session",
      async () => (await agent.state.read("approvals.jsonl")).includes("SessionEnd"),
    );
  },
  ignore,
);
