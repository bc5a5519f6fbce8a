/** Files that hooks have changed in their overlays, until the engine settles them. */
import type { HookOutcome } from "../../protocol/results/hooks.ts";
import type { ListedChanges } from "../commands/listed_changes.ts";
import type { Rehearsal } from "../commands/rehearsal.ts";
import type { EndedTurn } from "../commands/terminals.ts";

interface PendingChanges {
  readonly session: string;
  readonly rehearsal: Rehearsal;
  readonly hook: string;
}

/** An engine that settles nothing keeps at most this many. */
const MOST_PENDING = 20;

export class HookChanges implements AsyncDisposable {
  /** By terminal. */
  readonly #open = new Map<string, PendingChanges>();

  /**
   * @param names of the hooks @param isWhole false: one of them failed, and nothing is kept
   * @returns undefined if nothing is kept
   */
  async add(
    session: string,
    rehearsal: Rehearsal,
    names: readonly string[],
    isWhole: boolean,
  ): Promise<HookOutcome["effects"]> {
    await rehearsal.finish(isWhole);
    const summary = rehearsal.changes?.summary;
    if (summary === undefined) return undefined;
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= MOST_PENDING) this.release(oldest);
    const terminal = crypto.randomUUID();
    const hook = `the hook ${names.join(", ")}`.slice(0, 200);
    this.#open.set(terminal, { session, rehearsal, hook });
    return { ...summary, terminal, hook };
  }

  has(rehearsal: Rehearsal): boolean {
    return [...this.#open.values()].some((one) => one.rehearsal === rehearsal);
  }

  /** Undefined unless hooks of this session have changed files. */
  ended(session: string, terminal: string): EndedTurn | undefined {
    const own = this.#open.get(terminal);
    const changes = own?.session === session ? own.rehearsal.changes : undefined;
    if (own === undefined || changes === undefined) return undefined;
    return { agent: own.hook, changes, isComplete: true, end: "hook ended" };
  }

  keepsLink(session: string, folder: string, target: string): boolean {
    return this.#of(session).some((changes) => changes.keepsLink(folder, target));
  }

  keeps(session: string, path: string): boolean {
    return this.#of(session).some((changes) => changes.keeps(path));
  }

  release(terminal: string): void {
    const own = this.#open.get(terminal);
    this.#open.delete(terminal);
    own?.rehearsal[Symbol.asyncDispose]().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(all.map(({ rehearsal }) => rehearsal[Symbol.asyncDispose]().catch(() => {})));
  }

  #of(session: string): readonly ListedChanges[] {
    return [...this.#open.values()].flatMap(({ session: owner, rehearsal: { changes } }) =>
      owner === session && changes !== undefined ? [changes] : []
    );
  }
}
