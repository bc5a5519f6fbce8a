/** An agent that knows nothing of ours: plain ACP, ids of its own, a command without our form. Run by plain_agent_test.ts. */
import {
  agent,
  type AgentContext,
  type CreateTerminalResponse,
  methods,
  ndJsonStream,
  type PromptResponse,
  type RequestPermissionResponse,
  type SessionUpdate,
  type TerminalOutputResponse,
  type WaitForTerminalExitResponse,
} from "../../denops/agent/deps/acp_sdk.ts";

const OPTIONS = [
  { optionId: "proceed_once", name: "Yes", kind: "allow_once" as const },
  { optionId: "proceed_always", name: "Yes, always", kind: "allow_always" as const },
  { optionId: "no", name: "No", kind: "reject_once" as const },
];

agent({ name: "plain" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: 1,
    agentCapabilities: { loadSession: true },
    authMethods: [],
  }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: "s" }))
  .onRequest(methods.agent.session.prompt, ({ params, client }) => turn(client, params.sessionId))
  .connect(ndJsonStream(Deno.stdout.writable, Deno.stdin.readable));

async function turn(client: AgentContext, sessionId: string): Promise<PromptResponse> {
  const update = (update: SessionUpdate) =>
    client.notify(methods.client.session.update, { sessionId, update });
  const tell = (text: string) =>
    update({ sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text } });
  await update({ sessionUpdate: "user_message_chunk", content: { type: "text", text: "Go" } });
  await update({ sessionUpdate: "current_mode_update", currentModeId: "careful" });
  await update({
    sessionUpdate: "available_commands_update",
    availableCommands: [{ name: "tidy", description: "Tidies up" }],
  });
  await update({
    sessionUpdate: "config_option_update",
    configOptions: [{ type: "boolean", id: "fast", name: "Fast", currentValue: true }],
  });
  await update({
    sessionUpdate: "plan",
    entries: [{ content: "Look", status: "in_progress", priority: "high" }],
  });
  await update({
    sessionUpdate: "usage_update",
    used: 10,
    size: 100,
    cost: { amount: 0.5, currency: "USD" },
  });
  const { outcome } = await client.request<RequestPermissionResponse>(
    methods.client.session.requestPermission,
    {
      sessionId,
      options: OPTIONS,
      toolCall: { toolCallId: "call", title: "look around", kind: "other" },
    },
  );
  await tell(outcome.outcome === "selected" ? `chosen ${outcome.optionId}\n` : "cancelled\n");
  const [cwd = ""] = Deno.args;
  const command = {
    command: "printf",
    args: ["%s %s\\n", "it's", "$HOME"],
    env: [{ name: "A", value: "b c" }],
  };
  try {
    const { terminalId } = await client.request<CreateTerminalResponse>(methods.client.terminal.create, {
      sessionId,
      cwd,
      ...command,
    });
    const { exitCode } = await client.request<WaitForTerminalExitResponse>(
      methods.client.terminal.waitForExit,
      {
        sessionId,
        terminalId,
      },
    );
    const { output } = await client.request<TerminalOutputResponse>(methods.client.terminal.output, {
      sessionId,
      terminalId,
    });
    await tell(`${exitCode} ${output}`);
  } catch (error) {
    await tell(`refused: ${error instanceof Error ? error.message : error}\n`);
  }
  return { stopReason: "end_turn" };
}
