/** The first process is to start soon: what it loads before that is counted. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PLUGIN } from "../support/agent.ts";

/** Node's other modules cost 40 ms of CPU, and the supervisor loads them while the engine starts. */
Deno.test("the engine is started without Node's modules, but for paths", async () => {
  const boot = join(PLUGIN, "denops/agent/supervisor/agents/boot.ts");
  const command = new Deno.Command(Deno.execPath(), { args: ["info", "--json", boot], stderr: "null" });
  const { stdout } = await command.output();
  const { modules }: { readonly modules: readonly { readonly specifier: string }[] } = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  const ofNode = modules.filter(({ specifier }) => specifier.startsWith("node:"));
  assert.ok(modules.length > ofNode.length + 20, "deno info shows the modules");
  assert.deepEqual(ofNode.map(({ specifier }) => specifier), ["node:path"]);
});
