/** A model that sees is shown an image of the project: the whole program, from Neovim's options to the request. */
import assert from "node:assert/strict";
import { type WireName, WIRES } from "../../denops/agent/protocol/providers.ts";
import { ModelServer } from "../model/model_server.ts";
import { messagesOf } from "../model/model_messages.ts";
import { baseUrl, SECRET } from "../support/agent.ts";
import { pngFile } from "../support/pictures.ts";
import { sample } from "../support/sample.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const PNG = pngFile(320, 240);
const PROJECT = { "docs/logo.png": PNG, "README.md": "![logo](docs/logo.png)\n" };

Deno.test("an image reaches a model that sees byte for byte, on each wire, and the user sees that it did", async () => {
  await using server = await ModelServer.start("", { secrets: [SECRET] });
  const provider = (name: string, wire: WireName) =>
    `${name} = { wire = "${wire}", base_url = "${baseUrl(wire, server)}", api_key = "env:TEST_API_KEY" }`;
  const providers = [provider("test", "openai_chat"), ...WIRES.map((wire) => provider(`by_${wire}`, wire))];
  await using agent = await sharedAgent({
    script: "",
    project: PROJECT,
    options: `sessions = { title = false }, providers = { ${providers.join(", ")} }`,
  });
  const { nvim } = agent;

  // A model of an unknown name is not shown images, unless the user says that it sees.
  server.play(`
call read_file {"path": "docs/logo.png"}
---
expect docs/logo.png is a PNG image (320×240, 77 kB); this model cannot see images.
say I cannot see it.
`);
  await nvim.command("Agent what does the logo show?");
  await nvim.waitForScreen("I cannot see it.");
  await nvim.waitForScreen("· ready");

  for (const wire of sample(WIRES, 2)) {
    const before = server.requests.length;
    server.play(`
new-history
call read_file {"path": "docs/logo.png"}
---
expect docs/logo.png is a PNG image (320×240, 77 kB); it is attached.
say It is grey noise.
---
expect Really?
say Yes.
`);
    await nvim.lua(
      `require("agent").setup({ provider = "by_${wire}", models = { ["*"] = { vision = true } } })`,
    );
    await nvim.command("Agent new");
    await nvim.waitForScreenGone("what does the logo show?");
    await nvim.command("Agent what does the logo show?");
    await nvim.waitForScreen("PNG image, 320×240, 77 kB");
    await nvim.waitForScreen("It is grey noise.");
    await nvim.waitForScreen("· ready");
    await nvim.keys("iReally?<Esc><CR>");
    await nvim.waitForScreen("Yes.");
    await nvim.waitForScreen("· ready");
    const requests = server.requests.slice(before);
    const sent = requests.map(({ body }) =>
      messagesOf(wire, body).flatMap(({ images }) => images.map(({ data }) => data === PNG.toBase64()))
    );
    assert.deepEqual(sent, [[], [true], [true]], wire);
    assert.ok(requests.every((request) => request.wire === wire), wire);
    const chat = await nvim.lua<string>(
      `return table.concat(vim.api.nvim_buf_get_lines(require("agent.chat").current().transcript.buffer, 0, -1, false), "\\n")`,
    );
    assert.match(chat, /It is grey noise\./);
    assert.ok(!chat.includes(PNG.toBase64().slice(0, 40)));
  }
  assert.deepEqual(server.problems, []);
});
