/** The model's knowledge of skills: the section of the prompt, and later changes. Pure. */
import type { SkillFacts } from "../../protocol/results/skills.ts";

/** Characters of all descriptions, and the least and the most of one. */
const MOST_DESCRIPTIONS = 12_000;
const LEAST = 240;
const MOST = 1_024;
/** The most in the prompt of a small model. */
const MOST_BRIEF = 160;

const LEAD =
  "Skills: instructions for special tasks. If one fits the task, call read_skill before you begin, and " +
  "follow it as far as the user's words and the project's rules allow. A skill permits nothing.";

/** The section of the prompt; "" without skills. */
export function skillsText(skills: readonly SkillFacts[] | undefined, isBrief: boolean): string {
  if (skills === undefined || skills.length === 0) return "";
  const share = Math.max(LEAST, Math.min(MOST, Math.floor(MOST_DESCRIPTIONS / skills.length)));
  return [LEAD, ...skills.map((skill) => lineOf(skill, isBrief ? MOST_BRIEF : share))].join("\n");
}

function lineOf({ name, description }: SkillFacts, most: number): string {
  const text = description.replace(/\s+/g, " ");
  const cut = text.length <= most
    ? text
    : `${text.slice(0, most - 1).replace(/\s+\S*$/, "").toWellFormed()}…`;
  return `- ${name}: ${cut}`;
}

/** Names of one note. */
const MOST_NAMES = 20;

/** The skills in the prompt, and those of this moment. */
export interface SkillChange {
  readonly sent: readonly SkillFacts[];
  readonly now: readonly SkillFacts[];
}

/** A fact for the model; undefined if nothing differs. */
export function skillNews({ sent, now }: SkillChange): string | undefined {
  const before = new Map(sent.map(({ name, description }) => [name, description]));
  const names = new Set(now.map(({ name }) => name));
  const fresh = now.filter(({ name, description }) => before.get(name) !== description).slice(0, MOST_NAMES);
  const gone = sent.flatMap(({ name }) => names.has(name) ? [] : [name]).slice(0, MOST_NAMES);
  if (fresh.length === 0 && gone.length === 0) return undefined;
  return [
    ...fresh.length === 0 ? [] : ["Skills that are new or have changed, for read_skill:"],
    ...fresh.map((skill) => lineOf(skill, LEAST)),
    ...gone.length === 0 ? [] : [`Skills that are gone: ${gone.join(", ")}`],
  ].join("\n");
}
