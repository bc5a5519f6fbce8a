/** A state folder that is not as it should be: what the user is told. Whole program. */
import assert from "node:assert/strict";
import { MIGRATIONS } from "../../denops/agent/engine/store/migrations.ts";
import { Database, DATABASE_FILE } from "../../denops/agent/engine/store/database.ts";
import { type RunningAgent, startAgent } from "../support/agent.ts";
import { waitForChat } from "../support/chat.ts";
import { waitForNone } from "../support/processes.ts";
import { waitUntil } from "../support/project.ts";

/** Starts and ends an engine, and finds the folder that it keeps the project's state in. */
async function stateOf({ nvim, state, project }: RunningAgent): Promise<string> {
  await nvim.command("Agent Hello");
  await nvim.waitForScreen("One.");
  await nvim.waitForScreen("· ready");
  const name = project.root.split("/").at(-1) ?? "";
  return await waitUntil("the state folder", async () => {
    const folders = await Array.fromAsync(Deno.readDir(state.root));
    const found = folders.find((folder) => folder.isDirectory && folder.name.startsWith(`${name}-`));
    return found === undefined ? undefined : state.path(found.name);
  });
}

/** What writes there does so no more. */
async function ended({ nvim }: RunningAgent, folder: string): Promise<void> {
  await nvim.quit();
  if (Deno.build.os === "linux") await waitForNone([folder], 10_000);
}

/** Another Neovim in the same project, with the same state folder. */
async function again({ project, state }: RunningAgent): Promise<RunningAgent> {
  return await startAgent({
    script: "say Two.\nrepeat",
    cwd: project.root,
    options: `state_dir = ${JSON.stringify(state.root)}`,
  });
}

Deno.test("sessions that cannot be read are set aside, which is said at once, and new ones work", async () => {
  await using first = await startAgent({ script: "say One.\nrepeat" });
  const folder = await stateOf(first);
  await ended(first, folder);
  await Deno.writeTextFile(`${folder}/${DATABASE_FILE}`, "this is no database ".repeat(500));
  for (const suffix of ["-wal", "-shm"]) {
    await Deno.remove(`${folder}/${DATABASE_FILE}${suffix}`).catch(() => {});
  }
  await using second = await again(first);
  await second.nvim.command("Agent Hello");
  await waitForChat(second.nvim, "cannot be read");
  await second.nvim.waitForScreen("Two.");
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  assert.ok(names.some((name) => name.startsWith(`${DATABASE_FILE}.corrupt-`)), names.join(" "));
});

Deno.test("sessions of a newer agent.nvim are left alone, and one line says why nothing starts", async () => {
  await using first = await startAgent({ script: "say One.\nrepeat" });
  const folder = await stateOf(first);
  await ended(first, folder);
  {
    using database = Database.openIn(folder).database;
    database.run(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
  }
  await using second = await again(first);
  await second.nvim.command("Agent Hello");
  await waitForChat(second.nvim, "a newer agent.nvim has written it");
  await waitForChat(second.nvim, "Update the plugin.");
  assert.deepEqual(second.server.requests, []);
});
