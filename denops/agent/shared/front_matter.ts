/**
 * Parses the settings at the beginning of a Markdown file: the part of YAML that such files use, read
 * leniently, because a description may contain a colon, which plain YAML text may not. Pure.
 */

const FRONT_MATTER = /^\ufeff?---[ \t]*\r?\n([^]*?)^---[ \t]*(?:\r?\n|$)/m;

/** Characters of a list on one line: parsing time grows with their square. */
const MOST_LIST = 4_000;

/** A setting: its text, and the lines below it. */
interface Setting {
  readonly text: string;
  readonly below: readonly string[];
}

export class FrontMatter {
  readonly #settings: ReadonlyMap<string, Setting>;

  private constructor(settings: ReadonlyMap<string, Setting>, readonly body: string) {
    this.#settings = settings;
  }

  /** Undefined if the file has none. @throws {Error} one line */
  static of(file: string): FrontMatter | undefined {
    const match = FRONT_MATTER.exec(file);
    if (match === null || match.index > 0) return undefined;
    const [whole, matter = ""] = match;
    const settings = new Map<string, { text: string; below: string[] }>();
    let last: { below: string[] } | undefined;
    for (const [at, line] of matter.split(/\r?\n/).entries()) {
      if (/^\s*(?:#|$)/.test(line)) continue;
      const [, name = "", text = ""] = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/.exec(line) ?? [];
      if (name !== "") {
        last = { below: [] };
        settings.set(name, Object.assign(last, { text: text.trim() }));
      } else if (last !== undefined && /^(?:[ \t]|- )/.test(line)) {
        last.below.push(line.trim());
      } else throw new Error(`line ${at + 2} is no setting: ${line.slice(0, 40)}`);
    }
    return new FrontMatter(settings, file.slice(whole.length).trim());
  }

  /** Undefined if it is missing or empty. */
  text(name: string): string | undefined {
    const setting = this.#settings.get(name);
    if (setting === undefined) return undefined;
    const block = /^[|>][-+]?$/.test(setting.text);
    const lines = block ? setting.below : [setting.text, ...setting.below];
    const text = unquoted(lines.join(" ").trim());
    return text === "" ? undefined : text;
  }

  /** Words separated by commas, or a list. */
  list(name: string): readonly string[] | undefined {
    const setting = this.#settings.get(name);
    if (setting === undefined) return undefined;
    const items = setting.below.flatMap((line) => /^- +(.*)$/.exec(line)?.[1] ?? []);
    const words = setting.text.slice(0, MOST_LIST).replace(/^\[(.*)\]$/, "$1").split(/,(?![^(]*\))/);
    return [...words, ...items].map((item) => unquoted(item.trim())).filter((item) => item !== "");
  }

  /** Globs separated by commas outside of braces, or a list; empty if the setting is missing. */
  globs(name: string): readonly string[] {
    const { text, below } = this.#settings.get(name) ?? { text: "", below: [] };
    const items = below.flatMap((line) => /^- +(.*)$/.exec(line)?.[1] ?? []);
    const line = unquoted(text.slice(0, MOST_LIST)).replace(/^\[(.*)\]$/, "$1");
    return [...line.match(/(?:\{[^}]*\}|[^,{]|\{)+/g) ?? [], ...items]
      .map((glob) => unquoted(glob.trim())).filter((glob) => glob !== "");
  }

  /** Names that are switched on or off, as in `write: false`; undefined for any other form. */
  switches(name: string): readonly (readonly [string, boolean])[] | undefined {
    const { text, below } = this.#settings.get(name) ?? { text: "", below: [] };
    const found = below.flatMap((line) => {
      const [, name = "", value] = /^["']?([^"':]+)["']?:\s*(true|false)\b/.exec(line) ?? [];
      return name === "" ? [] : [[name, value === "true"] as const];
    });
    return text === "" && found.length > 0 ? found : undefined;
  }
}

function unquoted(text: string): string {
  const [, quote, inside = ""] = /^(["'])(.*)\1$/.exec(text) ?? [];
  if (quote === undefined) return text;
  return quote === "'"
    ? inside.replaceAll("''", "'")
    : inside.replace(/\\(["\\])/g, "$1").replace(/\\n/g, " ");
}
