/** Content of the web, for an address or a query that was approved. */
import type { AccessOf } from "../../../protocol/access.ts";
import type { EngineAnswers } from "../../agents/engine.ts";
import { pluginModules } from "../../agents/launch.ts";
import { neovimEnvironment } from "../../system/neovim_environment.ts";
import { fetchPage } from "../../web/fetch_page.ts";
import type { WebPlace } from "../../web/page_program.ts";
import { searchWeb } from "../../web/search_web.ts";
import type { ClientContext } from "../context.ts";
import { searchKey } from "../search_key.ts";

/** Processes of one engine that use the web at the same time. */
const MOST_AT_ONCE = 4;

export function webAnswers(client: ClientContext): Pick<EngineAnswers, "fetch" | "search_web"> {
  const { ports: { ownerOf, gate, trustOf, world }, permissions: { roots, user, rules } } = client;
  const running = new Set<Promise<unknown>>();
  /** The key of the search engine; a command for it may ask the user for a password. */
  let known: ReturnType<typeof searchKey> | undefined;

  /** @returns the chat @throws {Error} one line, without an approval */
  function spend(sessionId: string, access: AccessOf<"fetch" | "search_web">): number {
    const chat = ownerOf(sessionId);
    if (chat === undefined || !gate.approved.spendCall(chat, sessionId, access)) {
      throw new Error(`this ${access.kind === "fetch" ? "address" : "query"} was not approved`);
    }
    // The turn of the approval may have ended meanwhile.
    trustOf(client, chat, sessionId).taint("web");
    return chat;
  }

  async function inTurn<Answer>(
    signal: AbortSignal,
    start: (place: WebPlace) => Promise<Answer>,
  ): Promise<Answer> {
    while (running.size >= MOST_AT_ONCE) await Promise.race(running);
    signal.throwIfAborted();
    const answer = start({
      roots,
      stateDir: user.state_dir,
      environment: neovimEnvironment(),
      modules: () => pluginModules(user.state_dir),
    });
    const ended = answer.catch(() => {}).finally(() => running.delete(ended));
    running.add(ended);
    return await answer;
  }

  return {
    async fetch(sessionId, { url }, signal) {
      const chat = spend(sessionId, { kind: "fetch", url });
      return await inTurn(signal, (place) => fetchPage(url, rules.rules(chat), place, signal));
    },
    async search_web(sessionId, query, signal) {
      const { web_search: search } = user;
      if (search === undefined) throw new Error("the option web.search is not set");
      spend(sessionId, { kind: "search_web", engine: search.engine, query: query.query });
      try {
        const key = await (known ??= searchKey(search, world, roots));
        return await inTurn(signal, (place) => searchWeb(search, query, key, place, signal));
      } catch (error) {
        known = undefined;
        throw error;
      }
    },
  };
}
