/** A state folder that is not as it should be: what the user is told. Whole program. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MIGRATIONS } from "../../denops/agent/engine/store/migrations.ts";
import { Database, DATABASE_FILE } from "../../denops/agent/engine/store/database.ts";
import { projectState } from "../../denops/agent/supervisor/system/project_state.ts";
import { type RunningAgent, startAgent } from "../support/agent.ts";
import { waitForChat } from "../support/chat.ts";

/** The folder of the project's state, before an engine has begun. */
function stateOf({ state, project }: RunningAgent): Promise<string> {
  return projectState(project.root, state.root);
}

Deno.test("sessions that cannot be read are set aside, which is said at once, and new ones work", async () => {
  await using agent = await startAgent({ script: "say Two.\nrepeat" });
  const { nvim } = agent;
  const folder = await stateOf(agent);
  await Deno.writeTextFile(join(folder, DATABASE_FILE), "this is no database ".repeat(500));
  await nvim.command("Agent Hello");
  await waitForChat(nvim, "cannot be read");
  await nvim.waitForScreen("Two.");
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  assert.ok(names.some((name) => name.startsWith(`${DATABASE_FILE}.corrupt-`)), names.join(" "));
});

Deno.test("sessions of a newer agent.nvim are left alone, and one line says why nothing starts", async () => {
  await using agent = await startAgent({ script: "say Two.\nrepeat" });
  const { nvim, server } = agent;
  const folder = await stateOf(agent);
  const newer = MIGRATIONS.length + 1;
  {
    using database = Database.openIn(folder).database;
    database.run(`PRAGMA user_version = ${newer}`);
  }
  await nvim.command("Agent Hello");
  await waitForChat(nvim, "a newer agent.nvim has written it");
  await waitForChat(nvim, "Update the plugin.");
  assert.deepEqual(server.requests, []);
  const stored = new DatabaseSync(join(folder, DATABASE_FILE), { readOnly: true });
  assert.equal(stored.prepare("PRAGMA user_version").get()?.user_version, newer);
  stored.close();
});
