/** `:Agent context` opens each part of the next request as it is sent. Whole program. */
import assert from "node:assert/strict";
import { objects, property, string } from "../model/model_messages.ts";
import { GREET } from "../support/agent.ts";
import { waitForTurn } from "../support/chat.ts";
import { sharedAgent } from "../support/shared_agent.ts";

Deno.test("a part opens as the request has it: rules, a tool, messages and a result", async () => {
  await using agent = await sharedAgent({
    script: 'call read_file {"path": "src/greet.ts"}\n---\nsay Hm.\n---\nsay Well.',
    project: { ...GREET, "AGENTS.md": "Use tabs.\n" },
    options: "sessions = { title = false }",
  });
  const { nvim, server } = agent;
  for (const text of ["Hello", "Again"]) {
    await nvim.command(`Agent ${text}`);
    await waitForTurn(nvim);
  }
  await nvim.command("Agent context");
  await nvim.waitForScreen("<CR> read  d drop  p pin  q close");
  const read = async (row: string) => {
    await nvim.command(`call search("^  ${row} ")`);
    await nvim.keys("<CR>");
    await nvim.waitFor(`vim.api.nvim_buf_get_name(0):find("agent://part", 1, true)`);
    const part = await nvim.lua<readonly [string, string]>(
      `return { vim.bo.filetype, table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n") }`,
    );
    await nvim.keys("q");
    await nvim.waitForScreen("<CR> read");
    return part;
  };
  const sent = server.requests.at(-1)?.body;
  const [rulesType, rules] = await read("AGENTS.md");
  assert.equal(rulesType, "markdown");
  assert.match(rules, /^<rules_(\w+) file="AGENTS\.md">\nUse tabs\.\n<\/rules_\1>$/);
  const [toolType, tool] = await read("write");
  assert.equal(toolType, "json");
  const sentTool = objects(sent?.tools).map(({ function: spec }) => spec).find((spec) =>
    property(spec, "name") === "write"
  );
  assert.match(tool, /^\{\n {2}"name": "write",\n/);
  assert.deepEqual(JSON.parse(tool), sentTool);
  const [, words] = await read("your messages");
  assert.match(words, /^Hello\n\n---\n\nAgain$/);
  const [, result] = await read("src/greet.ts");
  assert.ok(
    objects(sent?.messages).some(({ content }) => string(content)?.startsWith(result)),
    "a result as it is sent",
  );
  await nvim.command("call cursor(1, 1)");
  await nvim.keys("<CR>");
  await nvim.waitForScreen("agent: no part is on this line");
  assert.deepEqual(server.problems, []);
});
