/** The screens that the help and README show, as a user sees them. `deno task docs` copies them from tests/screens. */
import type { ApprovalUpdate } from "../../denops/agent/protocol/ui.ts";
import { PLUGIN, startAgent } from "../support/agent.ts";
import { waitForTurn } from "../support/chat.ts";
import { ChildNvim } from "../support/nvim.ts";
import { expectScreen } from "../support/screenshot.ts";

/** As wide as a code block of the help. */
const COLUMNS = 74;

const SCRIPT = `
think Where is it used?
call read_file {"path": "src/greet.ts"}
usage 980 40
---
say I rename it, and set the new name in \`.env\`.
call edit_file {"path": "src/greet.ts", "old_str": "function greet(", "new_str": "function salute("}
call write_file {"path": ".env", "content": "GREETING=salute\\n"}
usage 1200 85
---
say Done.
usage 2345 20
---
new-history
say It reads each line twice.
---
new-history
status 401 no
`;

Deno.test("the screens of the help: a chat with a diff, an approval, the list of sessions", async () => {
  await using agent = await startAgent({
    script: SCRIPT,
    columns: COLUMNS,
    lines: 40,
    options: `title = false, spinner = false, show_diffs = "open"`,
    files: ["src/greet.ts"],
  });
  const { nvim } = agent;
  await nvim.command("Agent rename greet to salute everywhere");
  await nvim.waitForScreen("a once");
  await expectScreen(nvim, "help-approval");
  await nvim.keys("a");
  await nvim.waitForScreen("Done.");
  await waitForTurn(nvim);
  await nvim.waitForScreen("· ready");
  await expectScreen(nvim, "help-chat");
  for (const question of ["Why is the parser slow?", "Port it to Windows"]) {
    await nvim.command("Agent new");
    await nvim.command(`Agent ${question}`);
    await waitForTurn(nvim);
  }
  await nvim.keys("<Esc><Cmd>Agent sessions<CR>");
  // An engine may write what has happened last only now: then the order changes once more.
  await nvim.waitForScreen(/project · 3\s*\n✗ Port it.*\n✓ Why is/);
  await nvim.keys("gg");
  await nvim.keys("j");
  await nvim.waitForScreen("It reads each line twice.");
  const masked = (text: string) =>
    text.replaceAll(/\b\d\d:\d\d\b/g, "14:02").replace(/, \d{4}-\d\d-\d\d/, ", 2026-11-20");
  await expectScreen(nvim, "help-sessions", masked);
});

const COMMAND: ApprovalUpdate = {
  ...{ type: "approval", kind: "command", chat: 1, request: 7, tool: "1", title: "npm install left-pad" },
  ...{
    reason: "fetches packages",
    command: "npm install left-pad",
    folder: ".",
    severity: "medium",
    is_edited: false,
  },
  ...{ access: "write+network", suggestion: "run(npm install left-pad)" },
};

const CHANGES: ApprovalUpdate = {
  ...{
    type: "approval",
    kind: "effects",
    chat: 1,
    request: 8,
    tool: "1",
    title: "npm run build",
    reason: "",
  },
  ...{ command: "npm run build", folder: ".", end: "exit code 0" },
  effects: [
    {
      ...{ number: 1, path: ".envrc", what: "created", state: "left" },
      ...{ added: 1, note: "direnv runs it by itself" },
    },
    {
      ...{ number: 2, path: "src/version.ts", what: "modified", state: "kept" },
      ...{ added: 1, removed: 1, before: "1\n", after: "2\n" },
    },
    { number: 3, path: "src/generated.ts", what: "created", state: "kept", added: 60 },
    { number: 4, path: "dist/", what: "created", state: "kept", count: 12 },
    { number: 5, path: "run/queue", what: "created", state: "refused", note: "a named pipe" },
  ],
};

for (const [name, approval] of [["command", COMMAND], ["changes", CHANGES]] as const) {
  Deno.test(`the screens of the help: what an approval shows of ${name}`, async () => {
    await using nvim = await ChildNvim.start({ runtime: [PLUGIN], columns: COLUMNS, lines: 30 });
    await nvim.lua(`require("agent.approval") return require("agent.client").receive(...)`, [approval]);
    await nvim.command("Agent approval");
    await nvim.waitForScreen("R with reason");
    await expectScreen(nvim, `help-${name}`);
  });
}
