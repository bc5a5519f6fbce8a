/** A model that sees is shown an image of the project: the whole program, from Neovim's options to the request. */
import assert from "node:assert/strict";
import { WIRES } from "../../denops/agent/protocol/providers.ts";
import { messagesOf } from "../model/model_messages.ts";
import { startAgent } from "../support/agent.ts";
import { pngFile } from "../support/pictures.ts";

const PNG = pngFile(320, 240);
const PROJECT = { "docs/logo.png": PNG, "README.md": "![logo](docs/logo.png)\n" };

for (const wire of WIRES) {
  Deno.test(`an image reaches the model byte for byte, and the user sees that it did (${wire})`, async () => {
    await using agent = await startAgent({
      wire,
      project: PROJECT,
      options: "vision = true",
      script: `
call read_file {"path": "docs/logo.png"}
---
expect docs/logo.png is a PNG image (320×240, 77 kB); it is attached.
say It is grey noise.
---
expect Really?
say Yes.
`,
    });
    const { nvim, server } = agent;
    await nvim.command("Agent what does the logo show?");
    await nvim.waitForScreen("PNG image, 320×240, 77 kB");
    await nvim.waitForScreen("It is grey noise.");
    await nvim.waitForScreen("· ready");
    await nvim.keys("iReally?<Esc><CR>");
    await nvim.waitForScreen("Yes.");
    const sent = server.requests.map(({ body }) =>
      messagesOf(wire, body).flatMap(({ images }) => images.map(({ data }) => Uint8Array.fromBase64(data)))
    );
    assert.deepEqual(sent, [[], [PNG], [PNG]]);
    assert.deepEqual(server.problems, []);
    const chat = await nvim.lua<string>(
      "return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('^agent://chat/1$'), 0, -1, false), '\\n')",
    );
    assert.ok(!chat.includes(PNG.toBase64().slice(0, 40)));
  });
}

Deno.test("a model of an unknown name is not shown images, unless the user says that it sees", async () => {
  await using agent = await startAgent({
    project: PROJECT,
    script: `
call read_file {"path": "docs/logo.png"}
---
expect docs/logo.png is a PNG image (320×240, 77 kB); this model cannot see images.
say I cannot see it.
`,
  });
  const { nvim, server } = agent;
  await nvim.command("Agent what does the logo show?");
  await nvim.waitForScreen("I cannot see it.");
  assert.deepEqual(server.problems, []);
});
