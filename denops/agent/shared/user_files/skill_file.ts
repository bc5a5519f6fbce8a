/**
 * Parses the SKILL.md of a skill. Pure. Source: agentskills.io/specification (name, description, compatibility,
 * allowed-tools; license and metadata are ignored). A skill grants no permission.
 */
import { FrontMatter } from "../front_matter.ts";

export interface SkillFile {
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** Its requirements, one line; "" for none. */
  readonly compatibility: string;
  /** The tools that it would like to use, one line; "" for none. */
  readonly tools: string;
  readonly body: string;
  /** Differences from the specification, half a sentence each. */
  readonly warnings: readonly string[];
}

const LONGEST_NAME = 64;
const LONGEST_DESCRIPTION = 1_024;
const LONGEST_COMPATIBILITY = 500;
const LONGEST_TOOLS = 500;
const NAME = /^[a-z\d]+(?:-[a-z\d]+)*$/;

/** @param folder the name of its folder @throws {Error} one line: why it cannot be used */
export function readSkillFile(text: string, folder: string): SkillFile {
  const matter = FrontMatter.of(text);
  if (matter === undefined) throw new Error("it does not begin with settings between two lines of ---");
  const warnings: string[] = [];
  const line = (setting: string, most: number) => {
    const whole = (matter.text(setting) ?? "").replace(/\s+/g, " ").trim();
    if (whole.length <= most) return whole;
    warnings.push(`its ${setting} has more than ${most} characters`);
    return `${whole.slice(0, most - 1).toWellFormed()}…`;
  };
  const description = line("description", LONGEST_DESCRIPTION);
  if (description === "") throw new Error("it has no description");
  const name = nameOf(matter.text("name"), folder, warnings);
  return {
    name,
    description,
    compatibility: line("compatibility", LONGEST_COMPATIBILITY),
    tools: line("allowed-tools", LONGEST_TOOLS),
    body: matter.body,
    warnings,
  };
}

/** The name in the file, or the folder's if that one cannot be used. */
function nameOf(written: string | undefined, folder: string, warnings: string[]): string {
  if (written !== undefined && isName(written)) {
    if (written !== folder) warnings.push(`its name is ${written}, and its folder's is another`);
    return written;
  }
  const name = folder.toLowerCase();
  if (!isName(name)) {
    throw new Error(`its name must be lower-case letters, digits and hyphens, ${LONGEST_NAME} at most`);
  }
  warnings.push(written === undefined ? "it has no name" : "its name is not valid");
  return name;
}

function isName(name: string): boolean {
  return name.length <= LONGEST_NAME && NAME.test(name);
}

/** Characters of the names of a skill's files. */
const MOST_FILE_NAMES = 4_000;

/**
 * A skill as models read it.
 * @param version changes with the text @param folder as tools and commands name it
 * @param files relative to the folder, without SKILL.md
 */
export function skillText(
  { name, compatibility, body }: Pick<SkillFile, "name" | "compatibility" | "body">,
  { version, folder, files }: {
    readonly version: string;
    readonly folder: string;
    readonly files: readonly string[];
  },
): string {
  let room = MOST_FILE_NAMES;
  const named = files.filter((file) => (room -= file.length + 2) > 0);
  const left = files.length - named.length;
  const list = [...named, ...left === 0 ? [] : [`and ${left} more`]].join(", ");
  return [
    `Skill ${name}, version ${version}. Its folder is ${folder}; the paths in it are relative to that.`,
    ...list === "" ? [] : [`Its other files: ${list}`],
    ...compatibility === "" ? [] : [`It needs: ${compatibility}`],
    "",
    body,
  ].join("\n");
}

/** The name of the skill whose text this is; undefined for other texts. */
export function skillNameIn(text: string): string | undefined {
  return /^Skill ([a-z\d-]{1,64}), version [\da-f]{12}\. Its folder is /.exec(text)?.[1];
}
