/** Finds the folders of skills, the project's before the user's. */
import { basename, join, relative } from "node:path";
import { isInGit, mayRead } from "../../policy/file_access.ts";
import { isInside } from "../../policy/path.ts";
import { nameInRoots } from "../../policy/roots.ts";
import type { FileRules } from "../../protocol/config.ts";
import { messageOf } from "../../shared/errors.ts";
import { SKILL_FILE } from "./skill_folder.ts";
import type { SkillPlace } from "./skill_trust.ts";

/** Below each root of the project. */
const IN_PROJECT = [".agents/skills", ".claude/skills", ".github/skills"];
/** Below the user's home. */
const IN_HOME = [".agents/skills", ".claude/skills"];
/** Below Neovim's configuration folder. */
const IN_CONFIG = join("agent", "skills");

/** Folders that are looked at, in each of these. */
const MOST_FOLDERS = 200;

export interface SkillRoots {
  /** Real paths, the project first. */
  readonly roots: readonly string[];
  readonly home: string | undefined;
  /** Neovim's configuration folder; undefined if it has none. */
  readonly configDir: string | undefined;
}

export interface FoundSkill extends SkillPlace {
  /** Real path of its folder. */
  readonly folder: string;
  /** The folder's name, also if it is a link. */
  readonly folderName: string;
  /** For tools and commands: relative to the project, else absolute. */
  readonly path: string;
}

export interface Skills<One> {
  /** The first of a name that is on is used. */
  readonly skills: readonly One[];
  /** One line each. */
  readonly problems: readonly string[];
}

/** Never rejects. @param rules of the project's files */
export async function findSkills(places: SkillRoots, rules: FileRules): Promise<Skills<FoundSkill>> {
  const { roots } = places;
  const problems: string[] = [];
  const ofUsers = (await Promise.all(userFolders(places).map(({ folder, label }) => skillsIn(folder, label))))
    .flat();
  const ofProjects = await Promise.all(
    projectFolders(places).map(async ({ root, folder, label }) =>
      (await skillsIn(folder, label)).map((skill) => ({ ...skill, root }))
    ),
  );
  const users: FoundSkill[] = [];
  const inside: (SkillFolderPlace & { readonly root: string })[] = ofProjects.flat();
  for (const skill of ofUsers) {
    const root = roots.find((one) => isInside(skill.folder, one));
    // The agent writes in the project, also where a link of the user's leads.
    if (root !== undefined) inside.push({ ...skill, root });
    else users.push({ ...skill, path: skill.folder, isUsers: true });
  }
  const projects = inside.flatMap(({ root, ...skill }): readonly FoundSkill[] => {
    try {
      const path = pathInProject(skill, root, roots, rules);
      return path === undefined ? [] : [{ ...skill, path, isUsers: false }];
    } catch (error) {
      problems.push(`Cannot use the skill ${skill.label}: ${messageOf(error)}.`);
      return [];
    }
  });
  // A skill that is linked into several folders counts once.
  const seen = new Set<string>();
  const skills = [...projects, ...users].filter(({ folder }) => !seen.has(folder) && seen.add(folder));
  return { skills, problems };
}

interface Folder {
  readonly folder: string;
  readonly label: string;
}

interface SkillFolderPlace extends Folder {
  readonly folderName: string;
}

function userFolders({ home, configDir }: SkillRoots): readonly Folder[] {
  const config = configDir && join(configDir, IN_CONFIG);
  const name = (path: string) =>
    home !== undefined && home !== "/" && isInside(path, home) ? join("~", relative(home, path)) : path;
  return [
    ...config === undefined ? [] : [{ folder: config, label: name(config) }],
    ...home === undefined ? [] : IN_HOME.map((part) => ({ folder: join(home, part), label: `~/${part}` })),
  ];
}

function projectFolders({ roots }: SkillRoots): readonly (Folder & { readonly root: string })[] {
  return roots.flatMap((root, at) =>
    IN_PROJECT.map((part) => ({
      root,
      folder: join(root, part),
      label: at === 0 ? part : `${basename(root)}/${part}`,
    }))
  );
}

/** The folders with a SKILL.md. */
async function skillsIn(
  folder: string,
  label: string,
): Promise<readonly SkillFolderPlace[]> {
  const names: string[] = [];
  try {
    for await (const { name, isFile } of Deno.readDir(folder)) if (!isFile) names.push(name);
  } catch {
    return [];
  }
  const found = await Promise.all(
    names.sort().slice(0, MOST_FOLDERS).map(async (name) => {
      const path = join(folder, name);
      const isThere = await Deno.lstat(join(path, SKILL_FILE)).then(() => true, () => false);
      const real = isThere ? await Deno.realPath(path).catch(() => undefined) : undefined;
      return real === undefined ? [] : [{ folder: real, folderName: name, label: `${label}/${name}` }];
    }),
  );
  return found.flat();
}

/** Undefined if it may not be read. @throws {Error} half a sentence */
function pathInProject(
  { folder, label }: Folder,
  root: string,
  roots: readonly string[],
  rules: FileRules,
): string | undefined {
  const path = nameInRoots(folder, roots);
  if (path === undefined || !isInside(folder, root)) throw new Error("it leads out of the project");
  const file = { relative: `${path}/${SKILL_FILE}`, named: `${label}/${SKILL_FILE}` };
  return isInGit(file) || mayRead(file, rules).verdict !== "allow" ? undefined : path;
}
