/**
 * The screens that the help and README show, as a user sees them. `deno task docs` copies those of the help from
 * tests/screens, and takes the pictures of doc/screens.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { ApprovalUpdate } from "../../denops/agent/protocol/ui.ts";
import { DOC_SCREENS, docSvg } from "../../scripts/screens/doc_screens.ts";
import { playSituation } from "../../scripts/screens/take.ts";
import { PLUGIN } from "../support/agent.ts";
import { waitForTurn } from "../support/chat.ts";
import { ChildNvim } from "../support/nvim.ts";
import { expectScreen } from "../support/screenshot.ts";
import { sharedAgent } from "../support/shared_agent.ts";

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
  await using agent = await sharedAgent({
    script: SCRIPT,
    hasOwnState: true,
    columns: COLUMNS,
    lines: 40,
    options: `sessions = { title = false }, ui = { spinner = false }, review = { show_diffs = "open" }`,
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
  // The number of a chat depends on the tests before.
  const masked = (text: string) =>
    text.replaceAll(/\b\d\d:\d\d\b/g, "14:02").replace(/, \d{4}-\d\d-\d\d/, ", 2026-11-20")
      .replace(/chat-\d+/, "chat-3");
  await expectScreen(nvim, "help-sessions", masked);
  await nvim.keys("q");
});

/** Chats count from the first of a program. */
const group = "pictures";

for (const screen of DOC_SCREENS) {
  Deno.test(`${screen.path} is what Neovim shows`, async () => {
    const { situation, view, path } = screen;
    await using agent = await playSituation(situation, view, (options) => sharedAgent({ ...options, group }));
    const { nvim, project } = agent;
    const expected = await Deno.readTextFile(join(PLUGIN, path));
    const isFresh = () => docSvg(screen, nvim.picture()) === expected;
    await nvim.waitForScreen(isFresh).catch(() => {});
    assert.ok(isFresh(), `${path} is stale: run deno task docs, and look at it`);
    if (situation.name !== "changes") return;
    assert.equal(await project.read("lua/todo/version.lua"), 'return "1.3.9"\n');
    await nvim.keys("a");
    await nvim.waitForScreen("Version 1.4.0 is ready.");
    assert.equal(await project.read("lua/todo/version.lua"), 'return "1.4.0"\n');
  });
}

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
      ...{ added: 1, note: "direnv runs it automatically" },
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
