/** Tool names as models write them. Pure. */

/** The form for comparisons. */
export function plain(name: string): string {
  return name.toLowerCase().replace(/[-_.\s]/g, "");
}

/** Prefixes of names: OpenAI's and Gemini's name spaces, and that of parallel calls. */
const PREFIX = /^(?:functions?|tools?|default_api|multi_tool_use|call)[.:/]/i;
/** Kimi appends a number. */
const SUFFIX = /:\d+$/;

export function bareName(written: string): string {
  return written.trim().replace(PREFIX, "").replace(SUFFIX, "");
}

/** Tools by name. */
export class ToolNames<Tool extends { readonly name: string }> {
  readonly #exact: ReadonlyMap<string, Tool>;
  /** Compared names → tools; undefined if ambiguous. */
  readonly #alike = new Map<string, Tool | undefined>();

  constructor(tools: readonly Tool[]) {
    this.#exact = new Map(tools.map((tool) => [tool.name, tool]));
    for (const tool of tools) {
      const key = plain(tool.name);
      this.#alike.set(key, this.#alike.has(key) ? undefined : tool);
    }
  }

  /** The tool with a name: `functions.Ask-User:0` is `ask_user` unless another tool is as close. */
  closest(written: string): Tool | undefined {
    const bare = bareName(written);
    return this.#exact.get(written) ?? this.#exact.get(bare) ?? this.#alike.get(plain(bare));
  }
}
