/** The tutor's model: a process that answers from scripts, and removes what it was started with. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PLUGIN } from "../support/agent.ts";

/** The roles of a conversation, as a request to the model has them. */
async function ask(url: string, ...roles: readonly string[]): Promise<string> {
  const body = JSON.stringify({
    model: "scripted-model",
    messages: roles.map((role) => ({ role, content: "" })),
  });
  return await (await fetch(`${url}/chat/completions`, { method: "POST", body })).text();
}

Deno.test("a script is played anew in each turn, another one from the next turn on; at the end the folder is gone", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.mkdir(join(folder, "party"));
  const script = join(PLUGIN, "denops/agent/scripted_model/serve.ts");
  const args = ["run", "--no-prompt", "--allow-net=127.0.0.1", `--allow-write=${folder}`, script, folder];
  const process = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped" }).spawn();
  const orders = process.stdin.getWriter();
  const tell = (order: unknown) => orders.write(new TextEncoder().encode(`${JSON.stringify(order)}\n`));
  const lines = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const url = (await lines.read()).value?.trim() ?? "";
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);

  await tell({ play: "say one\n---\nsay two\n" });
  assert.equal((await lines.read()).value, "done\n");
  assert.match(await ask(url, "user"), /one/);
  assert.match(await ask(url, "user", "assistant", "tool"), /two/);
  assert.match(await ask(url, "user", "assistant", "tool", "assistant", "user"), /one/);
  assert.match(await ask(url, "user", "assistant", "tool", "user"), /two/);
  assert.match(await ask(url, "user", "assistant", "tool"), /no answer left/);
  assert.match(await (await fetch(`${url}/models`)).text(), /Unknown endpoint/);

  await orders.close();
  assert.equal((await process.status).code, 0);
  await assert.rejects(Deno.stat(folder), Deno.errors.NotFound);
  await lines.cancel();
});
