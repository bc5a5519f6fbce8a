/** Sessions at Copilot: who has begun a request, keys that end, models of other wires. Between the real engine and servers. */
import assert from "node:assert/strict";
import type { RenewKey } from "../../denops/agent/engine/llm/access.ts";
import type { TurnEnd } from "../../denops/agent/engine/agent/turn/runner.ts";
import { type ModelConfig, UserConfig } from "../../denops/agent/protocol/config.ts";
import { renewedKey } from "../../denops/agent/supervisor/agents/copilot/account.ts";
import { engineConfig } from "../../denops/agent/supervisor/agents/provider.ts";
import { CopilotServer, listed, OAUTH } from "../support/copilot_server.ts";
import { END_TURN, type EngineOptions, startEngine } from "../support/engine_session.ts";
import { pngFile } from "../support/pictures.ts";
import { scratch, waitUntil } from "../support/project.ts";

interface Asked extends Pick<EngineOptions, "files"> {
  readonly changes?: Record<string, unknown>;
  /** Of what the engine is told. */
  readonly told?: Partial<ModelConfig["provider"]>;
}

/** A session with what the supervisor tells of this server. */
async function session(server: CopilotServer, { files = {}, changes = {}, told = {} }: Asked = {}) {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(await scratch({ "config/github-copilot/apps.json": server.appsJson() }));
  const user = UserConfig.parse({
    provider: "copilot",
    providers: { copilot: server.options },
    state_dir: home.path("state"),
    title: false,
    ...changes,
  });
  const world = {
    env: (name: string) => name === "XDG_CONFIG_HOME" ? home.path("config") : undefined,
    fetch: (url: string, init: RequestInit) => fetch(url, init),
    run: () => Promise.reject(new Error("no commands")),
  };
  const config = await engineConfig(user, world, []);
  const asked: boolean[] = [];
  const renew: RenewKey = async (refused) => {
    asked.push(refused);
    return await renewedKey(user, world, { address: config.provider.base_url, refused });
  };
  const provider = { ...config.provider, ...told };
  const script = "say Nobody asks here.";
  const engine = stack.use(await startEngine({ files, script, config: { ...config, provider }, renew }));
  const owned = stack.move();
  return { engine, asked, home, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function failure(end: TurnEnd): string {
  assert.equal(end.type, "failed");
  return end.type === "failed" ? end.error.message : "";
}

Deno.test("copilot: one request of a turn is the user's, all others are the agent's", async () => {
  await using server = await CopilotServer.start({
    script: `call read_file {"path": "a.txt"}
call run_subagent {"title": "Find beta", "task": "Where is beta?"}
---
when Where is beta?
call read_file {"path": "a.txt"}
---
when Where is beta?
say Nowhere.
---
call read_file {"path": "a.txt"}
---
say Done.
---
say Done again.`,
  });
  await using running = await session(server, { files: { "a.txt": "alpha\n" }, changes: { title: true } });
  const { engine } = running;
  assert.deepEqual(await engine.prompt("Well?"), END_TURN);
  await waitUntil("the title to be asked for", () => server.model.titleRequests.length === 1);
  assert.deepEqual(await engine.prompt("And once more?"), END_TURN);
  const who = server.chats.map(({ headers }) => headers["x-initiator"]);
  assert.equal(who[0], "user");
  assert.equal(who.at(-1), "user");
  assert.deepEqual(who.slice(1, -1), Array(who.length - 2).fill("agent"));
  assert.equal(server.model.titleRequests.length, 1);
  assert.equal(who.length, 7, "with the title");
  assert.deepEqual([...server.problems, ...server.model.problems], []);
});

Deno.test("copilot: what nobody has answered is still the user's when it is tried again", async () => {
  await using server = await CopilotServer.start({
    script: "status 429 retry-after=0\n---\nsay Hello.",
  });
  await using running = await session(server);
  assert.deepEqual(await running.engine.prompt("Well?"), END_TURN);
  assert.deepEqual(server.chats.map(({ headers }) => headers["x-initiator"]), ["user", "user"]);
});

Deno.test("copilot: images are announced, and only where there are some", async () => {
  await using server = await CopilotServer.start({
    script: 'call read_file {"path": "a.png"}\n---\nsay Grey.',
  });
  await using running = await session(server, { files: { "a.png": pngFile(8, 8) } });
  assert.deepEqual(await running.engine.prompt("What is it?"), END_TURN);
  assert.deepEqual(server.chats.map(({ headers }) => headers["copilot-vision-request"]), [undefined, "true"]);
  assert.deepEqual([...server.problems, ...server.model.problems], []);
});

Deno.test("copilot: a key that is refused in the middle of a turn is renewed once, and the request repeated", async () => {
  await using server = await CopilotServer.start({
    script: 'call read_file {"path": "a.txt"}\n---\nsay Done.\n---\nsay Never.',
  });
  await using running = await session(server, { files: { "a.txt": "alpha\n" } });
  const { engine, asked } = running;
  const turn = engine.prompt("Well?");
  await server.model.nextRequest();
  server.endKey();
  assert.deepEqual(await turn, END_TURN);
  assert.deepEqual(asked, [true]);
  assert.equal(server.keys, 2);
  assert.equal(server.chats.length, 3, "one of them in vain");
  server.endKey();
  const message = failure(await engine.prompt("And now?"));
  assert.match(
    message,
    /the API key was refused \(HTTP 401: .*token expired.*\)\. Check the login \(:Agent login copilot\)\.$/,
  );
  assert.ok(!JSON.stringify(engine.events).includes("tid="), "no key is shown or stored");
  assert.deepEqual(server.problems, []);
});

Deno.test("copilot: a login that has ended meanwhile is said in one line", async () => {
  await using server = await CopilotServer.start();
  await using running = await session(server);
  server.endKey();
  server.logins.clear();
  const message = failure(await running.engine.prompt("Well?"));
  assert.equal(
    message,
    "Cannot use copilot: GitHub does not take the login any more. Run :Agent login copilot",
  );
  server.logins.add(OAUTH);
});

Deno.test("copilot: a key that ends is renewed before a request; if it holds, it is used though there is no other", async () => {
  await using server = await CopilotServer.start();
  await using soon = await session(server, { told: { key_expires: Date.now() + 90_000 } });
  assert.deepEqual(await soon.engine.prompt("Well?"), END_TURN);
  assert.deepEqual(soon.asked, [false]);
  await soon.engine.prompt("And now?");
  assert.deepEqual(soon.asked, [false], "the new one lasts");

  await using other = await CopilotServer.start();
  await using lost = await session(other, { told: { key_expires: Date.now() + 90_000 } });
  await lost.home.write("config/github-copilot/apps.json", "{}");
  assert.deepEqual(await lost.engine.prompt("Well?"), END_TURN);
  await using ended = await session(other, { told: { key_expires: Date.now() - 1 } });
  await ended.home.write("config/github-copilot/apps.json", "{}");
  assert.match(
    failure(await ended.engine.prompt("Well?")),
    /nobody is logged in\. Run :Agent login copilot$/,
  );
});

Deno.test("copilot: a model is spoken to as Copilot serves it", async () => {
  for (const path of ["/chat/completions", "/responses", "/v1/messages"]) {
    const models = [listed("default"), listed("other", { supported_endpoints: [path] })];
    await using server = await CopilotServer.start({ models });
    await using running = await session(server, { changes: { model: "other" } });
    assert.deepEqual(await running.engine.prompt("Well?"), END_TURN);
    assert.deepEqual(server.chats.map((seen) => seen.path), [`POST ${path}`]);
    assert.equal(server.chats[0]?.headers["x-api-key"], undefined);
    assert.deepEqual([...server.problems, ...server.model.problems], []);
  }
});
