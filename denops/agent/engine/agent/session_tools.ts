/** Which tools a session has: all of its runner's but those that are off by option or by the user's choice. */
import type { Memory } from "./memory.ts";

export class SessionTools {
  readonly #names: readonly string[];
  readonly #off: readonly string[];
  readonly #memory: Pick<Memory, "tools">;
  readonly #remember: () => void;

  /** @param off by option @param memory what the user has chosen @param remember stores it */
  constructor(
    names: readonly string[],
    off: readonly string[],
    memory: Pick<Memory, "tools">,
    remember: () => void,
  ) {
    this.#names = names;
    this.#off = off;
    this.#memory = memory;
    this.#remember = remember;
  }

  /** @param name also of a tool that comes from elsewhere */
  isOn(name: string): boolean {
    return this.#memory.tools.get(name) ?? !this.#off.includes(name);
  }

  /** From the next request on; the prompt's earlier bytes change once. */
  toggle(name: string): void {
    this.#memory.tools.set(name, !this.isOn(name));
    this.#remember();
  }

  get list(): readonly { readonly name: string; readonly on: boolean }[] {
    return this.#names.map((name) => ({ name, on: this.isOn(name) }));
  }
}
