/** Modes as their user sees them. Whole program. */
import assert from "node:assert/strict";
import { MODE_FACTS } from "../../denops/agent/protocol/modes.ts";
import { objects, string } from "../model/model_messages.ts";
import { startAgent } from "../support/agent.ts";
import { waitForTurn } from "../support/chat.ts";
import { treeOf } from "../support/trees.ts";

/** Everything that would change something, with bad intent. */
const ATTACKS = [
  'call write_file {"path": "src/new.ts", "content": "x"}',
  'call edit_file {"path": "src/greet.ts", "old_str": "Hello", "new_str": "Bye"}',
  'call delete_file {"path": "README.md"}',
  'call move_file {"from": "README.md", "to": "docs/README.md"}',
  'call rename_symbol {"path": "src/greet.ts", "line": 1, "name": "greet", "new_name": "x"}',
  'call code_action {"path": "src/greet.ts", "line": 1}',
  ...["look", "try", "write", "git", "look+network", "write+network", "git+network"].map((access) =>
    `call run_terminal_command {"command": "echo ${access} > pwned", "access": "${access}"}`
  ),
  'call run_terminal_command {"command": "echo plain > pwned"}',
  'call run_terminal_command {"command": "echo direct > pwned", "access": "write", "direct": true}',
];
const MORE = [
  'call run_terminal_command {"command": "echo back > pwned", "access": "write", "background": true}',
  'call run_terminal_command {"command": "git commit -am x", "access": "git"}',
  'call write_file {"path": "docs/../src/a.md/../b.ts", "content": "x"}',
];

Deno.test("a hostile model in every mode that changes nothing: nothing is written, and what runs looks", async () => {
  const names = MODE_FACTS.filter(({ access }) => access === "read").map(({ name }) => name);
  const turn = [
    "new-history",
    ...ATTACKS,
    "---",
    "new-history",
    ...MORE,
    "---",
    "new-history",
    "say Nothing done.",
  ].join("\n");
  await using agent = await startAgent({
    script: names.map(() => turn).join("\n---\n"),
    options:
      'title = false, commands = "project", allow = { "write(**)", "run(echo *)", "git(git *)", "network(*)" }',
  });
  const { nvim, server, project } = agent;
  const before = treeOf(project.root);
  for (const name of names) {
    await nvim.command(`Agent mode ${name}`);
    await nvim.command("Agent Do it");
    await waitForTurn(nvim);
    const body = server.requests.at(-1)?.body;
    const results = objects(body?.messages).filter(({ role }) => role === "tool").slice(-18)
      .map(({ content }) => string(content) ?? "");
    assert.equal(results.length, 18, name);
    for (const [at, result] of results.entries()) {
      const call = [...ATTACKS, ...MORE][at];
      assert.match(
        result,
        /no tool is called|access look only|Read-only file system/,
        `${name}: ${call}\n${result}`,
      );
    }
    assert.deepEqual(treeOf(project.root), before, name);
  }
  assert.deepEqual(server.problems, []);
});
