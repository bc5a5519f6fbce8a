/** What the user says and does about a turn while it runs: words for the model after the next results, and a pause. */
import type { SteerEnd } from "../../protocol/requests.ts";
import type { ControlNote } from "../core/entries.ts";
import type { Emit } from "../core/events.ts";

interface Said {
  readonly text: string;
  readonly done: (end: SteerEnd) => void;
}

export class Steering {
  readonly #said = new Map<string, Said>();
  #isRunning = false;
  /** Ends a pause; undefined: the turn is not to stand still. */
  #goOn: (() => void) | undefined;
  #goesOn: Promise<void> | undefined;
  /** To be told once the turn stands still, or is over. */
  #stands: ((isPaused: boolean) => void)[] = [];

  /** A turn begins. */
  begin(): void {
    this.#isRunning = true;
  }

  /** The turn is over: what the model was not told goes back, and nothing is paused. */
  end(how: "ended" | "stopped"): void {
    this.#isRunning = false;
    for (const { done } of this.#said.values()) done(how);
    this.#said.clear();
    this.goOn();
  }

  /** @param id of the caller's choice, to take it back by @returns what has become of it, once that is known */
  say(id: string, text: string): Promise<SteerEnd> {
    if (!this.#isRunning) return Promise.resolve("ended");
    this.takeBack(id);
    const { promise, resolve } = Promise.withResolvers<SteerEnd>();
    this.#said.set(id, { text, done: resolve });
    return promise;
  }

  takeBack(id: string): void {
    this.#said.get(id)?.done("taken_back");
    this.#said.delete(id);
  }

  /** The model is told what the user has said; to be called before each step but the first. */
  tell({ append, emit }: { append(note: ControlNote): void; readonly emit: Emit }): void {
    for (const [id, { text, done }] of [...this.#said]) {
      this.#said.delete(id);
      append({ type: "control_note", reason: "steering", text: `${STEERED}\n${text}` });
      emit({ type: "steered", id, text });
      done("told");
    }
  }

  /** The turn is to stand still before its next step. @returns whether it does, once that is known */
  pause(): Promise<boolean> {
    if (!this.#isRunning) return Promise.resolve(false);
    if (this.#goesOn === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      [this.#goesOn, this.#goOn] = [promise, resolve];
    }
    return new Promise((resolve) => this.#stands.push(resolve));
  }

  goOn(): void {
    this.#tellStands(false);
    this.#goOn?.();
    this.#goOn = this.#goesOn = undefined;
  }

  /** Before each step: waits as long as the user has paused the turn, or until it is stopped. */
  async step(signal: AbortSignal): Promise<void> {
    if (this.#goesOn === undefined || signal.aborted) return;
    this.#tellStands(true);
    const goOn = () => this.goOn();
    signal.addEventListener("abort", goOn, { once: true });
    await this.#goesOn;
    signal.removeEventListener("abort", goOn);
  }

  #tellStands(isPaused: boolean): void {
    for (const tell of this.#stands.splice(0)) tell(isPaused);
  }
}

const STEERED = "The user says, while you are at work:";
