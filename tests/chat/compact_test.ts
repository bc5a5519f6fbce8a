/** A long session makes room in the model's window, and the user can take that back. Whole program. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { disconnected, reached } from "../support/server.ts";
import { say, waitForChat, waitForTurn } from "../support/chat.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";

const FILES = Object.fromEntries(
  Array.from({ length: 8 }, (_, at) => [`f${at}.ts`, `// file ${at}\n`.padEnd(4_000, "const line = 1;\n")]),
);

const SCRIPT = [
  "when Stop here for a moment\nnew-history\nsay # Promises made\nsay \nsay No new libraries.\nrepeat",
  ...Object.keys(FILES).map((path) => `call read_file {"path": "${path}"}`),
  "say All read.",
  ...["Folded.", "Whole."].map((text) => `new-history\nsay ${text}`),
].join("\n---\n");

const options = "sessions = { title = false }";

/** The newest request. */
function sent({ server }: RunningAgent): string {
  return JSON.stringify(server.requests.at(-1)?.body);
}

Deno.test("a stop ends it: the connection is closed, nothing is folded, and the next message is answered", async () => {
  const script = SCRIPT.replace(
    "new-history\nsay # Promises",
    "new-history\nsay One\nwait here\nsay # Promises",
  );
  await using agent = await sharedAgent({ script, project: FILES, options });
  const { nvim, server } = agent;
  await nvim.command("Agent Read all files");
  await waitForChat(nvim, "All read.");
  await waitForTurn(nvim);
  await nvim.command('Agent compact "the names"');
  await reached(server, "here");
  await nvim.waitForScreen("· making room");
  await nvim.command("Agent stop");
  await waitForChat(nvim, "Stopped: nothing was folded.");
  await disconnected(server);
  await nvim.waitForScreen("· ready");
  await say(nvim, "And now?");
  await waitForChat(nvim, "Folded.");
  assert.match(sent(agent), /\/\/ file 1/);
  assert.deepEqual(server.problems, []);
});

Deno.test("compact: a line says what was folded, a restart of the engine keeps it, undo brings all back", async () => {
  await using agent = await sharedAgent({ script: SCRIPT, project: FILES, options });
  const { nvim, server } = agent;
  await nvim.command("Agent Read all files");
  await waitForChat(nvim, "All read.");
  await waitForTurn(nvim);
  await nvim.command("Agent compact the names");
  await waitForChat(nvim, "of the model's window: a summary stands for");
  assert.match(sent(agent), /What matters most to the user: the names/);
  await say(nvim, "And now?");
  await waitForChat(nvim, "Folded.");
  await waitForTurn(nvim);
  assert.match(sent(agent), /No new libraries\..*Read all files/);
  assert.doesNotMatch(sent(agent), /\/\/ file 1/);

  await endEngines(agent);
  await nvim.command("Agent resume");
  await waitForChat(nvim, "a summary stands for");
  await nvim.command("Agent compact undo");
  await waitForChat(nvim, "The model sees the folded messages again.");
  await nvim.keys("<Esc>:Agent compact undo<CR>");
  await nvim.waitForScreen("nothing is folded");
  await nvim.command("Agent send And now?");
  await waitForChat(nvim, "Whole.");
  assert.doesNotMatch(sent(agent), /No new libraries/);
  assert.match(sent(agent), /\/\/ file 1/);
  assert.deepEqual(server.problems, []);
});
