/** The state of git when a message is sent. Older states are never sent instead. */
import type { Surroundings, SurroundingsWanted } from "../../../protocol/surroundings.ts";

/** Requests facts from the client. @throws {Error} */
export type AskSurroundings = (wanted: SurroundingsWanted, signal: AbortSignal) => Promise<Surroundings>;

type Git = Surroundings["git"];

/** The longest wait of a message, from the request on. */
const LONGEST_MS = 100;

/** A request for git's state; `answer` ends it. */
export class GitNow {
  readonly #known: { branch?: Git; status?: Git } = {};
  readonly #giveUp = new AbortController();
  readonly #enough: Promise<unknown>;

  constructor(ask: AskSurroundings, signal: AbortSignal) {
    const inTime = AbortSignal.any([signal, this.#giveUp.signal]);
    const [, status] = (["branch", "status"] as const).map((fact) =>
      ask({ facts: [fact] }, inTime).then(({ git }) => this.#known[fact] = git, () => undefined)
    );
    const limit = AbortSignal.timeout(LONGEST_MS);
    const late = new Promise((resolve) => limit.addEventListener("abort", resolve, { once: true }));
    this.#enough = Promise.race([status, late]);
  }

  /** The facts that are known within the limit. The branch is known first. */
  async answer(): Promise<Git> {
    await this.#enough;
    this.#giveUp.abort();
    return this.#known.status ?? this.#known.branch;
  }
}
