/** Two engines as the supervisor starts them, each in its own sandbox, on one project. */
import {
  client,
  type ClientContext,
  methods,
  ndJsonStream,
  RequestError,
} from "../../denops/agent/deps/acp_sdk.ts";
import assert from "node:assert/strict";
import { META } from "../../denops/agent/protocol/extensions.ts";
import { ModelServer } from "../model/model_server.ts";
import { LEVELS, prepareEngine } from "../support/engine.ts";
import { engineConfig } from "../support/engine_config.ts";
import { KEY } from "../support/key.ts";
import { scratch, waitUntil } from "../support/project.ts";

type Launch = Awaited<ReturnType<typeof prepareEngine>>["launch"];

interface Running extends AsyncDisposable {
  readonly agent: ClientContext;
  kill(): Promise<void>;
}

async function run({ program, args, env, cwd }: Launch, url: string): Promise<Running> {
  const process = new Deno.Command(program, {
    args: [...args],
    env: { ...env },
    clearEnv: true,
    cwd,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const connection = client({ name: "plain" }).onNotification(methods.client.session.update, () => {})
    .connect(ndJsonStream(process.stdin, process.stdout));
  const { agent } = connection;
  const kill = async () => {
    try {
      process.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
    await process.status;
  };
  const config = engineConfig(url);
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    _meta: { [META]: { extensions: [], config } },
  });
  return {
    agent,
    kill,
    [Symbol.asyncDispose]: async () => {
      connection.close();
      await kill();
    },
  };
}

for (const level of LEVELS) {
  Deno.test(`${level.name}: a session that is open in one sandbox is not opened in another, until that one dies`, async () => {
    await using project = await scratch({ "a.ts": "const a = 1;\n" });
    await using state = await scratch();
    await using server = await ModelServer.start("say Hello.\nrepeat", { secrets: [KEY] });
    const setup = { level, root: project.root, stateDir: state.root, baseUrl: `${server.url}/v1` };
    const { launch } = await prepareEngine(setup);
    await using first = await run(launch, server.url);
    await using second = await run(launch, server.url);
    const cwd = project.root;
    const { sessionId } = await first.agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    const prompt = [{ type: "text", text: "Hello" }] as const;
    await first.agent.request(methods.agent.session.prompt, { sessionId, prompt: [...prompt] });
    const resume = () => second.agent.request(methods.agent.session.resume, { sessionId, cwd });
    await assert.rejects(resume(), (error) => {
      assert.ok(error instanceof RequestError);
      assert.equal(error.message, "This session is open in another program. Close it there, or fork it.");
      return true;
    });
    await first.kill();
    // The engine inside dies with its sandbox, a moment later.
    await waitUntil("the lock to be free", () => resume().then(() => true, () => false));
    await second.agent.request(methods.agent.session.prompt, { sessionId, prompt: [...prompt] });
    assert.equal(server.requests.length, 2);
    assert.deepEqual(server.problems, []);
  });
}
