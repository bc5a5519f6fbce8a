/** A session's scratch folder: in the prompt, written and run unasked, the same after a restart, gone with the session. */
import assert from "node:assert/strict";
import { say, waitForChat, waitForTurn } from "../support/chat.ts";
import { waitUntil } from "../support/project.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";
import { objects, string } from "../model/model_messages.ts";

Deno.test("the model's own notes: no approval, no hunk, nothing to undo; the prompt stays over a restart", async () => {
  const options = "sessions = { title = false }";
  await using agent = await sharedAgent({ script: "say Hm.", options, hasOwnState: true });
  const { nvim, server } = agent;
  const system = () => string(objects(server.requests.at(-1)?.body.messages)[0]?.content) ?? "";
  await nvim.command("Agent Hello");
  await waitForChat(nvim, "Hm.");
  await waitForTurn(nvim);
  const before = system();
  const [folder = ""] = /\/\S+\/scratch\/[\w-]+$/m.exec(before) ?? [];
  const look = Deno.build.os === "linux" ? `cat ${folder}/note.md` : "true";
  server.play([
    `call write_file ${JSON.stringify({ path: `${folder}/note.md`, content: "a note\n" })}`,
    `call run_terminal_command ${JSON.stringify({ command: look, access: "look" })}`,
    ...Deno.build.os === "linux" ? ["expect a note\nsay Noted."] : ["say Noted."],
  ].join("\n---\n"));
  await say(nvim, "Note it");
  await waitForChat(nvim, "Noted.");
  await waitForTurn(nvim);
  assert.equal(await Deno.readTextFile(`${folder}/note.md`), "a note\n");
  await nvim.keys("<Esc>:Agent undo<CR>");
  await nvim.waitForScreen("nothing to undo");
  await nvim.keys(":Agent review<CR>");
  await nvim.waitForScreen("nothing to review");

  await endEngines(agent);
  server.play("say Again.");
  await nvim.command("Agent resume");
  await waitForChat(nvim, "Noted.");
  await nvim.command("Agent send Go on");
  await waitForChat(nvim, "Again.");
  await waitForTurn(nvim);
  assert.equal(system(), before);
  assert.deepEqual(server.problems, []);
  await nvim.lua(`vim.ui.select = function(_, _, done) done("", 2) end`);
  await nvim.keys("<Esc><Cmd>Agent delete<CR>");
  await waitUntil("the folder to go", () => Deno.lstat(folder).then(() => false, () => true));
});
