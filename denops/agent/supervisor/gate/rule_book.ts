/**
 * The current rules of a project. The project's own rules are stored per root in the supervisor's state
 * folder: outside of the repository, so that a cloned one cannot grant itself anything, and where no engine
 * can write. If several Neovims work in a project, changes apply to the next decision of each.
 */
import { dirname, join } from "node:path";
import { z } from "../../deps/zod.ts";
import { parseRule, type Rule, RULE_VERDICTS, ruleText, type RuleVerdict } from "../../policy/rules.ts";
import { encodeHex } from "../system/hex.ts";

const RuleFile = z.object({
  root: z.string(),
  rules: z.array(z.object({ verdict: z.enum(RULE_VERDICTS), rule: z.string() })),
});

interface UserRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

/** The project's rules, and the state of their file. */
interface ProjectRules {
  readonly stamp: string;
  readonly rules: readonly Rule[];
}

export class RuleBook {
  readonly #path: string;
  readonly #root: string;
  readonly #user: readonly Rule[];
  #project: ProjectRules = { stamp: NO_FILE, rules: [] };
  readonly #session = new Map<number, Rule[]>();

  private constructor(path: string, root: string, user: readonly Rule[]) {
    this.#path = path;
    this.#root = root;
    this.#user = user;
  }

  /** @throws {Error} one line if a rule of the user's options or of the project is invalid */
  static async open(stateDir: string, root: string, user: UserRules): Promise<RuleBook> {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(root)));
    const path = join(stateDir, "rules", `${encodeHex(digest).slice(0, 16)}.json`);
    const own = RULE_VERDICTS.flatMap((verdict) =>
      user[verdict].map((text) => parseRule(text, verdict, "user"))
    );
    const book = new RuleBook(path, root, own);
    book.#current();
    return book;
  }

  /**
   * Strongest source first.
   * @throws {Error} one line if the project's rules are unreadable: nothing is decided without them
   */
  rules(chat: number): readonly Rule[] {
    return [...this.#session.get(chat) ?? [], ...this.#current(), ...this.#user];
  }

  /** Session rules also apply in the session's next engine. @param before the rules of the previous engine */
  carryOver(chat: number, before: RuleBook): void {
    this.#session.set(chat, [...before.#session.get(chat) ?? []]);
  }

  /** @throws {Error} one line if the text is not a rule or cannot be stored */
  async add(text: string, verdict: RuleVerdict, where: "session" | "project", chat: number): Promise<Rule> {
    const rule = parseRule(text, verdict, where);
    if (where === "session") {
      this.#session.set(chat, [...this.#session.get(chat) ?? [], rule]);
      return rule;
    }
    await this.#change((rules) => [...rules.filter((known) => ruleText(known) !== ruleText(rule)), rule]);
    return rule;
  }

  /** True if the rule existed. Rules of the user's options cannot be removed here. */
  async remove(text: string, chat: number): Promise<boolean> {
    const session = this.#session.get(chat) ?? [];
    const left = session.filter((rule) => ruleText(rule) !== text);
    this.#session.set(chat, left);
    if (!this.#current().some((rule) => ruleText(rule) === text)) return left.length < session.length;
    await this.#change((rules) => rules.filter((rule) => ruleText(rule) !== text));
    return true;
  }

  /** The project's rules; the file is read again only if it has changed. */
  #current(): readonly Rule[] {
    const stamp = stampOf(this.#path);
    if (stamp !== this.#project.stamp) this.#project = { stamp, rules: readRules(this.#path) };
    return this.#project.rules;
  }

  /** Serialises changes, so that each is based on the previous one. */
  async #change(change: (rules: readonly Rule[]) => readonly Rule[]): Promise<void> {
    await Deno.mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    using lock = await Deno.open(`${this.#path}.lock`, { create: true, write: true, mode: 0o600 });
    // The system releases the lock when the process ends in any way.
    await lock.lock(true);
    const rules = change(readRules(this.#path));
    const kept = {
      root: this.#root,
      rules: rules.map((rule) => ({ verdict: rule.verdict, rule: ruleText(rule) })),
    };
    const temporary = `${this.#path}.${crypto.randomUUID().slice(0, 8)}.tmp`;
    await Deno.writeTextFile(temporary, JSON.stringify(kept, undefined, 2), { mode: 0o600 });
    await Deno.rename(temporary, this.#path);
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

function readRules(path: string): readonly Rule[] {
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw unreadable(path, error);
  }
  try {
    const { rules } = RuleFile.parse(JSON.parse(text));
    return rules.map(({ rule, verdict }) => parseRule(rule, verdict, "project"));
  } catch (error) {
    const isRule = error instanceof Error && error.message.startsWith("Not a rule: ");
    throw unreadable(path, isRule ? error : undefined);
  }
}

function unreadable(path: string, error: unknown): Error {
  const why = error instanceof Error ? ` ${error.message}` : "";
  return new Error(`Cannot read the project's rules in ${path}. Correct the file or delete it.${why}`);
}
