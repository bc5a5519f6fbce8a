/** Editing a command before it is allowed: what is shown is what runs, and nothing runs without a yes. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { inOneNeovim } from "../support/shared_agent.ts";
import { waitUntil } from "../support/project.ts";
import { expectScreen } from "../support/screenshot.ts";

const COMMAND = "touch one\ntouch two\nif true; then\n  touch three\nfi";

const test = inOneNeovim({
  script: "",
  columns: 80,
  lines: 24,
  options: 'shell = { commands = "ask" }',
});

/** The command of an approval is being edited. */
async function edit({ nvim, server }: RunningAgent, command: string = COMMAND): Promise<void> {
  server.play(`call run_terminal_command ${JSON.stringify({ command })}\n---\nsay Seen.`);
  await nvim.command("Agent go");
  await openEditor(nvim);
}

/** If it is not open. */
async function openEditor(nvim: ChildNvim): Promise<void> {
  if (nvim.text().includes("Edit the command")) return;
  await nvim.waitForScreen("e edit");
  await nvim.keys("e");
  await nvim.waitForScreen("Edit the command");
}

const exists = ({ project }: RunningAgent, path: string) => project.read(path).then(() => true, () => false);

test("a command of several lines is edited, judged again, shown, and then runs exactly so", async (agent) => {
  await edit(agent);
  const { nvim, server } = agent;
  await expectScreen(nvim, "command-edit-80x24");
  await nvim.keys("2Gcctouch 'not two'<Esc>GOsudo -n true<Esc>");
  await nvim.keys("<CR>");
  await nvim.waitForScreen(/\$ touch 'not two'[^]*a once/);
  await expectScreen(nvim, "command-edited-80x24");
  await nvim.keys("<C-d>");
  await nvim.waitForScreen(/severity: high[^]*edited by you[^]*a once/);
  assert.equal(await exists(agent, "one"), false, "nothing has run");
  await nvim.keys("a");
  await nvim.waitForScreen("Seen.");
  await nvim.waitForScreen(/run +touch one ⏎ touch 'not two'/);
  assert.deepEqual([await exists(agent, "one"), await exists(agent, "two"), await exists(agent, "not two")], [
    true,
    false,
    true,
  ]);
  assert.match(
    server.requests.at(-1)?.text ?? "",
    /the user changed the command to: touch one\ntouch 'not two'\n/,
  );
});

test("q, <Esc> and :q! give up: the command is as it was, and still waits", async (agent) => {
  await edit(agent);
  const { nvim } = agent;
  for (const keys of ["q", "<Esc>", ":q!<CR>"]) {
    await openEditor(nvim);
    await nvim.keys("ggcctouch evil<Esc>");
    await nvim.keys(keys);
    await nvim.waitForScreenGone("Edit the command");
    const shown = await nvim.waitForScreen("a once");
    assert.ok(!shown.includes("touch evil") && !shown.includes("edited by you"), keys);
  }
  await nvim.keys("a");
  await nvim.waitForScreen("Seen.");
  await waitUntil("the command to have run", () => exists(agent, "one"));
  assert.equal(await exists(agent, "evil"), false);
});

test("an empty text is no command; :w, :wq and <C-s> in both modes take another one, and run nothing", async (agent) => {
  await edit(agent, "touch one");
  const { nvim } = agent;
  await nvim.keys("dd<CR>");
  await nvim.waitForScreen("the command is empty");
  await nvim.keys("u<CR>");
  await nvim.waitForScreenGone("Edit the command");
  assert.ok(!(await nvim.waitForScreen("a once")).includes("edited by you"), "it was not changed");
  for (const [at, keys] of [":w<CR>", ":wq<CR>", "<C-s>", "i<C-s>"].entries()) {
    await openEditor(nvim);
    await nvim.keys(`cctouch other${at}<Esc>`);
    await nvim.keys(keys);
    await nvim.waitForScreenGone("Edit the command");
    await nvim.waitForScreen("edited by you");
    await nvim.waitForScreen(`$ touch other${at}`);
    await nvim.waitForScreen("a once");
    assert.deepEqual([await exists(agent, "one"), await exists(agent, `other${at}`)], [false, false], keys);
  }
  await nvim.keys("r");
  await nvim.waitForScreen("Seen.");
  for (let at = 0; at < 4; at++) assert.equal(await exists(agent, `other${at}`), false);
});

test("a stop closes the editor with the approval", async (agent) => {
  await edit(agent);
  await agent.nvim.command("Agent stop");
  await agent.nvim.waitForScreen("Stopped.");
  await agent.nvim.waitForScreenGone("Edit the command");
  assert.ok(!agent.nvim.text().includes("Approval"));
});

test("a long command is shown to its end, and what does not fit is announced", async ({ nvim, server }) => {
  const part = "echo a part of the line that is long";
  const line = `${Array<string>(5).fill(part).join(" && ")} && rm -r last`;
  server.play(`call run_terminal_command ${JSON.stringify({ command: line })}
---
call run_terminal_command ${JSON.stringify({ command: `${`${part}\n`.repeat(30)}rm -r hidden` })}
---
say Seen.`);
  await nvim.command("Agent go");
  assert.match(await nvim.waitForScreen("a once"), /&& rm -r last/);
  await nvim.keys("r");
  assert.doesNotMatch(await nvim.waitForScreen("more below: <C-d>"), /\$ rm -r hidden/);
  await nvim.waitForScreen("a once");
  await nvim.keys("G");
  await nvim.waitForScreen("$ rm -r hidden");
  await nvim.waitForScreenGone("more below");
});
