/**
 * The rules in force for a project. The project's own are kept per root in the supervisor's state folder: outside
 * of the repository, so that a cloned one cannot grant itself anything, and outside of what an engine may write.
 */
import { dirname, join } from "node:path";
import { z } from "zod";
import { parseRule, type Rule, ruleText, type RuleVerdict } from "../policy/rules.ts";
import { encodeHex } from "./hex.ts";

const RuleFile = z.object({
  root: z.string(),
  rules: z.array(z.object({ verdict: z.enum(["allow", "ask", "deny"]), rule: z.string() })),
});

export interface UserRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

export class RuleBook {
  readonly #path: string;
  readonly #root: string;
  readonly #user: readonly Rule[];
  #project: readonly Rule[];
  readonly #session = new Map<number, Rule[]>();

  private constructor(path: string, root: string, user: readonly Rule[], project: readonly Rule[]) {
    this.#path = path;
    this.#root = root;
    this.#user = user;
    this.#project = project;
  }

  /** @throws {Error} one line if a rule of the user's options is not one */
  static async open(stateDir: string, root: string, user: UserRules): Promise<RuleBook> {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(root)));
    const path = join(stateDir, "rules", `${encodeHex(digest).slice(0, 16)}.json`);
    const verdicts: readonly RuleVerdict[] = ["allow", "ask", "deny"];
    const own = verdicts.flatMap((verdict) => user[verdict].map((text) => parseRule(text, verdict, "user")));
    return new RuleBook(path, root, own, await readRules(path));
  }

  /** Strongest source first. */
  rules(chat: number): readonly Rule[] {
    return [...this.#session.get(chat) ?? [], ...this.#project, ...this.#user];
  }

  /** @throws {Error} one line if the text is no rule or it cannot be kept */
  async add(text: string, verdict: RuleVerdict, where: "session" | "project", chat: number): Promise<Rule> {
    const rule = parseRule(text, verdict, where);
    if (where === "session") {
      this.#session.set(chat, [...this.#session.get(chat) ?? [], rule]);
      return rule;
    }
    const others = this.#project.filter((known) => ruleText(known) !== ruleText(rule));
    await this.#save([...others, rule]);
    return rule;
  }

  /** True if there was such a rule; those of the user's options are changed there. */
  async remove(text: string, chat: number): Promise<boolean> {
    const session = this.#session.get(chat) ?? [];
    const left = session.filter((rule) => ruleText(rule) !== text);
    this.#session.set(chat, left);
    const project = this.#project.filter((rule) => ruleText(rule) !== text);
    const removed = left.length < session.length || project.length < this.#project.length;
    if (project.length < this.#project.length) await this.#save(project);
    return removed;
  }

  async #save(rules: readonly Rule[]): Promise<void> {
    const kept = {
      root: this.#root,
      rules: rules.map((rule) => ({ verdict: rule.verdict, rule: ruleText(rule) })),
    };
    await Deno.mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const temporary = `${this.#path}.${crypto.randomUUID().slice(0, 8)}.tmp`;
    await Deno.writeTextFile(temporary, JSON.stringify(kept, undefined, 2), { mode: 0o600 });
    await Deno.rename(temporary, this.#path);
    this.#project = rules;
  }
}

async function readRules(path: string): Promise<readonly Rule[]> {
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch {
    return [];
  }
  const parsed = RuleFile.safeParse(parseJson(text));
  if (!parsed.success) {
    throw new Error(`Cannot read the project's rules in ${path}. Mend the file or delete it.`);
  }
  return parsed.data.rules.map(({ rule, verdict }) => parseRule(rule, verdict, "project"));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
