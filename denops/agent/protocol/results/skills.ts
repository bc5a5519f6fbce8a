/** Skills: folders of instructions in the format of agentskills.io. */
import * as z from "../../deps/zod.ts";

/** The part of a skill that the model always sees. */
export const SkillFacts = z.object({ name: z.string().max(64), description: z.string().max(1_024) });
export type SkillFacts = Readonly<z.infer<typeof SkillFacts>>;

/** Skills that one session's model is offered. */
export const MOST_SKILLS = 50;

/**
 * - on: the model is offered it
 * - off: the user has switched it off, approved or not
 * - new: a project's skill that the user has not approved
 * - changed: it differs from what the user has approved
 * - replaced: another one of the same name comes first
 */
export const SKILL_STATES = ["on", "off", "new", "changed", "replaced"] as const;
export type SkillState = (typeof SKILL_STATES)[number];

/** The user's change of a skill. `approve` asks, and shows the skill. */
export const SkillChange = z.object({ label: z.string().max(4_096), to: z.enum(["approve", "on", "off"]) });

/** A skill as `:Agent skills` lists it. */
export interface ShownSkill {
  readonly name: string;
  /** Its folder as users know it; unique. */
  readonly label: string;
  /** Absolute path of its SKILL.md. */
  readonly path: string;
  readonly state: SkillState;
  /** Estimated tokens: in each request, and of its text once it is read. */
  readonly listed: number;
  readonly whole: number;
  /** Everything that an approval covers. */
  readonly text: string;
  /** A prompt has its name, so that `/name` calls that. */
  readonly hidden: boolean;
}
