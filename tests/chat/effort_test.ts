/** Thoughts and effort as their user sees them. Whole program. */
import assert from "node:assert/strict";
import { CHOOSABLE_EFFORTS } from "../../denops/agent/protocol/options/efforts.ts";
import { objects } from "../model/model_messages.ts";
import { transcript, waitForTurn } from "../support/chat.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { waitUntil } from "../support/project.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";

/** The transcript's lines as one text. */
async function shown(nvim: ChildNvim): Promise<string> {
  return (await transcript(nvim)).join("\n");
}

const SCRIPT = `
say <think>
say I look first.
say </think>
say Hello.
---
wait thought
say Second thoughts.
wait answer
say </think>
say
say Second answer.
---
new-history
expect-not Second thoughts
say Third answer.
`;

Deno.test("thoughts in the text are folded, and an effort is chosen, sent, shown and kept", async () => {
  await using agent = await sharedAgent({
    script: SCRIPT,
    options: 'sessions = { title = false }, effort = "low"',
    lua: `vim.ui.select = function(items, options, done)
      _G.efforts = { options.prompt, vim.tbl_map(function(item) return item.name end, items) }
      done(items[5])
    end`,
  });
  const { nvim, server } = agent;
  await nvim.command("Agent Hi");
  await nvim.waitForScreen("Hello.");
  await waitForTurn(nvim);
  await nvim.waitForScreen("effort low");
  const first = await shown(nvim);
  assert.match(first, /Thought for a moment/);
  assert.doesNotMatch(first, /think>|I look first/);
  const sent = () => server.requests.at(-1)?.body.chat_template_kwargs;
  assert.deepEqual(sent(), { enable_thinking: true, thinking: true });

  assert.deepEqual(await nvim.lua(`return vim.fn.getcompletion("Agent effort m", "cmdline")`), [
    "medium",
    "max",
  ]);
  await nvim.command("Agent effort");
  await nvim.waitForScreen("effort high");
  assert.deepEqual(await nvim.lua("return _G.efforts"), ["Effort (now low)", CHOOSABLE_EFFORTS]);
  await nvim.waitForScreen("agent: effort high, from the next message on");
  await nvim.command("Agent effort none");
  await nvim.waitForScreen("effort none");

  // The server's template has swallowed the opening mark.
  await nvim.command("Agent And now?");
  server.release("thought");
  await nvim.waitForScreen("Second thoughts.");
  server.release("answer");
  await nvim.waitForScreen("Second answer.");
  await waitForTurn(nvim);
  const both = await shown(nvim);
  assert.equal(both.match(/Thought for/g)?.length, 2, both);
  assert.doesNotMatch(both, /think>|Second thoughts/);
  assert.deepEqual(sent(), { enable_thinking: false, thinking: false });

  await endEngines(agent);
  await nvim.command("Agent resume");
  await nvim.waitForScreen("Second answer.");
  assert.equal((await shown(nvim)).replace(/for .*/g, ""), both.replace(/for .*/g, ""));
  await nvim.command("Agent And then?");
  await nvim.waitForScreen("Third answer.");
  await nvim.waitForScreen("effort none");
  await waitForTurn(nvim);
  assert.deepEqual(sent(), { enable_thinking: false, thinking: false });
  const said = objects(server.requests.at(-1)?.body.messages).filter(({ role }) => role === "assistant");
  assert.deepEqual(said.map(({ content }) => content), ["Hello.", "Second answer."]);
  await nvim.command("Agent effort default");
  await waitUntil("the winbar", async () =>
    !/effort/.test(
      await nvim.lua<string>(
        `return require("agent.chat").current().status:line()`,
      ),
    ));
  assert.deepEqual(server.problems, []);
});
