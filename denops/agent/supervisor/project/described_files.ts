/** Reads Markdown files that define modes and prompts, the user's before the project's. */
import { join, relative } from "node:path";
import type { FileRules } from "../../protocol/config.ts";
import { isInGit, mayRead } from "../../policy/file_access.ts";
import { isInside } from "../../policy/path.ts";
import { oneFile } from "../system/one_file.ts";
import { messageOf } from "../../shared/errors.ts";

const END = ".md";
const MOST_FILES = 50;
const MOST_BYTES = 64 * 1024;

export interface DescribedPlace {
  /** Real path of the project's folder. */
  readonly root: string;
  /** Neovim's configuration folder; undefined if it has none. */
  readonly configDir: string | undefined;
  readonly rules: FileRules;
}

interface DescribedFile {
  readonly text: string;
  /** The file's name without its extension. */
  readonly name: string;
  readonly isUsers: boolean;
  /** The file's name in messages. */
  readonly label: string;
}

/**
 * @param own below the user's folder, `projects` below the project's @returns problems with files, one line
 * each
 */
export async function eachDescribed(
  { root, configDir, rules }: DescribedPlace,
  { own, projects }: { readonly own: string; readonly projects: readonly string[] },
  take: (file: DescribedFile) => void,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const one = async (folder: string, file: string, within: string | undefined) => {
    const path = join(folder, file);
    const isUsers = within === undefined;
    const label = isUsers ? path : join(within, file);
    try {
      if (!isUsers && mayRead({ relative: label, named: label }, rules).verdict !== "allow") return;
      const { real, text } = await oneFile(path, MOST_BYTES);
      // A link would give the engine a file that it cannot read itself.
      if (!isUsers && !isInside(real, root)) throw new Error("it leads out of the project");
      const target = { relative: relative(root, real), named: label };
      if (!isUsers && (isInGit(target) || mayRead(target, rules).verdict !== "allow")) {
        throw new Error(`${target.relative} may not be read`);
      }
      take({ text, name: file.slice(0, -END.length), isUsers, label });
    } catch (error) {
      problems.push(`Cannot use ${label}: ${messageOf(error)}.`);
    }
  };
  const folders = [
    ...configDir === undefined ? [] : [[join(configDir, own), undefined] as const],
    ...projects.map((within) => [join(root, within), within] as const),
  ];
  for (const [folder, within] of folders) {
    for (const file of await namesIn(folder)) await one(folder, file, within);
  }
  return problems;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    const names: string[] = [];
    for await (const { name } of Deno.readDir(folder)) if (name.endsWith(END)) names.push(name);
    return names.sort().slice(0, MOST_FILES);
  } catch {
    return [];
  }
}
