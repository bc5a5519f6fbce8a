/** The user's hooks, which the engine asks for at their events. */
import { hiddenFiles } from "../../../policy/rules.ts";
import type { HookInput } from "../../../protocol/results/hooks.ts";
import type { EngineAnswers } from "../../agents/engine.ts";
import { HookHost } from "../../hooks/hook_host.ts";
import type { HookRun } from "../../hooks/results.ts";
import { neovimEnvironment } from "../../system/neovim_environment.ts";
import type { ClientContext } from "../context.ts";
import { NO_CHAT, type ProjectPermissions } from "../permissions.ts";

export function projectHooks({ roots, user, sandbox }: ProjectPermissions): HookHost {
  return new HookHost({ roots, user, sandbox, environment: neovimEnvironment() });
}

export function hookAnswers(client: ClientContext): Pick<EngineAnswers, "hook" | "hook_release"> {
  return {
    async hook(sessionId, { input }, signal) {
      const chat = client.ports.chatOf(sessionId);
      if (chat === undefined) throw new Error("the turn was stopped");
      return await client.hooks.run(input, hookRun(client, chat, sessionId, input, signal));
    },
    hook_release(_, { terminal }) {
      client.hooks.changes.release(terminal);
      return Promise.resolve({});
    },
  };
}

/** @param signal ends the hooks */
export function hookRun(
  client: ClientContext,
  chat: number,
  session: string,
  input: HookInput,
  signal: AbortSignal,
): HookRun {
  const { ports: { gate, limitsOf, push }, permissions: { log, root } } = client;
  return {
    session,
    isReadOnly: limitsOf(chat).access === "read",
    denied: hiddenFiles(client.rulesOf(session)),
    signal,
    async confirm(title, detail) {
      const context = await client.gateContext(chat, session);
      const reason = "this approves exactly this hook, until it or its script changes";
      return await gate.confirm(title, reason, context, detail);
    },
    log(answer, title, rule) {
      const call = "call" in input ? { call: input.call } : {};
      log.addHook({ title, answer, rule, root, session, ...call });
    },
    notice: (text) =>
      chat === NO_CHAT ? undefined : push({ type: "notice", chat, severity: "warning", text }),
  };
}
