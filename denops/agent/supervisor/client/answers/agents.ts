/** Agents from elsewhere, and their turns. */
import { agentRule } from "../../../policy/matching_rules.ts";
import { hiddenFiles, ruleText } from "../../../policy/rules.ts";
import { plural } from "../../../shared/text/text.ts";
import type { EngineAnswers } from "../../agents/engine.ts";
import { AgentHost } from "../../foreign/agent_host.ts";
import { defined } from "../../../shared/records.ts";
import { neovimEnvironment } from "../../system/neovim_environment.ts";
import type { ClientContext, ClientPorts } from "../context.ts";
import { NO_CHAT, type ProjectPermissions } from "../permissions.ts";

export function projectAgents(permissions: ProjectPermissions, push: ClientPorts["push"]): AgentHost {
  const { roots, user, sandbox } = permissions;
  return new AgentHost({
    roots,
    user,
    sandbox,
    environment: neovimEnvironment(),
    denied: () => hiddenFiles(permissions.files(NO_CHAT)),
    hosts: () =>
      permissions.rules.rules(NO_CHAT).flatMap(({ kind, verdict, pattern }) =>
        kind !== "host" ? [] : [verdict === "allow" ? pattern : `!${pattern}`]
      ),
    spool: (folder, since) => push({ type: "spool", folder, roots, ...defined({ since }) }),
  });
}

export function agentAnswers(client: ClientContext): Pick<EngineAnswers, "agent_begin" | "agent_end"> {
  const { ports: { chatOf, ownerOf, push }, agents } = client;
  return {
    async agent_begin(sessionId, { pipe }) {
      if (chatOf(sessionId) === undefined) throw new Error("the turn was stopped");
      await agents.begin(pipe, sessionId, hiddenFiles(client.rulesOf(sessionId)));
      return {};
    },
    async agent_end(sessionId, { pipe, complete }) {
      const ended = await agents.end(pipe, sessionId, complete);
      const { changes } = ended.effects ?? { changes: 0 };
      const owner = ownerOf(sessionId);
      // Of a stopped turn the screen shows nothing more of the engine's.
      if (changes > 0 && owner !== undefined && chatOf(sessionId) === undefined) {
        const text = `Not kept yet: ${plural(changes, "change")}. Your next message asks about ${
          changes === 1 ? "it" : "them"
        }.`;
        push({ type: "notice", chat: owner, severity: "info", text });
      }
      return ended;
    },
  };
}

/** @throws {Error} one line */
export async function startAgent(
  client: ClientContext,
  sessionId: string,
  name: string,
): Promise<string> {
  const { ports: { ownerOf, trustOf }, permissions, pipes, agents } = client;
  const chat = ownerOf(sessionId) ?? NO_CHAT;
  const rule = agentRule(permissions.rules.rules(chat), name);
  if (rule?.verdict === "deny") {
    throw new Error(`Cannot start ${name}: the rule ${ruleText(rule)} denies it.`);
  }
  const pipe = await agents.start(name, (program) => pipes.add(program, agents.errorsOf(name)));
  // Its answers are another model's text, which may come from anywhere.
  if (chat !== NO_CHAT) trustOf(client, chat, sessionId).taint("agent");
  return pipe;
}
