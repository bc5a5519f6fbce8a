/** Content of the web, for an address that was approved. */
import type { EngineAnswers } from "../../agents/engine.ts";
import { neovimEnvironment } from "../../system/neovim_environment.ts";
import { fetchPage } from "../../web/fetch_page.ts";
import type { ClientContext } from "../context.ts";

export function webAnswers(client: ClientContext): Pick<EngineAnswers, "fetch"> {
  const { ports: { ownerOf, gate, trustOf }, permissions: { roots, user, rules } } = client;
  return {
    async fetch(sessionId, { url }, signal) {
      const chat = ownerOf(sessionId);
      if (chat === undefined || !gate.approved.spendCall(chat, sessionId, { kind: "fetch", url })) {
        throw new Error("this address was not approved");
      }
      // The turn of the approval may have ended meanwhile.
      trustOf(client, chat, sessionId).taint("web");
      const place = { roots, stateDir: user.state_dir, environment: neovimEnvironment() };
      return await fetchPage(url, rules.rules(chat), place, signal);
    },
  };
}
