/** Whether overlays work is tested while nothing else happens, and remembered; a wrong memory lets nothing through. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { writeSupportFile } from "../../denops/agent/supervisor/commands/overlay/support_file.ts";
import { findProgram } from "../../denops/agent/supervisor/system/sandbox.ts";
import { startAgent } from "../support/agent.ts";
import { commandRunner } from "../support/command_sandbox.ts";
import { scratch, waitUntil } from "../support/project.ts";

const ignore = Deno.build.os !== "linux";

const TRY = `call run ${JSON.stringify({ command: "cat README.md", access: "try" })}\n---\nsay Tried.`;

Deno.test({
  name: "the test waits for the end of a turn, and the next Neovim does not repeat it",
  ignore,
  async fn() {
    await using tools = await scratch();
    const log = tools.path("log");
    const real = await findProgram("nsenter", []);
    await Deno.writeTextFile(
      tools.path("nsenter"),
      `#!/bin/sh\ndate +%s%3N >> '${log}'\nexec ${real} "$@"\n`,
      { mode: 0o755 },
    );
    const starts = async () => (await Deno.readTextFile(log).catch(() => "")).split("\n").slice(0, -1);
    const env = { PATH: `${tools.root}:${Deno.env.get("PATH")}` };
    // The answer takes longer than the time after which the sandbox is prepared.
    const script = `slow 2000\nsay Well, here I am.\n---\n${TRY}`;
    await using first = await startAgent({ script, env, options: "sessions = { title = false }" });
    const { nvim, server, state } = first;
    await nvim.command("Agent hello");
    await nvim.waitForScreen("here I am.");
    await nvim.waitForScreen("· ready");
    const isKept = () => [...Deno.readDirSync(state.root)].some(({ name }) => name === "overlay-support");
    await waitUntil("the test to be remembered", isKept);
    const begun = await starts();
    const ended = performance.timeOrigin + (server.requests[0]?.doneAt ?? Infinity);
    assert.ok(Number(begun[0]) > ended, "while the model was answering");
    await nvim.quit();

    await using second = await startAgent({ script, env, beside: first });
    await second.nvim.command("Agent try it");
    await second.nvim.waitForScreen("Tried.");
    assert.equal((await starts()).length, begun.length + 1, "the command alone");
  },
});

Deno.test({
  name: "a command does not start where overlays are said to work and do not, and then they are tested again",
  ignore,
  async fn() {
    await using state = await scratch();
    const roots = ["/dev"];
    for (const store of ["memory", "disk"] as const) {
      await writeSupportFile({ roots, state: state.root, store });
    }
    const { run, sandbox } = commandRunner(roots, state.root);
    assert.equal((await sandbox.rehearses()).works, true);
    const started = join("/dev/shm", `started-${crypto.randomUUID()}`);
    await assert.rejects(
      run("try", `touch ${started}`, { rehearsed: true }),
      /another file system is mounted/,
    );
    await assert.rejects(Deno.stat(started), Deno.errors.NotFound);
    assert.equal((await sandbox.rehearses()).works, false);
    assert.equal((await commandRunner(roots, state.root).sandbox.rehearses()).works, false);
  },
});

Deno.test({
  name: "what was remembered of another kernel or of other programs does not count",
  ignore,
  async fn() {
    await using state = await scratch();
    const roots = ["/dev"];
    await writeSupportFile({ roots, state: state.root, store: "memory" });
    for await (const { name } of Deno.readDir(state.path("overlay-support"))) {
      await Deno.writeTextFile(state.path(`overlay-support/${name}`), "0".repeat(64));
    }
    assert.equal((await commandRunner(roots, state.root).sandbox.rehearses()).works, false);
  },
});
