/**
 * The sessions that have used the network or read foreign text. Each is kept in memory and in a book, so neither an
 * engine nor a failed write makes the supervisor forget it.
 */
import type { ForeignSource } from "../../policy/foreign.ts";
import { ForeignBook, type ForeignText, NetworkBook, TurnBook } from "./taint_books.ts";

interface TaintBooks {
  readonly folder: string;
  readonly network: NetworkBook;
  readonly foreign: ForeignBook;
  readonly turns: TurnBook;
}

export class Taints {
  readonly #stateDir: () => string;
  #latest: TaintBooks | undefined;
  readonly #network = new Set<string>();
  readonly #foreign = new Map<string, ForeignText>();
  /** Turns that the supervisor has seen begin. The engine may have more, never fewer. */
  readonly #turns = new Map<string, number>();
  /** Sessions with a message whose turn the engine has not reported: it may already read for that turn. */
  readonly #expecting = new Set<string>();

  /** @param stateDir may throw one line */
  constructor(stateDir: () => string) {
    this.#stateDir = stateDir;
  }

  hasUsedNetwork(session: string): boolean {
    return this.#network.has(session) || this.#foreign.has(session);
  }

  foreign(session: string): ForeignSource | undefined {
    return this.#foreign.get(session)?.source;
  }

  /**
   * Reads what the books say about a session. A stored one that the supervisor has never seen may be the sub-agent of any
   * other session. If a book is unreadable, the session counts as tainted. @throws {Error} one line
   */
  async read(session: string, isNew: boolean): Promise<void> {
    try {
      const { network, foreign, turns } = this.#books;
      const [usedNetwork, text, count] = await Promise.all([
        network.of(session),
        foreign.of(session),
        turns.of(session),
      ]);
      if (usedNetwork) this.#network.add(session);
      if (text !== undefined) this.#foreign.set(session, text);
      const isKnown = isNew || count !== undefined || this.#turns.has(session);
      if (isKnown) this.#turns.set(session, Math.max(this.#turnsOf(session), count ?? 0));
      else if (await this.#hasOtherForeign(session)) await this.addForeign(session, "session", 0);
    } catch (error) {
      this.#network.add(session);
      if (!this.#foreign.has(session)) this.#foreign.set(session, { source: "unknown", turn: 0 });
      throw error;
    }
  }

  /** A message is about to be sent. */
  expectTurn(session: string): void {
    this.#expecting.add(session);
  }

  /** The turn of the message is over, or never began. */
  endTurn(session: string): void {
    this.#expecting.delete(session);
  }

  /** The engine reports the turn of the message. */
  beginTurn(session: string): void {
    this.#expecting.delete(session);
    const count = this.#turnsOf(session) + 1;
    this.#turns.set(session, count);
    // A smaller number clears less.
    Promise.resolve().then(() => this.#books.turns.note(session, count)).catch(() => {});
  }

  /** @throws {Error} one line, if it cannot be stored */
  async addNetwork(session: string): Promise<void> {
    if (this.#network.has(session)) return;
    this.#network.add(session);
    await this.#books.network.note(session, true);
  }

  /** @param turn the first one that may have read it: by default the running one @throws {Error} as addNetwork */
  async addForeign(session: string, source: ForeignSource, turn = this.#runningTurn(session)): Promise<void> {
    if (this.#foreign.has(session)) return;
    this.#foreign.set(session, { source, turn });
    await this.#books.foreign.note(session, { source, turn });
  }

  /**
   * A message attaches an earlier session to this one. Only the engine knows which, so each one counts.
   * @throws {Error} as addNetwork
   */
  async attach(session: string): Promise<void> {
    const [isForeign, usedNetwork] = await Promise.all([
      this.#hasOtherForeign(session).catch(() => true),
      this.#hasOtherNetwork(session).catch(() => true),
    ]);
    await Promise.all([
      isForeign ? this.addForeign(session, "session") : undefined,
      usedNetwork ? this.addNetwork(session) : undefined,
    ]);
  }

  /**
   * A copy of a session has what the session has read. Without the turns from the foreign text on, it has not read that.
   * @param last turn of the copy; undefined: all turns @throws {Error} one line
   */
  async fork(session: string, copy: string, last: number | undefined): Promise<void> {
    await this.read(session, false);
    const text = this.#foreign.get(session);
    const turns = Math.min(last ?? Infinity, this.#turnsOf(session));
    this.#turns.set(copy, turns);
    if (text !== undefined && (last === undefined || last >= text.turn)) {
      await this.addForeign(copy, text.source, text.turn);
    }
    if (this.#network.has(session)) await this.addNetwork(copy);
    await this.#books.turns.note(copy, turns);
  }

  #turnsOf(session: string): number {
    return this.#turns.get(session) ?? 0;
  }

  #runningTurn(session: string): number {
    return this.#turnsOf(session) + (this.#expecting.has(session) ? 1 : 0);
  }

  async #hasOtherForeign(session: string): Promise<boolean> {
    return [...this.#foreign.keys()].some((id) => id !== session) ||
      await this.#books.foreign.hasOther(session, () => true);
  }

  async #hasOtherNetwork(session: string): Promise<boolean> {
    return [...this.#network].some((id) => id !== session) ||
      await this.#books.network.hasOther(session, (used) => used);
  }

  /** @throws {Error} one line, if the options are invalid */
  get #books(): TaintBooks {
    const folder = this.#stateDir();
    if (this.#latest?.folder !== folder) {
      const [network, foreign, turns] = [
        new NetworkBook(folder),
        new ForeignBook(folder),
        new TurnBook(folder),
      ];
      this.#latest = { folder, network, foreign, turns };
    }
    return this.#latest;
  }
}
