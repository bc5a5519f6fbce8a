import assert from "node:assert/strict";
import { join } from "node:path";
import { hooksOf } from "./entries.ts";

async function folder(files: Readonly<Record<string, unknown>>): Promise<string> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  for (const [name, content] of Object.entries(files)) {
    await Deno.mkdir(join(root, name, ".."), { recursive: true });
    await Deno.writeTextFile(
      join(root, name),
      typeof content === "string" ? content : JSON.stringify(content),
    );
  }
  return root;
}

const hooks = (command: string, more = {}) => ({
  hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command, ...more }] }] },
});

Deno.test("hooks come from the options, then from the files of the project and the user", async () => {
  const root = await folder({
    ".agents/hooks.json": hooks("two"),
    ".claude/settings.json": { permissions: {}, ...hooks("three", { timeout: 5, if: "Bash(rm *)" }) },
    ".claude/settings.local.json": { disableAllHooks: true, ...hooks("none") },
    ".codex/hooks.json": hooks("five", { command: "node", args: ["a b.js"] }),
    ".cursor/hooks.json": {
      version: 1,
      hooks: { beforeShellExecution: [{ command: "six" }], afterFileEdit: [{ command: "seven" }] },
    },
  });
  const home = await folder({ ".claude/settings.json": hooks("four") });
  const found = await hooksOf({ PreToolUse: [{ hooks: [{ command: "one" }] }] }, { root, home });
  assert.deepEqual(found.problems, []);
  assert.deepEqual(found.hooks.map(({ event, matcher, command, file }) => [event, matcher, command, file]), [
    ["PreToolUse", "", "one", undefined],
    ["PreToolUse", "Bash", "two", ".agents/hooks.json"],
    ["PreToolUse", "Bash", "three", ".claude/settings.json"],
    ["PreToolUse", "Bash", "four", "~/.claude/settings.json"],
    ["PreToolUse", "Bash", "node 'a b.js'", ".codex/hooks.json"],
    ["PreToolUse", "Bash", "six", ".cursor/hooks.json"],
    ["PostToolUse", "Edit|MultiEdit|Write", "seven", ".cursor/hooks.json"],
  ]);
  assert.deepEqual(found.hooks.map(({ timeout, rule }) => [timeout, rule])[2], [5, "Bash(rm *)"]);
  for (const made of [root, home]) await Deno.remove(made, { recursive: true });
});

Deno.test("unsupported entries are reported, and a broken file hides no other", async () => {
  const root = await folder({
    ".agents/hooks.json": "{",
    ".claude/settings.json": {
      hooks: {
        PreToolUse: [{ matcher: "(", hooks: [{ command: "a" }] }, {
          hooks: [{ type: "prompt", prompt: "?" }],
        }],
        Setup: [{ hooks: [{ command: "b" }] }],
        Stop: [{ hooks: [{ command: "c" }] }],
      },
    },
    ".codex/hooks.json": { hooks: [] },
  });
  const { hooks, problems } = await hooksOf({}, { root, home: undefined });
  assert.deepEqual(hooks.map(({ command }) => command), ["c"]);
  assert.deepEqual(problems, [
    "Cannot use .agents/hooks.json: it is not JSON. Correct the file.",
    "A hook of .claude/settings.json for PreToolUse does not run: its matcher is not a regular expression. See :help agent-hooks.",
    "A hook of .claude/settings.json for PreToolUse does not run: its type prompt is not supported. See :help agent-hooks.",
    "A hook of .claude/settings.json for Setup does not run: its event is not supported. See :help agent-hooks.",
    'Cannot use the hooks of .codex/hooks.json: "hooks" is not an object. See :help agent-hooks.',
  ]);
  await Deno.remove(root, { recursive: true });
});
