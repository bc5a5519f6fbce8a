/** The state of a playing script: the next answer, the waiting requests, and past events. */
import type { Answer, Script } from "./answer.ts";

/** Hands out the answers of a script. */
export class ScriptedAnswers {
  #script: Script;
  #left: Answer[];

  constructor(script: Script) {
    this.#script = script;
    this.#left = [...script.answers];
  }

  get name(): string {
    return this.#script.name;
  }

  replace(script: Script): void {
    this.#script = script;
    this.#left = [...script.answers];
  }

  /** The first answer whose `when` is in `userText`, otherwise the first without `when`. */
  take(userText: string): Answer | undefined {
    const at = this.#nextAt(userText);
    const answer = this.#left[at];
    if (answer !== undefined && !answer.repeat) this.#left.splice(at, 1);
    return answer;
  }

  /** The same, without removing it. */
  next(userText: string): Answer | undefined {
    return this.#left[this.#nextAt(userText)];
  }

  #nextAt(userText: string): number {
    const fits = this.#left.findIndex(({ when }) => when !== undefined && userText.includes(when));
    return fits >= 0 ? fits : this.#left.findIndex(({ when }) => when === undefined);
  }
}

interface Gate {
  readonly reached: PromiseWithResolvers<void>;
  readonly released: PromiseWithResolvers<void>;
  open: boolean;
}

/** The named places of a script where answers wait. An opened gate stays open. */
export class Gates {
  readonly #gates = new Map<string, Gate>();

  reached(name: string): Promise<void> {
    return this.#at(name).reached.promise;
  }

  release(name: string): void {
    const gate = this.#at(name);
    gate.open = true;
    gate.released.resolve();
  }

  /** Waits until the gate is open, or `signal` aborts. */
  async pass(name: string, signal: AbortSignal): Promise<void> {
    const gate = this.#at(name);
    gate.reached.resolve();
    await unlessAborted(gate.released.promise, signal);
  }

  /** Closes the gates for the next script; waiting answers still wait. */
  closeOpened(): void {
    for (const [name, gate] of this.#gates) {
      if (gate.open) this.#gates.delete(name);
    }
  }

  #at(name: string): Gate {
    const gate = this.#gates.get(name) ??
      { reached: Promise.withResolvers<void>(), released: Promise.withResolvers<void>(), open: false };
    this.#gates.set(name, gate);
    return gate;
  }
}

/** Resolves after the time, or at once when `signal` aborts. */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  await unlessAborted(promise, signal).finally(() => clearTimeout(timer));
}

/** Resolves with `promise`, or at once when `signal` aborts. */
async function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const stop = () => resolve();
  signal.addEventListener("abort", stop, { once: true });
  await Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", stop));
}
