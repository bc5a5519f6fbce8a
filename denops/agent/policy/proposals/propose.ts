/**
 * Proposes rules from the approval log: the narrowest ones that would have given the answers that the user has repeated,
 * with a dry run of each over the log. Generators, so that the caller can pause. Pure.
 */
import type { Circumstances } from "../decide.ts";
import { type Rule, ruleText } from "../rules.ts";
import { type Candidate, candidatesOf } from "./candidates.ts";
import { dangerOf, isEvidence, type LoggedCase } from "./cases.ts";
import { formsOf, type RuleForms } from "./forms.ts";
import { type Trial, Trials } from "./trials.ts";

/** Of the dry run. */
export const DRY_RUN_DAYS = 30;
const DRY_RUN_MS = DRY_RUN_DAYS * 24 * 60 * 60 * 1_000;
/** Proposals at a time. */
const MOST_PROPOSALS = 20;
const MOST_EXAMPLES = 5;

export interface ProposalOptions {
  readonly root: string;
  /** The circumstances of the project. */
  readonly base: Circumstances;
  /** The rules that apply in a project: its own are known for this one. */
  rulesOf(root: string): readonly Rule[];
  /** Proposals that the user does not want again. */
  readonly unwanted: readonly Rule[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface DryRunExample {
  /** One line. */
  readonly text: string;
  readonly count: number;
  /** How it ended without the rule; empty if the user answered as the rule would have. */
  readonly note: string;
  /** Half a sentence. */
  readonly danger?: string;
}

export interface DryRun {
  /** Requests that the user answered in the same way, and that the rule would have answered. */
  readonly answered: number;
  /** Other requests that it would have decided. */
  readonly others: number;
  /** Dangerous ones first. */
  readonly examples: readonly DryRunExample[];
  /** An answer of the user that contradicts the rule, in one line. */
  readonly conflict?: string;
}

export interface ProposedForm {
  readonly rules: readonly Rule[];
  readonly project: DryRun;
  /** Over the requests of all projects. */
  readonly all: DryRun;
}

export interface RuleProposal extends ProposedForm {
  readonly verdict: "allow" | "deny";
  /** Number of the user's answers. */
  readonly answers: number;
  readonly wider?: ProposedForm;
}

/** Yields often. @param cases of all projects, oldest first */
export function* proposeRules(
  cases: readonly LoggedCase[],
  options: ProposalOptions,
): Generator<void, readonly RuleProposal[]> {
  const { root, base, unwanted, rulesOf } = options;
  const trials = new Trials(base, rulesOf);
  const own = cases.filter((logged) => logged.root === root);
  const forms: RuleForms[] = [];
  const known = new Map<string, RuleForms | undefined>();
  for (const logged of own.filter(isEvidence)) {
    const rules = [...rulesOf(root), ...unwanted];
    const key = `${logged.end} ${trials.key(logged)}`;
    const found = known.getOrInsertComputed(key, () => formsOf(logged, rules, base));
    if (found !== undefined) forms.push({ ...found, logged });
    yield;
  }
  const opposed = yield* opposedCases(own, trials);
  const accepted: Rule[] = [];
  const contradicts = function* (rules: readonly Rule[]): Generator<void, boolean> {
    const verdict = rules[0]?.verdict === "allow" ? "allow" : "deny";
    for (const logged of opposed[verdict]) {
      yield;
      const all = [...accepted, ...rules];
      if (!trials.mayChange(logged, all)) continue;
      if (isContradicted(logged, trials.run(logged, all, true))) return true;
    }
    return false;
  };
  const isUnwanted = (rule: Rule) =>
    unwanted.some(({ verdict, ...one }) => verdict === rule.verdict && ruleText(one) === ruleText(rule));
  const candidates: Candidate[] = [];
  for (const { wider, ...candidate } of yield* candidatesOf(forms, contradicts)) {
    if (candidate.rules.some(isUnwanted)) continue;
    // Two rules together may allow a line that neither of them allows.
    if (candidates.length === MOST_PROPOSALS || (yield* contradicts(candidate.rules))) continue;
    accepted.push(...candidate.rules);
    candidates.push(wider?.some(isUnwanted) === false ? { ...candidate, wider } : candidate);
  }
  return yield* dryRuns(candidates, cases, trials, options);
}

/** The requests that rules with a verdict must not decide, each once. */
function* opposedCases(
  own: readonly LoggedCase[],
  trials: Trials,
): Generator<void, Readonly<Record<Candidate["verdict"], readonly LoggedCase[]>>> {
  const allow = new Map<string, LoggedCase>();
  const deny = new Map<string, LoggedCase>();
  for (const logged of own) {
    yield;
    const { end, access } = logged;
    // A rule opens a private host, which is denied without one.
    const isRefused = end === "rejected" || end === "refused" || access.kind === "fetch";
    if (isRefused) allow.set(`${end} ${trials.key(logged)}`, logged);
    if (end === "allowed" || end === "unasked") deny.set(trials.key(logged), logged);
  }
  return { allow: [...allow.values()], deny: [...deny.values()] };
}

/** Whether rules decide a request in another way than the user, or another rule, did. */
function isContradicted({ end }: LoggedCase, { before, after }: Trial): boolean {
  if (before.verdict === after.verdict) return false;
  // A deny never changes, whoever made it.
  if (before.verdict === "deny") return true;
  return after.verdict === "allow"
    ? end === "rejected" || end === "refused"
    : end === "allowed" || end === "unasked";
}

/** One form of a candidate while its dry run counts. */
class Tally {
  readonly #verdict: Candidate["verdict"];
  #answered = 0;
  #others = 0;
  #conflict: string | undefined;
  readonly #examples = new Map<string, DryRunExample>();

  constructor(verdict: Candidate["verdict"]) {
    this.#verdict = verdict;
  }

  add(logged: LoggedCase, trial: Trial, isRecent: boolean, base: Circumstances): void {
    const { before, after } = trial;
    const { title, note, end, isForced } = logged;
    if (isContradicted(logged, trial)) this.#conflict ??= title;
    const differs = before.verdict !== after.verdict || before.keepsChanges !== after.keepsChanges;
    if (!isRecent || isForced || !differs || after.verdict !== this.#verdict) return;
    const isSame = end === (this.#verdict === "allow" ? "allowed" : "rejected") && before.verdict === "ask";
    if (isSame) this.#answered++;
    else this.#others++;
    const key = JSON.stringify([title, isSame, note]);
    const known = this.#examples.get(key);
    const danger = known === undefined ? dangerOf(logged, base) : known.danger;
    const count = (known?.count ?? 0) + 1;
    const example = { text: title, count, note: isSame ? "" : note };
    this.#examples.set(key, danger === undefined ? example : { ...example, danger });
  }

  result(): DryRun {
    const rank = ({ note, danger }: DryRunExample) => (danger === undefined ? 0 : 2) + (note === "" ? 0 : 1);
    const examples = [...this.#examples.values()].sort((a, b) => rank(b) - rank(a) || b.count - a.count);
    const conflict = this.#conflict === undefined ? {} : { conflict: this.#conflict };
    return {
      answered: this.#answered,
      others: this.#others,
      examples: examples.slice(0, MOST_EXAMPLES),
      ...conflict,
    };
  }
}

/** The tallies of one form. */
class FormTallies {
  readonly rules: readonly Rule[];
  readonly project: Tally;
  readonly all: Tally;

  constructor(rules: readonly Rule[], verdict: Candidate["verdict"]) {
    this.rules = rules;
    this.project = new Tally(verdict);
    this.all = new Tally(verdict);
  }

  result(): ProposedForm {
    return { rules: this.rules, project: this.project.result(), all: this.all.result() };
  }
}

function* dryRuns(
  candidates: readonly Candidate[],
  cases: readonly LoggedCase[],
  trials: Trials,
  { root, base, now }: ProposalOptions,
): Generator<void, readonly RuleProposal[]> {
  const tallies = candidates.map(({ verdict, rules, wider, evidence }) => ({
    verdict,
    answers: evidence.length,
    narrow: new FormTallies(rules, verdict),
    wide: wider && new FormTallies(wider, verdict),
  }));
  const forms = tallies.flatMap(({ narrow, wide }) => wide === undefined ? [narrow] : [narrow, wide]);
  const results = new Map<string, Trial>();
  for (const logged of cases) {
    const isRecent = logged.time >= now - DRY_RUN_MS;
    // The next request may come in a session that has read no foreign text.
    const isClean = logged.end === "rejected" || logged.end === "refused";
    for (const [at, { rules, project, all }] of forms.entries()) {
      if (!trials.mayChange(logged, rules)) continue;
      const key = `${at} ${isClean} ${trials.key(logged)}`;
      const trial = results.getOrInsertComputed(key, () => trials.run(logged, rules, isClean));
      if (logged.root === root) project.add(logged, trial, isRecent, base);
      all.add(logged, trial, isRecent, base);
      yield;
    }
    yield;
  }
  return tallies.map(({ verdict, answers, narrow, wide }) => ({
    verdict,
    answers,
    ...narrow.result(),
    ...wide === undefined ? {} : { wider: wide.result() },
  }));
}
