/** What calls go by, as it was when the last one began; asked anew before each. */
import type { FileRules } from "../../protocol/config.ts";
import type { Screen } from "./screen.ts";

export class Moment {
  readonly #screen: Screen;
  #known: { readonly version: number; readonly rules: FileRules } | undefined;
  /** A language server runs. */
  hasServers = true;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** The rules, which come again only when they have changed. @throws {Error} one line if there is no knowing them */
  async rules(): Promise<FileRules> {
    const known = this.#known === undefined ? {} : { known: this.#known.version };
    const { version, rules, servers } = await this.#screen.ask("before_call", known);
    this.hasServers = servers;
    if (rules !== undefined) this.#known = { version, rules };
    if (this.#known === undefined) throw new Error("the client does not say which files may be read");
    return this.#known.rules;
  }
}
