/** Rules that would have given the user's repeated answers: the narrowest ones that contradict no other answer. Pure. */
import { parseRule, type Rule, ruleText } from "../rules.ts";
import type { LoggedCase } from "./cases.ts";
import { type RuleForms, verdictOf } from "./forms.ts";
import { sharedPattern } from "./patterns.ts";

/** Fewer equal answers make no rule. */
const LEAST_ANSWERS = 3;
/** Fewer different files make no rule for their folder. */
const LEAST_FILES = 3;

export interface Candidate {
  readonly verdict: "allow" | "deny";
  readonly rules: readonly Rule[];
  /** The user's answers that it would have given. */
  readonly evidence: readonly LoggedCase[];
  /** More arguments, if the user wants them. */
  readonly wider?: readonly Rule[];
}

/** Whether rules would answer any logged request in another way than the user did. */
export type Contradiction = (rules: readonly Rule[]) => Generator<void, boolean>;

/** The strongest first. */
export function* candidatesOf(
  all: readonly RuleForms[],
  contradicts: Contradiction,
): Generator<void, readonly Candidate[]> {
  const found: Candidate[] = [];
  for (const verdict of ["allow", "deny"] as const) {
    const own = all.filter(({ logged }) => verdictOf(logged) === verdict);
    const groups = groupsBy(own, ({ exact }) => exact.join(", "));
    const rest = groups.filter((group) => group.length < LEAST_ANSWERS).flat();
    for (const [first, ...others] of groups) {
      yield;
      if (first === undefined || others.length + 1 < LEAST_ANSWERS) continue;
      const group = [first, ...others];
      const candidate = candidateOf(first.exact, verdict, group);
      if (yield* contradicts(candidate.rules)) continue;
      const usual = first.line?.usual ?? first.exact;
      found.push({ ...candidate, ...yield* wider(usual, candidate, contradicts) });
    }
    const lines = rest.filter(({ line }) => line !== undefined);
    for (const group of groupsBy(lines, ({ line }) => line?.usual.join(", ") ?? "")) {
      found.push(...yield* lineCandidates(group, contradicts));
    }
    const files = rest.filter(({ folder }) => folder !== undefined);
    for (const group of groupsBy(files, ({ folder = "" }) => folder)) {
      const names = new Set(group.map(({ exact }) => exact.join()));
      const [folder = ""] = group.map(({ folder }) => folder);
      if (names.size < LEAST_FILES) continue;
      const candidate = candidateOf([folder], verdict, group);
      if (!(yield* contradicts(candidate.rules))) found.push(candidate);
    }
  }
  return found.sort((a, b) => b.evidence.length - a.evidence.length);
}

function groupsBy(forms: readonly RuleForms[], key: (forms: RuleForms) => string): RuleForms[][] {
  return [...Map.groupBy(forms, key).values()];
}

function candidateOf(
  texts: readonly string[],
  verdict: Candidate["verdict"],
  forms: readonly RuleForms[],
): Candidate {
  const rules = texts.map((text) => parseRule(text, verdict, "project"));
  return { verdict, rules, evidence: forms.map(({ logged }) => logged) };
}

/** The gate's own proposal, unless it is the same or contradicts an answer. */
function* wider(
  usual: readonly string[],
  { rules, verdict }: Candidate,
  contradicts: Contradiction,
): Generator<void, Pick<Candidate, "wider">> {
  if (usual.join() === rules.map(ruleText).join()) return {};
  const wide = usual.map((text) => parseRule(text, verdict, "project"));
  return (yield* contradicts(wide)) ? {} : { wider: wide };
}

/** A pattern for the words that these lines share, or several narrower ones if the user rejected a line that it allows. */
function* lineCandidates(
  group: readonly RuleForms[],
  contradicts: Contradiction,
): Generator<void, readonly Candidate[]> {
  if (group.length < LEAST_ANSWERS) return [];
  const lines = group.flatMap(({ line }) => line ?? []);
  const commands = lines.map(({ command }) => command);
  const [first] = lines;
  const pattern = yield* sharedPattern(commands);
  if (first === undefined || pattern === undefined) return [];
  const texts = first.kinds.map((kind) => ruleText({ kind, pattern }));
  const candidate = candidateOf(texts, "allow", group);
  if (!(yield* contradicts(candidate.rules))) {
    return [{ ...candidate, ...yield* wider(first.usual, candidate, contradicts) }];
  }
  const words = commands[0]?.words ?? [];
  const differs = words.findIndex((word, at) => commands.some((other) => other.words[at] !== word));
  const at = differs === -1 ? words.length : differs;
  const parts = groupsBy(group, ({ line }) => line?.command.words[at] ?? "");
  const found: Candidate[] = [];
  for (const part of parts) {
    if (part.length < group.length) found.push(...yield* lineCandidates(part, contradicts));
  }
  return found;
}
