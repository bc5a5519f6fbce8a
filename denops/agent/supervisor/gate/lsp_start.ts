/**
 * Language servers run the project's code outside of every sandbox. A tool may start one only after the
 * user's approval, once per server, project and session.
 */
import type { LspPolicy, LspQuestion, LspResponse, LspServer } from "../../protocol/lsp.ts";
import { LspAnswer } from "../../protocol/lsp.ts";

interface LspStartPorts {
  readonly option: "ask" | "always" | "never";
  /** The editor's answer, unchecked. @throws {Error} one line */
  editor(servers: LspPolicy): Promise<unknown>;
  /** The user's answer; undefined if the turn was stopped. */
  ask(server: LspServer): Promise<boolean | undefined>;
}

/** Rounds of questions per answer; each one settles some servers, and there are few. */
const MOST_ROUNDS = 5;

export class LspStarts {
  /** Answers, possibly pending, by session and server, so that concurrent calls ask only once. */
  readonly #answers = new Map<string, Promise<boolean | undefined>>();

  /** @throws {Error} one line if the editor does not answer */
  async answer(sessionId: string, { may_start }: LspQuestion, ports: LspStartPorts): Promise<LspResponse> {
    const { option, editor } = ports;
    const fixed = !may_start || option === "never" ? "running" : option === "always" ? "start" : undefined;
    const start: string[] = [];
    const leave: string[] = [];
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const answer = LspAnswer.parse(
        await editor(fixed === undefined ? { policy: "ask", start, leave } : { policy: fixed }),
      );
      if (answer.kind !== "not_running") return answer;
      for (const server of answer.servers) {
        const may = await this.#mayStart(sessionId, server, ports);
        (may ? start : leave).push(server.name);
      }
    }
    return { kind: "nothing", reason: "The language server is not running." };
  }

  async #mayStart(sessionId: string, server: LspServer, { ask }: LspStartPorts): Promise<boolean> {
    const key = JSON.stringify([sessionId, server.name, server.command, server.root]);
    const pending = this.#answers.get(key) ?? ask(server);
    this.#answers.set(key, pending);
    const answer = await pending;
    // A stopped turn is not an answer.
    if (answer === undefined) this.#answers.delete(key);
    return answer ?? false;
  }
}
