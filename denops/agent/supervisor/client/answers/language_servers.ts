/** Language servers, which run in Neovim. */
import type { EngineAnswers } from "../../agents/engine.ts";
import { LspStarts } from "../../gate/lsp_start.ts";
import type { ClientContext } from "../context.ts";
import { NO_CHAT } from "../permissions.ts";

export function languageServerAnswers(client: ClientContext): Pick<EngineAnswers, "lsp"> {
  const { ports: { editor, gate, limitsOf, trustOf, chatOf, ownerOf }, permissions: { roots, user } } =
    client;
  const starts = new LspStarts();
  return {
    async lsp(sessionId, question) {
      const owner = ownerOf(sessionId) ?? NO_CHAT;
      const { access, toolSet } = limitsOf(owner);
      const mayStart = access === "write" && toolSet === undefined;
      const asksAll = trustOf(client, owner, sessionId).permission === "ask";
      return await starts.answer(sessionId, question, {
        option: mayStart ? (asksAll && user.lsp_start === "always" ? "ask" : user.lsp_start) : "never",
        editor: (servers) =>
          editor.ask({ method: "lsp", params: { roots, request: question.request, servers } }),
        async ask(server) {
          const chat = chatOf(sessionId);
          return chat === undefined
            ? undefined
            : await gate.startServer(server, await client.gateContext(chat, sessionId));
        },
      });
    },
  };
}
