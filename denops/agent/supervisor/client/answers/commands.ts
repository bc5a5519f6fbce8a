/** Commands, and their changes over an overlay. */
import { hiddenFiles } from "../../../policy/rules.ts";
import type { EngineAnswers } from "../../agents/engine.ts";
import { Terminals } from "../../commands/terminals.ts";
import { visible } from "../../screen/visible.ts";
import { lookups } from "../../system/lookups.ts";
import type { ClientContext } from "../context.ts";

/** Characters of a running command's output on the screen. */
const SCREEN_OUTPUT = 8_000;

export function clientTerminals(client: Omit<ClientContext, "terminals">): Terminals {
  const { ports, permissions: { roots, sandbox } } = client;
  return new Terminals(roots, lookups, {
    spend: (sessionId, input) => ports.gate.spend(sessionId, input),
    specify: (input, sessionId, { isMasked, hosts }) =>
      sandbox.specify({ ...input, hosts }, hiddenFiles(client.rulesOf(sessionId)), isMasked),
    show(sessionId, id, output) {
      const chat = ports.chatOf(sessionId);
      if (chat === undefined) return;
      const text = visible(output.slice(-SCREEN_OUTPUT));
      ports.push({ type: "tool", chat, id, status: "in_progress", output: text });
    },
    running(sessionId, count) {
      const chat = ports.chatOf(sessionId);
      if (chat !== undefined) ports.push({ type: "running", chat, count });
    },
  });
}

export function commandAnswers(
  { terminals, agents, hooks }: ClientContext,
): Pick<EngineAnswers, "kept_changes" | "kept_contents"> {
  const changesOf = (sessionId: string, terminal: string) =>
    agents.ended(sessionId, terminal)?.changes ??
      hooks.changes.ended(sessionId, terminal)?.changes ?? terminals.changes(sessionId, terminal);
  return {
    async kept_changes(sessionId, { terminalId, from }) {
      return await changesOf(sessionId, terminalId).kept(from);
    },
    async kept_contents(sessionId, { terminalId, from }) {
      return await changesOf(sessionId, terminalId).contents(from);
    },
  };
}
