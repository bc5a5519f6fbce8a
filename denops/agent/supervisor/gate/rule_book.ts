/**
 * The current rules of a project. The project's own rules are stored per root in the supervisor's state
 * folder: outside of the repository, so that a cloned one cannot grant itself anything, and where no engine
 * can write. Rules for all projects have a file beside them. If several Neovims work in a project, changes apply to the
 * next decision of each.
 */
import { join } from "node:path";
import { parseRule, type Rule, RULE_VERDICTS, ruleText, type RuleVerdict } from "../../policy/rules.ts";
import { RuleFile } from "./rule_file.ts";

const FOLDER = "rules";

interface UserRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

export class RuleBook {
  readonly #project: RuleFile;
  readonly #all: RuleFile;
  readonly #user: readonly Rule[];
  readonly #session = new Map<number, Rule[]>();

  private constructor(project: RuleFile, all: RuleFile, user: readonly Rule[]) {
    this.#project = project;
    this.#all = all;
    this.#user = user;
  }

  /** @throws {Error} one line if a rule of the user's options, of the project or of all projects is invalid */
  static async open(stateDir: string, root: string, user: UserRules): Promise<RuleBook> {
    const own = RULE_VERDICTS.flatMap((verdict) =>
      user[verdict].map((text) => parseRule(text, verdict, "user"))
    );
    const all = new RuleFile(join(stateDir, FOLDER, "all.json"), "", "all projects");
    const book = new RuleBook(await RuleFile.ofProject(stateDir, FOLDER, root), all, own);
    book.rules(0);
    return book;
  }

  /**
   * Strongest source first.
   * @throws {Error} one line if the stored rules are unreadable: nothing is decided without them
   */
  rules(chat: number): readonly Rule[] {
    return [...this.#session.get(chat) ?? [], ...this.#project.rules, ...this.everywhere];
  }

  /** The rules that apply in every project. @throws {Error} as {@link rules} */
  get everywhere(): readonly Rule[] {
    return [...this.#all.rules, ...this.#user];
  }

  /** Session rules also apply in the session's next engine. @param before the rules of the previous engine */
  carryOver(chat: number, before: RuleBook): void {
    this.#session.set(chat, [...before.#session.get(chat) ?? []]);
  }

  /** @throws {Error} one line if the text is not a rule or cannot be stored */
  async add(
    text: string,
    verdict: RuleVerdict,
    where: Exclude<Rule["source"], "user">,
    chat: number,
  ): Promise<Rule> {
    const rule = parseRule(text, verdict, where);
    if (where === "session") this.#session.set(chat, [...this.#session.get(chat) ?? [], rule]);
    else await (where === "project" ? this.#project : this.#all).add(rule);
    return rule;
  }

  /** Removes the rule of this source alone: another one of the same text may deny. @throws {Error} one line */
  async remove(text: string, source: string, chat: number): Promise<void> {
    if (source === "session") {
      this.#session.set(chat, (this.#session.get(chat) ?? []).filter((rule) => ruleText(rule) !== text));
    } else if (source === "project") await this.#project.remove(text);
    else if (source === "all projects") await this.#all.remove(text);
  }
}
