/**
 * Language servers run the project's code outside of every sandbox: one that does not run yet is started for a tool only
 * after a question, once per server, project and session.
 */
import type { LspPolicy, LspQuestion, LspResponse, LspServer } from "../../protocol/lsp.ts";
import { LspAnswer } from "../../protocol/lsp.ts";

interface LspStartPorts {
  readonly option: "ask" | "always" | "never";
  /** The editor's answer, unchecked. @throws {Error} one line */
  editor(servers: LspPolicy): Promise<unknown>;
  /** The user's answer; undefined: the turn was stopped. */
  ask(server: LspServer): Promise<boolean | undefined>;
}

/** Rounds of questions for one answer: each one settles servers, and there are not many. */
const MOST_ROUNDS = 5;

export class LspStarts {
  /** What was answered, or will be, by session and server: calls that run at the same time ask once. */
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
    // A turn that was stopped is no answer.
    if (answer === undefined) this.#answers.delete(key);
    return answer ?? false;
  }
}
