/** A stored list of rules in the supervisor's state folder, where no engine can write. Several Neovims may change it. */
import { dirname, join } from "node:path";
import * as z from "../../deps/zod.ts";
import { parseRule, type Rule, RULE_VERDICTS, ruleText } from "../../policy/rules.ts";
import { encodeHex } from "../system/hex.ts";

const StoredRules = z.object({
  root: z.string(),
  rules: z.array(z.object({ verdict: z.enum(RULE_VERDICTS), rule: z.string() })),
});

export class RuleFile {
  readonly #path: string;
  readonly #root: string;
  readonly #source: Rule["source"];
  /** The rules, and the state of their file. */
  #known: { readonly stamp: string; readonly rules: readonly Rule[] } = { stamp: NO_FILE, rules: [] };

  /** @param root of the project; empty for all projects */
  constructor(path: string, root: string, source: Rule["source"]) {
    this.#path = path;
    this.#root = root;
    this.#source = source;
  }

  /** The file of a project in a folder of the state folder. */
  static async ofProject(stateDir: string, folder: string, root: string): Promise<RuleFile> {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(root)));
    const path = join(stateDir, folder, `${encodeHex(digest).slice(0, 16)}.json`);
    return new RuleFile(path, root, "project");
  }

  /** Reads the file again only if it has changed. @throws {Error} one line if it is unreadable */
  get rules(): readonly Rule[] {
    const stamp = stampOf(this.#path);
    if (stamp !== this.#known.stamp) this.#known = { stamp, rules: this.#read() };
    return this.#known.rules;
  }

  /** Replaces a rule with the same text. @throws {Error} one line */
  async add(rule: Rule): Promise<void> {
    await this.#change((rules) => [...rules.filter((known) => ruleText(known) !== ruleText(rule)), rule]);
  }

  /** @throws {Error} one line */
  async remove(text: string): Promise<void> {
    await this.#change((rules) => rules.filter((rule) => ruleText(rule) !== text));
  }

  /** Serialises changes, so that each is based on the previous one. */
  async #change(change: (rules: readonly Rule[]) => readonly Rule[]): Promise<void> {
    await Deno.mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    using lock = await Deno.open(`${this.#path}.lock`, { create: true, write: true, mode: 0o600 });
    // The system releases the lock when the process ends in any way.
    await lock.lock(true);
    const rules = change(this.#read());
    const kept = {
      root: this.#root,
      rules: rules.map((rule) => ({ verdict: rule.verdict, rule: ruleText(rule) })),
    };
    const temporary = `${this.#path}.${crypto.randomUUID().slice(0, 8)}.tmp`;
    await Deno.writeTextFile(temporary, JSON.stringify(kept, undefined, 2), { mode: 0o600 });
    await Deno.rename(temporary, this.#path);
  }

  #read(): readonly Rule[] {
    let text: string;
    try {
      text = Deno.readTextFileSync(this.#path);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw unreadable(this.#path, error);
    }
    try {
      const { rules } = StoredRules.parse(JSON.parse(text));
      return rules.map(({ rule, verdict }) => parseRule(rule, verdict, this.#source));
    } catch (error) {
      const isRule = error instanceof Error && error.message.startsWith("Not a rule: ");
      throw unreadable(this.#path, isRule ? error : undefined);
    }
  }
}

const NO_FILE = "none";

/** Changes with the file. @throws {Error} one line if that cannot be determined */
function stampOf(path: string): string {
  try {
    const { mtime, size, ino } = Deno.statSync(path);
    return `${mtime?.getTime()} ${size} ${ino}`;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return NO_FILE;
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): Error {
  const why = error instanceof Error ? ` ${error.message}` : "";
  return new Error(`Cannot read the rules in ${path}. Correct the file or delete it.${why}`);
}
