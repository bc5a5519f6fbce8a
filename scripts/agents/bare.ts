/** An agent without sandbox, overlay and gate, for comparison: its client allows everything. */
import { client, methods, ndJsonStream } from "../../denops/agent/deps/acp_sdk.ts";
import type { AgentOptions } from "../../denops/agent/protocol/options/shapes.ts";

interface BareAgent extends AsyncDisposable {
  /** Resolves when the turn has ended. */
  prompt(text: string): Promise<void>;
}

/** @param cwd of its session @param env variables beside those of its row */
export async function startBare(
  { cmd: [program = "", ...args] = [], set = {} }: AgentOptions,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<BareAgent> {
  await using stack = new AsyncDisposableStack();
  const process = new Deno.Command(program, {
    ...{ args, cwd, env: { ...env, ...set }, clearEnv: true },
    ...{ stdin: "piped", stdout: "piped", stderr: "null" },
  }).spawn();
  stack.defer(async () => {
    process.kill("SIGKILL");
    await process.status;
  });
  const connection = client({ name: "bare" })
    .onNotification(methods.client.session.update, () => {})
    .onRequest(methods.client.session.requestPermission, ({ params: { options } }) => {
      const allowed = options.find(({ kind }) => kind === "allow_once") ?? options[0];
      return { outcome: { outcome: "selected", optionId: allowed?.optionId ?? "" } };
    })
    .connect(ndJsonStream(process.stdin, process.stdout));
  stack.defer(() => connection.close());
  const { agent } = connection;
  await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
  const owned = stack.move();
  return {
    async prompt(text) {
      await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
