/** The skills of a project: what they say, whether the user has approved them, and what the model is offered. */
import { join } from "node:path";
import type { FileRules } from "../../protocol/config.ts";
import { isInside } from "../../policy/path.ts";
import { mayRead } from "../../policy/file_access.ts";
import { MOST_SKILLS, type SkillFacts, type SkillState } from "../../protocol/results/skills.ts";
import { messageOf } from "../../shared/errors.ts";
import { plural } from "../../shared/text/text.ts";
import { readSkillFile, type SkillFile, skillText } from "../../shared/user_files/skill_file.ts";
import { middleCut, oneLine, visible } from "../screen/visible.ts";
import { findSkills, type FoundSkill, type SkillRoots, type Skills } from "./find_skills.ts";
import { readInSkill, readSkillFolder, SKILL_FILE, type SkillFolder, SkillFolders } from "./skill_folder.ts";
import { SkillTrust } from "./skill_trust.ts";

export interface Skill extends FoundSkill {
  readonly file: SkillFile;
  readonly content: SkillFolder;
  readonly state: SkillState;
}

type SkillList = Skills<Skill>;

interface SkillOptions extends Omit<SkillRoots, "home"> {
  readonly stateDir: string;
  home(): string | undefined;
  /** @throws {Error} if the rules cannot be read */
  rules(): FileRules;
}

/** Whether the user approves a skill as it is shown; undefined if the turn was stopped. */
type ConfirmSkill = (skill: Skill) => Promise<boolean | undefined>;

/** Names in a line, and lines about unusable skills: health lists all. */
const MOST_NAMES = 5;
const MOST_PROBLEMS = 5;

/** Bytes of a skill's file that is read. */
const LONGEST_FILE = 1024 ** 2;
/** Characters of a path. */
const LONGEST_PATH = 1_000;

export class ProjectSkills {
  readonly #options: SkillOptions;
  readonly #trust: SkillTrust;
  readonly #folders = new SkillFolders();
  #shared: readonly string[] = [];
  /** By label: the hashes of skills that the user has rejected. Only the user's own request asks about them again. */
  readonly #rejected = new Map<string, string>();

  constructor(options: SkillOptions) {
    this.#options = options;
    this.#trust = new SkillTrust(options.stateDir, options.roots[0] ?? "");
  }

  /** Real paths of folders outside of the project that commands can read, as of the last look. */
  get sharedFolders(): readonly string[] {
    return this.#shared;
  }

  /** Reads all of them again. @throws {Error} if the rules or the user's choices cannot be read */
  async list(): Promise<SkillList> {
    const { roots, configDir, home, rules } = this.#options;
    const found = await findSkills({ roots, configDir, home: home() }, rules());
    const problems = [...found.problems];
    const all: Skill[] = [];
    const names = new Set<string>();
    for (const place of found.skills) {
      try {
        const skill = await this.#read(place, await this.#folders.of(place.folder, !place.isUsers));
        const isReplaced = skill.state === "on" && names.has(skill.file.name);
        if (skill.state === "on") names.add(skill.file.name);
        all.push(isReplaced ? { ...skill, state: "replaced" } : skill);
      } catch (error) {
        problems.push(`Cannot use the skill ${place.label}: ${messageOf(error)}.`);
      }
    }
    const left = names.size - MOST_SKILLS;
    if (left > 0) {
      problems.push(`The model is offered ${MOST_SKILLS} skills: switch some off in :Agent skills.`);
    }
    this.#shared = all.flatMap(({ state, isUsers, folder }) => state === "on" && isUsers ? [folder] : []);
    return { skills: all, problems: problems.map((problem) => oneLine(problem)) };
  }

  /** The ones that the model is offered. */
  offered({ skills }: SkillList): readonly SkillFacts[] {
    return skills.flatMap(({ state, file: { name, description } }) =>
      state === "on" ? [{ name, description: visible(description) }] : []
    ).slice(0, MOST_SKILLS);
  }

  /** Skills that cannot be used, or need the user's approval, a line each. */
  lines({ skills, problems }: SkillList): readonly string[] {
    const named = (wanted: SkillState) => {
      const names = skills.flatMap(({ state, file: { name } }) => state === wanted ? [name] : []);
      const left = names.length - MOST_NAMES;
      return names.slice(0, MOST_NAMES).join(", ") + (left > 0 ? ` and ${left} more` : "");
    };
    const [fresh, changed] = [named("new"), named("changed")];
    return [
      ...problems.slice(0, MOST_PROBLEMS),
      ...changed === ""
        ? []
        : [`Skills have changed since you approved them: ${changed}. See :Agent skills.`],
      ...fresh === "" ? [] : [`Skills of this project need your approval: ${fresh}. See :Agent skills.`],
    ];
  }

  /**
   * The skill's text for the model, as it is at this moment. Asks about a project's skill that is new or has changed.
   * @param isWanted the user has named the skill @throws {Error} half a sentence
   */
  async text(name: string, confirm: ConfirmSkill, isWanted: boolean): Promise<string> {
    const { skills } = await this.list();
    const named = skills.filter(({ file }) => file.name === name);
    const place = named.find(({ state }) => state === "on") ??
      named.find(({ state }) => state === "new" || state === "changed");
    if (place === undefined) {
      throw new Error(
        named.length === 0 ? `no skill is called ${name}` : `the skill ${name} is switched off`,
      );
    }
    // The text that the model gets is the one that was hashed.
    const skill = await this.#read(place, await readSkillFolder(place.folder, !place.isUsers));
    if (skill.file.name !== name) throw new Error(`the skill ${name} is changing`);
    const isApproved = skill.state === "on" || await this.#ask(skill, confirm, isWanted);
    if (!isApproved) throw new Error(`the user has not approved the skill ${name}`);
    const { file, content: { version, files }, path: folder } = skill;
    const readable = files.filter((one) => this.#mayRead(skill, one));
    return visible(skillText(file, { version, folder: nameLine(folder), files: readable.map(nameLine) }));
  }

  /** Approves exactly the skill that the user is shown. @throws {Error} one line */
  async approve(label: string, confirm: ConfirmSkill): Promise<void> {
    const place = await this.#at(label);
    const skill = await this.#read(place, await readSkillFolder(place.folder, !place.isUsers));
    if (skill.state === "new" || skill.state === "changed") await this.#ask(skill, confirm, true);
  }

  /** @throws {Error} one line */
  async switch(label: string, isOn: boolean): Promise<void> {
    await this.#trust.note(await this.#at(label), { off: !isOn });
  }

  /**
   * A text file of a skill of the user's that the model is offered.
   * @param path absolute @returns undefined if it is none @throws {Error} one line
   */
  async file(path: string): Promise<string | undefined> {
    const { skills } = await this.list();
    const skill = skills.find(({ state, isUsers, folder }) =>
      state === "on" && isUsers && isInside(path, folder)
    );
    const name = skill?.content.files.concat(SKILL_FILE).find((name) => join(skill.folder, name) === path);
    if (skill === undefined || name === undefined || !this.#mayRead(skill, name)) return undefined;
    const file = await readInSkill(skill.folder, path, LONGEST_FILE);
    // A link may lead to a file that may not be read.
    return file && this.#mayRead(skill, file.name) ? file.text : undefined;
  }

  async #at(label: string): Promise<Skill> {
    const skill = (await this.list()).skills.find((one) => one.label === label);
    if (skill === undefined) {
      throw new Error(`Cannot find the skill ${label}: its folder is gone. See :Agent skills.`);
    }
    return skill;
  }

  async #read(place: FoundSkill, content: SkillFolder): Promise<Skill> {
    const { folder, folderName, label, path, isUsers } = place;
    const file = readSkillFile(content.text, folderName);
    const { hash, off = false } = await this.#trust.of(place);
    const isApproved = isUsers || hash === content.hash;
    const state = off ? "off" : isApproved ? "on" : hash === undefined ? "new" : "changed";
    return { folder, folderName, label, path, isUsers, file, content, state };
  }

  /** @returns whether the user approves it */
  async #ask(skill: Skill, confirm: ConfirmSkill, isWanted: boolean): Promise<boolean> {
    const { label, content: { hash } } = skill;
    const isRejected = this.#rejected.get(label) === hash && !isWanted;
    const answer = isRejected ? false : await confirm(skill);
    if (answer === false) this.#rejected.set(label, hash);
    if (answer !== true) return false;
    this.#rejected.delete(label);
    await this.#trust.note(skill, { hash, off: false });
    return true;
  }

  #mayRead({ path }: Skill, file: string): boolean {
    const name = `${path}/${file}`;
    return mayRead({ relative: name, named: name }, this.#options.rules()).verdict === "allow";
  }
}

/** A name of the project's, which may contain line breaks. */
function nameLine(name: string): string {
  return middleCut(name, LONGEST_PATH);
}

/** Everything that the user approves, below the title. */
export function describeSkill({ label, file, content: { text, files, links }, state }: Skill): string {
  const { tools, warnings } = file;
  const lead = [
    ...state === "changed" ? ["IT HAS CHANGED since you approved it."] : [],
    `From ${nameLine(label)}. The model follows it; it grants no permission.`,
    ...tools === "" ? [] : [`It would like to use ${tools}. Approvals and rules decide that.`],
    ...warnings.map((warning) => `Note: ${warning}.`),
    ...files.length === 0 ? [] : [`Its other files: ${files.map(nameLine).join(", ")}`],
    ...links === 0 ? [] : [`${plural(links, "link")} out of its folder: not followed.`],
  ];
  return visible([...lead, "", text].join("\n"));
}
