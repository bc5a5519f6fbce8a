/** Answers that end before their end, on the screen. Whole program. */
import assert from "node:assert/strict";
import { startAgent } from "../support/agent.ts";
import { waitForTurn } from "../support/chat.ts";

const LOOP = "I will look at it again, to be sure. ".repeat(400);

Deno.test("a call that was cut off, a model that repeats itself, a refusal: each is a line, and the chat goes on", async () => {
  await using agent = await startAgent({
    columns: 80,
    lines: 40,
    options: "title = false",
    script: [
      `call write_file {"path": "b.txt", "content": "half"}\nstop length`,
      "say I stop here.",
      `say Hm. ${LOOP}\nwait never`,
      "say Then in another way.",
      "say Half of\nstop content_filter",
      "new-history\nsay Fine.",
    ].join("\n---\n"),
  });
  const { nvim, server, project } = agent;
  const shown = async (...texts: readonly string[]) => {
    for (const text of texts) await nvim.waitForScreen(text);
    await waitForTurn(nvim);
  };
  await nvim.command("Agent write it");
  await shown("write b.txt", "cut off, not run", "I stop here.");
  await nvim.command("Agent look at it");
  await shown("The model repeated itself and was stopped", "Then in another way.");
  await nvim.command("Agent go further");
  await shown("Half of", "The model refused to answer.");
  await nvim.command("Agent something else");
  await shown("Fine.");
  assert.deepEqual(server.problems, []);
  await assert.rejects(project.read("b.txt"), Deno.errors.NotFound);
});
