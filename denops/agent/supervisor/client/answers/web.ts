/** Content of the web, for an address that was approved. */
import type { EngineAnswers } from "../../agents/engine.ts";
import { neovimEnvironment } from "../../system/neovim_environment.ts";
import { fetchPage } from "../../web/fetch_page.ts";
import type { ClientContext } from "../context.ts";

/** Processes of one engine that read pages at the same time. */
const MOST_AT_ONCE = 4;

export function webAnswers(client: ClientContext): Pick<EngineAnswers, "fetch"> {
  const { ports: { ownerOf, gate, trustOf }, permissions: { roots, user, rules } } = client;
  const running = new Set<Promise<unknown>>();
  return {
    async fetch(sessionId, { url }, signal) {
      const chat = ownerOf(sessionId);
      if (chat === undefined || !gate.approved.spendCall(chat, sessionId, { kind: "fetch", url })) {
        throw new Error("this address was not approved");
      }
      // The turn of the approval may have ended meanwhile.
      trustOf(client, chat, sessionId).taint("web");
      const place = { roots, stateDir: user.state_dir, environment: neovimEnvironment() };
      while (running.size >= MOST_AT_ONCE) await Promise.race(running);
      signal.throwIfAborted();
      const fetching = fetchPage(url, rules.rules(chat), place, signal);
      const ended = fetching.catch(() => {}).finally(() => running.delete(ended));
      running.add(ended);
      return await fetching;
    },
  };
}
