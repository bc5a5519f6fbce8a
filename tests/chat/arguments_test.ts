/** Arguments of sub-commands: wrong ones are refused, and sentences are messages. */
import assert from "node:assert/strict";
import { sharedEditor } from "../support/shared_editor.ts";

/** Each wrong argument, and the beginning of the line that refuses it. */
const WRONG_ARGUMENTS = {
  "effort huge": "effort takes default, none, low, medium, high or max.",
  "effort hihg": "did you mean :Agent effort high?",
  "approve forever": "approve takes session or always.",
  "approve sesion": "did you mean :Agent approve session?",
  "tutor nxt": "did you mean :Agent tutor next?",
  "tutor five": "tutor takes next or quit.",
  "restore x": "restore takes the number of a turn.",
  "undo last": "undo takes the number of a turn.",
  "rewind 3x": "rewind takes the number of a turn.",
  "worktree mrege": "did you mean :Agent worktree merge?",
  "worktree mrege parser": "did you mean :Agent worktree merge parser?",
  "worktree list": "worktree takes merge or remove.",
  "new --worktre": "did you mean :Agent new --worktree?",
  "new claud": "did you mean :Agent new claude?",
  "review nxet": "did you mean :Agent review next?",
  "review by claud": "did you mean :Agent review by claude?",
  "review keep fiel": "did you mean :Agent review keep file?",
  "keep hunks": "did you mean :Agent keep hunk?",
  "session exprot": "did you mean :Agent session export?",
  "login copliot": "did you mean :Agent login copilot?",
};

/** Messages that begin with the name of a sub-command. */
const SENTENCES = [
  "fix the failing test",
  "explain what greet does",
  "tests for the parser",
  "keep going",
  "undo that",
  "undo the rename",
  "restore src/greet.ts",
  "restore everything",
  "approve it if the tests pass",
  "review this",
  "review documentation",
  "review commits",
  "login fails",
  "new chat bubbles for the page",
  "new code please",
  "worktree support is missing",
  "effort estimates please",
  "rename greet",
  "session handling is broken",
];

Deno.test("a wrong argument is refused in one line and can be typed again; sentences are messages", async () => {
  await using editor = await sharedEditor({ columns: 120 });
  const { nvim: child } = editor;
  for (const [words, line] of Object.entries(WRONG_ARGUMENTS)) {
    await child.command("messages clear");
    await child.keys(`:Agent ${words}<CR>`);
    const whole = `agent: ${line} To send the words as a message: :Agent send ${words}`;
    await child.waitFor(`vim.fn.execute("messages"):find(${JSON.stringify(whole)}, 1, true)`);
    assert.equal(await child.lua(`return vim.fn.histget("cmd")`), `Agent ${words}`);
  }
  const prompts = () =>
    child.lua(`return vim.iter(_G.sent)
      :filter(function(action) return action.type == "prompt" end)
      :map(function(action) return action.text end):totable()`);
  assert.deepEqual(await prompts(), []);
  for (const sentence of SENTENCES) await child.command(`Agent ${sentence}`);
  await child.command("Agent send effort huge");
  await child.command("1Agent effort huge");
  assert.deepEqual(await prompts(), [...SENTENCES, "effort huge", "effort huge"]);
});
