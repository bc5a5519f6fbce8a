/** A state folder that is not as it should be: what the user is told. Whole program. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { MIGRATIONS } from "../../denops/agent/engine/store/upgrade/migrations.ts";
import { Database, DATABASE_FILE } from "../../denops/agent/engine/store/database.ts";
import { SqliteStore } from "../../denops/agent/engine/store/sqlite.ts";
import { projectState } from "../../denops/agent/supervisor/system/project_state.ts";
import type { RunningAgent } from "../support/agent.ts";
import { say, transcript, waitForChat } from "../support/chat.ts";
import { sharedAgent } from "../support/shared_agent.ts";
import { storeSession } from "../support/stored_session.ts";

function start(script: string): Promise<RunningAgent> {
  return sharedAgent({ script, hasOwnState: true });
}

/** The folder of the project's state, before an engine has begun. */
function stateOf({ state, project }: RunningAgent): Promise<string> {
  return projectState(project.root, state.root);
}

Deno.test("a damaged database is set aside, which is said once; a session that can be read is resumed", async () => {
  await using agent = await start("expect And now?\nsay Two.\n---\nsay Three.\nrepeat");
  const { nvim, server, project } = agent;
  const folder = await stateOf(agent);
  const path = join(folder, DATABASE_FILE);
  {
    using database = await Database.openIn(folder);
    const store = new SqliteStore(database);
    store.createSession({ id: crypto.randomUUID(), root: project.root, model: "scripted" });
  }
  await storeSession(agent, 3);
  {
    // The page with all of the tables' names.
    using file = await Deno.open(path, { write: true });
    await file.write(new Uint8Array(8192).fill(7));
  }
  await nvim.command("Agent resume");
  await waitForChat(nvim, "answer 3");
  await say(nvim, "And now?");
  await waitForChat(nvim, "Two.");
  const said = (await transcript(nvim)).filter((line) => line.includes("Cannot read all sessions"));
  assert.equal(said.length, 1);
  assert.ok(JSON.stringify(server.requests[0]?.body).includes("answer 2"));
  await nvim.command("Agent new");
  await say(nvim, "Another");
  await waitForChat(nvim, "Three.");
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  assert.equal(
    names.filter((name) => name.startsWith(`${DATABASE_FILE}.corrupt-`)).length,
    1,
    names.join(" "),
  );
  const stored = new DatabaseSync(path, { readOnly: true });
  const count = stored.prepare("SELECT count(*) AS count FROM sessions WHERE turns > 0").get()?.count;
  stored.close();
  assert.equal(count, 2);
  assert.deepEqual((await transcript(nvim, 0, 2)).filter((line) => line.includes("Cannot read")), []);
});

Deno.test("a damaged database is told once to a message that is sent before the engine has started", async () => {
  await using agent = await start("say Two.");
  const { nvim } = agent;
  await Deno.writeFile(join(await stateOf(agent), DATABASE_FILE), new Uint8Array(50_000).fill(7));
  await nvim.command("Agent Hello");
  await waitForChat(nvim, "Two.");
  const said = (await transcript(nvim)).filter((line) => line.includes("Cannot read all sessions"));
  assert.equal(said.length, 1);
});

Deno.test("a session of an earlier agent.nvim is resumed", async () => {
  await using agent = await start("expect On\nsay Two.\n");
  const { nvim, server } = agent;
  const folder = await stateOf(agent);
  const old = new URL("../store/schemas/39559bc7.db.gz", import.meta.url);
  await Deno.writeFile(join(folder, DATABASE_FILE), gunzipSync(await Deno.readFile(old)));
  await nvim.command("Agent resume");
  await waitForChat(nvim, "Question five is cut off");
  await say(nvim, "On");
  await waitForChat(nvim, "Two.");
  assert.ok(JSON.stringify(server.requests[0]?.body).includes("Changed again."));
});

Deno.test("sessions of a newer agent.nvim are left alone, and one line says why nothing starts", async () => {
  await using agent = await start("say Two.\nrepeat");
  const { nvim, server } = agent;
  const folder = await stateOf(agent);
  const newer = MIGRATIONS.length + 1;
  {
    using database = await Database.openIn(folder);
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
