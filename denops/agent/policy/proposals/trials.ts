/** Tries rules on requests of the log, and judges equal requests once. Pure. */
import { judgeCommand } from "../command.ts";
import { ownCommands } from "../command/rules.ts";
import type { Circumstances } from "../decide.ts";
import type { Rule } from "../rules.ts";
import { type CaseJudgement, judgeCase, lineOf, type LoggedCase } from "./cases.ts";

/** The answers without and with the rules. */
export interface Trial {
  readonly before: CaseJudgement;
  readonly after: CaseJudgement;
}

/** The words of a line's commands. */
interface LineWords {
  /** Of each command that allow rules must cover. */
  readonly own: readonly (readonly string[])[];
  /** Names of all programs, as rules may write them. */
  readonly programs: ReadonlySet<string>;
}

export class Trials {
  readonly #base: Circumstances;
  readonly #rulesOf: (root: string) => readonly Rule[];
  readonly #keys = new Map<LoggedCase, string>();
  readonly #before = new Map<string, CaseJudgement>();
  readonly #lines = new Map<string, LineWords>();

  /** @param rulesOf the rules that apply in a project */
  constructor(base: Circumstances, rulesOf: (root: string) => readonly Rule[]) {
    this.#base = base;
    this.#rulesOf = rulesOf;
  }

  /** Equal for requests that all rules answer in the same way. */
  key(logged: LoggedCase): string {
    return this.#keys.getOrInsertComputed(logged, ({ root, access, taint, tools, changes }) => {
      const { timeout: _, ...facts } = { timeout: undefined, ...access };
      return JSON.stringify([root, facts, taint === "foreign", tools, changes]);
    });
  }

  /** @param isClean judges it as in a session that has read no foreign text */
  before(logged: LoggedCase, isClean: boolean): CaseJudgement {
    const key = `${isClean} ${this.key(logged)}`;
    return this.#before.getOrInsertComputed(
      key,
      () => judgeCase(logged, this.#rulesOf(logged.root), this.#base, isClean),
    );
  }

  /** @param isClean see {@link before} */
  run(logged: LoggedCase, rules: readonly Rule[], isClean: boolean): Trial {
    const all = [...this.#rulesOf(logged.root), ...rules];
    return { before: this.before(logged, isClean), after: judgeCase(logged, all, this.#base, isClean) };
  }

  /** False if the rules cannot change the answer. Cheap, because most rules have nothing to do with most requests. */
  mayChange(logged: LoggedCase, rules: readonly Rule[]): boolean {
    const { access } = logged;
    const line = lineOf(access);
    const ofLines = rules.filter(isOfLine);
    if (line !== undefined && ofLines.length > 0) return this.#mayChangeLine(logged.root, line, ofLines);
    const kinds: readonly string[] = access.kind === "file"
      ? ["read", "write"]
      : access.kind === "foreign"
      ? ["read", "write", "mcp", "agent"]
      : [access.kind];
    return rules.some(({ kind }) => kinds.includes(kind));
  }

  /** Allow rules must cover all commands of a line, together with the rules that apply already. */
  #mayChangeLine(root: string, line: string, rules: readonly Rule[]): boolean {
    const { own, programs } = this.#lines.getOrInsertComputed(line, wordsOf);
    if (rules.some(({ verdict }) => verdict !== "allow")) {
      return rules.map(literalWords).some(([name]) => name === undefined || programs.has(name));
    }
    const mayCover = (rule: Rule, words: readonly string[]) =>
      literalWords(rule).every((word, at) => words[at] === word);
    const covered = own.filter((words) => rules.some((rule) => mayCover(rule, words)));
    if (covered.length === 0) return false;
    const current = this.#rulesOf(root).filter(isOfLine);
    return own.every((words) => covered.includes(words) || current.some((rule) => mayCover(rule, words)));
  }
}

function isOfLine({ kind }: Rule): boolean {
  return kind === "run" || kind === "git" || kind === "network";
}

/** The words of a pattern before the first one that may have another meaning than its text. */
function literalWords({ pattern }: Rule): readonly string[] {
  const words = pattern.split(/\s+/);
  const end = words.findIndex((word) => /[\\'"*]/.test(word));
  return end === -1 ? words : words.slice(0, end);
}

function wordsOf(line: string): LineWords {
  const verdict = judgeCommand(line);
  const names = verdict.commands.flatMap(({ words: [name] }) => {
    if (name === undefined) return [];
    const base = name.slice(name.lastIndexOf("/") + 1);
    return [name, base, base.toLowerCase()];
  });
  return { own: ownCommands(verdict).map(({ words }) => words), programs: new Set(names) };
}
