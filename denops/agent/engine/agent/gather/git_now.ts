/** What git says at the moment a message is sent. Nothing of an earlier moment is ever told in its place. */
import type { Surroundings, SurroundingsWanted } from "../../../protocol/surroundings.ts";

/** Asks the other side. @throws {Error} */
export type AskSurroundings = (wanted: SurroundingsWanted, signal: AbortSignal) => Promise<Surroundings>;

type Git = Surroundings["git"];

/** A message waits for git that long at most, counted from the question. */
const LONGEST_MS = 100;

/** A question to git; `answer` ends it. */
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

  /** What is known by now, or by the end of the limit. The branch alone is known sooner. */
  async answer(): Promise<Git> {
    await this.#enough;
    this.#giveUp.abort();
    return this.#known.status ?? this.#known.branch;
  }
}
