/** Names of tools, as models write them. Pure. */

/** As names are compared. */
export function plain(name: string): string {
  return name.toLowerCase().replace(/[-_.\s]/g, "");
}

/** What may stand before a name: OpenAI's and Gemini's name spaces, and the one of parallel calls. */
const PREFIX = /^(?:functions?|tools?|default_api|multi_tool_use|call)[.:/]/i;
/** Kimi's number behind it. */
const SUFFIX = /:\d+$/;

export function bareName(written: string): string {
  return written.trim().replace(PREFIX, "").replace(SUFFIX, "");
}

/** Tools by name. */
export class ToolNames<Tool extends { readonly name: string }> {
  readonly #exact: ReadonlyMap<string, Tool>;
  /** Names as they are compared → tools; undefined where two are alike. */
  readonly #alike = new Map<string, Tool | undefined>();

  constructor(tools: readonly Tool[]) {
    this.#exact = new Map(tools.map((tool) => [tool.name, tool]));
    for (const tool of tools) {
      const key = plain(tool.name);
      this.#alike.set(key, this.#alike.has(key) ? undefined : tool);
    }
  }

  /** The tool that is named: `functions.Ask-User:0` is `ask_user`, if no other tool is as near. */
  named(written: string): Tool | undefined {
    const bare = bareName(written);
    return this.#exact.get(written) ?? this.#exact.get(bare) ?? this.#alike.get(plain(bare));
  }
}
