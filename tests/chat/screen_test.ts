/** What a user sees, whole screens, at two sizes and two backgrounds. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { pressStop } from "../support/chat.ts";
import { contrast } from "../support/contrast.ts";
import { expectScreen } from "../support/screenshot.ts";
import { sharedAgent } from "../support/shared_agent.ts";

/** A program that the tests share, with one file in a window, on a screen of this size and with more options. */
async function start(script: string, columns: number, lines: number, more = ""): Promise<RunningAgent> {
  const shared = "sessions = { title = false }, ui = { spinner = false }";
  // A mined repository has one folder more.
  const options = { script, columns, lines, options: shared, files: ["src/greet.ts"], mined: false };
  const agent = await sharedAgent(options);
  await agent.nvim.lua(`require("agent").setup({ ${more} })`);
  return agent;
}

const SCRIPT = `
think Where is greet used?
say I look at the project first. The name \`greet\` stands in one file, as far as I can see, so this is a small change.
wait streaming
call list_directory {"path": "."}
call read_file {"path": "src/greet.ts"}
call read_file {"path": "src/missing.ts"}
usage 980 40
---
say Now I rename it.
call edit_file {"path": "src/greet.ts", "old_str": "function greet(", "new_str": "function salute("}
call write_file {"path": "src/__init__.py", "content": "import os\\n"}
call write_file {"path": ".env", "content": "GREETING=salute\\nNAME=world\\n"}
usage 1200 85
---
say Done.
usage 2345 20
---
say This answer is long, and
slow 1
flood 20
wait never
---
status 401
`;

for (const [columns, lines] of [[80, 24], [120, 40]] as const) {
  Deno.test(`the screens of a session at ${columns}×${lines}`, async () => {
    const size = `${columns}x${lines}`;
    await using agent = await start(SCRIPT, columns, lines);
    const { nvim, server } = agent;
    await nvim.command("Agent rename greet to salute everywhere");
    await server.reached("streaming");
    await nvim.waitForScreen("small change.");
    await nvim.waitForScreen("· working");
    await expectScreen(nvim, `streaming-${size}`);

    server.release("streaming");
    await nvim.waitForScreen("a once");
    await expectScreen(nvim, `approval-${size}`);

    await nvim.keys("a");
    await nvim.waitForScreen("Done.");
    await nvim.waitForScreen("· ready");
    await expectScreen(nvim, `done-${size}`);

    await nvim.keys("iTell me everything<Esc><CR>");
    await nvim.waitForScreen("word20");
    await pressStop(nvim);
    await nvim.waitForScreen("· ready");
    await expectScreen(nvim, `stopped-${size}`);

    await nvim.keys("iAgain<Esc><CR>");
    await nvim.waitForScreen("TEST_API_KEY");
    await nvim.waitForScreen("· ready");
    await expectScreen(nvim, `error-${size}`);

    await nvim.keys("q");
    await nvim.waitForScreenGone("Agent");
    await expectScreen(nvim, `hidden-${size}`);
  });
}

for (const layout of ["right", "bottom"]) {
  Deno.test(`the chat in a split: ${layout}`, async () => {
    const script = "say It stands in one file.\nusage 870 12\n---\nrepeat\nsay Yes.";
    await using agent = await start(script, 100, 24, `ui = { layout = "${layout}" }`);
    const { nvim } = agent;
    await nvim.command("Agent where is greet?");
    await nvim.waitForScreen("It stands in one file.");
    await nvim.waitForScreen("· ready");
    const id = await nvim.lua<number>(`return require("agent.chat").current().id`);
    // The number's further digits take the place of blanks.
    const blanks = " ".repeat(`${id}`.length - 1);
    const masked = (screen: string) =>
      screen.replaceAll(
        new RegExp(`(agent://chat-)${id}\\b((?:-input)?(?: \\[-\\])?)`, "g"),
        (_, name, rest) => {
          return `${name}1${rest}${blanks}`;
        },
      );
    await expectScreen(nvim, `layout-${layout}`, masked);
  });
}

for (const background of ["dark", "light"]) {
  Deno.test(`colours stand out from the background: ${background}`, async () => {
    await using agent = await start(SCRIPT, 80, 24);
    const { nvim, server } = agent;
    await nvim.lua(`vim.o.termguicolors, vim.o.background = true, "${background}"`);
    await nvim.command("Agent rename greet to salute everywhere");
    await server.reached("streaming");
    server.release("streaming");
    await nvim.waitForScreen("a once");
    for (const text of ["✓ edit", "? write  .env", "+GREETING", "Approval", "✓ write"]) {
      const at = nvim.locate(text);
      assert.ok(at, `${text} is on the screen`);
      const { fg, bg } = nvim.highlightAt(at.row, at.column);
      assert.ok(
        contrast(fg, bg) >= 3,
        `${text}: ${fg} on ${bg} has a contrast of ${contrast(fg, bg).toFixed(1)}`,
      );
    }
  });
}
