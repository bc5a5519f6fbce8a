/** Agents from elsewhere, and their turns. */
import { agentRule, mcpRule } from "../../../policy/matching_rules.ts";
import { hiddenFiles, ruleText } from "../../../policy/rules.ts";
import { LspAnswer } from "../../../protocol/lsp.ts";
import { EDITOR_SERVER } from "../../../protocol/options/foreign_agents.ts";
import { plural } from "../../../shared/text/text.ts";
import type { EngineAnswers } from "../../agents/engine.ts";
import { AgentHost } from "../../foreign/agent_host.ts";
import type { EditorToolPorts } from "../../foreign/tools/editor_tools.ts";
import { defined } from "../../../shared/records.ts";
import type { PipeProgram } from "../../pipes/pipes.ts";
import { neovimEnvironment } from "../../system/neovim_environment.ts";
import type { ClientContext } from "../context.ts";
import { NO_CHAT } from "../permissions.ts";

export function projectAgents(client: ClientContext): AgentHost {
  const { permissions, ports: { push } } = client;
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
    tools: (session) => editorTools(client, session),
  });
}

/** The editor as an agent of this session sees it. */
function editorTools(client: ClientContext, session: string): EditorToolPorts {
  const { permissions: { roots, rules }, ports: { editor, ownerOf } } = client;
  return {
    roots,
    rules: () => client.rulesOf(session),
    refusal(tool) {
      const chat = ownerOf(session);
      if (chat === undefined) return "the session is closed";
      const rule = mcpRule(rules.rules(chat), EDITOR_SERVER.name, tool);
      if (rule !== undefined && rule.verdict !== "allow") return `the rule ${ruleText(rule)} is against it`;
      return editor.isNeovim || tool === "plan" ? undefined : "no Neovim is running";
    },
    async languages(request) {
      const params = { roots, request, servers: { policy: "running" } } as const;
      const answer = LspAnswer.parse(await editor.ask({ method: "lsp", params }, session));
      return answer.kind === "not_running"
        ? { kind: "nothing", reason: "The language server is not running." }
        : answer;
    },
    view: () => editor.view(roots, session),
    unsavedText: async (path) => (await editor.unsavedText(path, session)).text,
    plan: () => client.agents.plans.get(session) ?? [],
  };
}

export function agentAnswers(client: ClientContext): Pick<EngineAnswers, "agent_begin" | "agent_end"> {
  const { ports: { chatOf, ownerOf, isStopped, push }, agents } = client;
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
      // The engine asks about the changes of a stopped turn at its next one.
      if (changes > 0 && owner !== undefined && isStopped(owner)) {
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
  signal: AbortSignal,
): Promise<string> {
  const { ports: { ownerOf, trustOf }, permissions, pipes, agents } = client;
  // The user has chosen it for this engine; an engine of a model starts nothing with the user's logins.
  if (permissions.user.agent !== name) throw new Error(`Cannot start ${name}: this session does not use it.`);
  const chat = ownerOf(sessionId) ?? NO_CHAT;
  const rule = agentRule(permissions.rules.rules(chat), name);
  if (rule?.verdict === "deny") {
    throw new Error(`Cannot start ${name}: the rule ${ruleText(rule)} denies it.`);
  }
  const add = (program: PipeProgram) => pipes.add(program, agents.errorsOf(name));
  const pipe = await agents.start(name, sessionId, add, signal);
  // Its answers are another model's text, which may come from anywhere.
  if (chat !== NO_CHAT) trustOf(client, chat, sessionId).taint("agent");
  return pipe;
}
