/** How each call was approved: in its line while it is open, also in a stored session. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { transcript, waitForTurn } from "../support/chat.ts";
import { waitUntil } from "../support/project.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";

const run = (command: string, access: string) =>
  `call run_terminal_command ${JSON.stringify({ command, access })}`;
const write = (content: string) => `call write_file ${JSON.stringify({ path: ".envrc", content })}`;

const CALLS = [
  run("echo once", "look"),
  run("echo edit", "look"),
  run("printf ruled", "look"),
  run("touch made", "write"),
  write("one"),
  write("two"),
  'call read_file {"path": "README.md"}',
];

/** A part of each closed line → what the open one says behind it. */
const HOW: readonly (readonly [line: string, how: string])[] = [
  ["echo once", "exit code 0 · allowed once"],
  ["echo edit", "exit code 0 · edited, allowed once"],
  ["printf ruled", "exit code 0 · allowed by rule run(printf *)"],
  [
    "touch made",
    "exit code 0, 1 file kept · allowed for this session · changes kept: the command was allowed",
  ],
  [".envrc", "+1 · allowed for this session"],
  [".envrc", "+1 −1 · allowed for this session"],
];

/** The lines of the calls, all of them open. */
async function opened({ nvim }: RunningAgent): Promise<readonly string[]> {
  await nvim.lua(`local chat = require("agent.chat").current()
    for _, block in ipairs(chat.timeline.blocks) do
      block.expanded = block.kind == "tool" or nil
    end
    chat.transcript:draw(vim.iter(ipairs(chat.timeline.blocks)):fold({}, function(all, index)
      all[index] = true
      return all
    end))`);
  return (await transcript(nvim)).filter((line) => line.startsWith("✓"));
}

function assertHow(lines: readonly string[]): void {
  for (const [at, [line, how]] of HOW.entries()) {
    assert.ok(lines[at]?.includes(line), lines.join("\\n"));
    assert.ok(lines[at]?.endsWith(`  ${how}`), `${lines[at]}\nends with ${how}`);
  }
  assert.doesNotMatch(lines.at(-1) ?? "", /allowed/, "a read needs no approval");
}

Deno.test("an open call says how it was approved, also when the session is resumed; a closed one does not", async () => {
  await using agent = await sharedAgent({
    script: [...CALLS, "say Seen."].join("\n---\n"),
    options:
      `sessions = { title = false }, shell = { commands = "ask" }, rules = { allow = { "run(printf *)" } }`,
    columns: 120,
    lines: 40,
  });
  const { nvim, project } = agent;
  await nvim.command("Agent go");
  await nvim.waitForScreen("$ echo once");
  await nvim.command("Agent approve");
  await nvim.waitForScreen("$ echo edit");
  await nvim.command("Agent approval");
  await nvim.waitForScreen("e edit");
  await nvim.keys("e");
  await nvim.waitForScreen("Edit the command");
  await nvim.keys("ggccecho edited<Esc><CR>");
  await nvim.waitForScreen("$ echo edited");
  await nvim.command("Agent approve");
  await nvim.waitForScreen("$ touch made");
  await nvim.command("Agent approve session");
  await nvim.waitForScreen("write .envrc");
  await nvim.command("Agent approve session");
  await waitUntil("both writes", async () => await project.read(".envrc").catch(() => "") === "two");
  await nvim.waitForScreen("Seen.");
  await waitForTurn(nvim);
  assert.doesNotMatch((await transcript(nvim)).join("\n"), /allowed/);
  assertHow(await opened(agent));
  const session = await nvim.lua<string>(`return require("agent.chat").current().timeline.session`);
  await endEngines(agent);
  await nvim.command(`Agent resume ${session}`);
  await nvim.waitForScreen("Seen.");
  assertHow(await opened(agent));
});
