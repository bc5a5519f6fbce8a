/** The client's rules and servers as of the last call's start, refreshed before each call. */
import type { FileRules } from "../../protocol/config.ts";
import type { Screen } from "./screen.ts";

export class Moment {
  readonly #screen: Screen;
  #known: { readonly version: number; readonly rules: FileRules } | undefined;
  /** Whether a language server runs. */
  hasServers = true;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /**
   * The rules, which are sent only when they have changed. @throws {Error} one line if they are unavailable
   */
  async rules(): Promise<FileRules> {
    const known = this.#known === undefined ? {} : { known: this.#known.version };
    const { version, rules, servers } = await this.#screen.ask("before_call", known);
    this.hasServers = servers;
    if (rules !== undefined) this.#known = { version, rules };
    if (this.#known === undefined) throw new Error("the client does not say which files may be read");
    return this.#known.rules;
  }
}
