/** Modes that files describe: the user's, then the project's. What is wrong with one of them concerns that one alone. */
import { join } from "node:path";
import { type FileRules } from "../../protocol/config.ts";
import { OwnMode } from "../../protocol/modes.ts";
import { mayRead } from "../../policy/file_access.ts";
import { readModeFile } from "../../policy/mode_file.ts";
import { isInside } from "../../policy/path.ts";
import { oneFile } from "../system/one_file.ts";

const FOLDER = join(".agents", "agents");
const END = ".md";
const MOST_FILES = 50;
const MOST_BYTES = 64 * 1024;

export interface ModeFiles {
  readonly modes: readonly OwnMode[];
  /** One line each. */
  readonly problems: readonly string[];
}

export interface ModeFileOptions {
  /** Real path of the project's folder. */
  readonly root: string;
  /** Neovim's folder of settings; undefined where there is none. */
  readonly configDir: string | undefined;
  readonly rules: FileRules;
  /** Models that the user knows. */
  readonly known: readonly string[];
}

export async function modeFiles({ root, configDir, rules, known }: ModeFileOptions): Promise<ModeFiles> {
  const modes = new Map<string, OwnMode>();
  const problems: string[] = [];
  const take = async (folder: string, name: string, isUsers: boolean) => {
    const path = join(folder, name);
    const shown = isUsers ? path : join(FOLDER, name);
    try {
      if (!isUsers && mayRead({ relative: shown, named: shown }, rules).verdict !== "allow") return;
      const { real, text } = await oneFile(path, MOST_BYTES);
      // A link would hand the engine a file that it cannot read itself.
      if (!isUsers && !isInside(real, root)) throw new Error("it leads out of the project");
      const mode = readModeFile(text, name.slice(0, -END.length), { known, isUsers });
      // The user's come first: no project takes their place.
      if (modes.has(mode.name)) throw new Error(`another mode is called ${mode.name}`);
      modes.set(mode.name, mode);
    } catch (error) {
      problems.push(`Cannot use ${shown}: ${error instanceof Error ? error.message : String(error)}.`);
    }
  };
  const folders = [
    ...configDir === undefined ? [] : [[join(configDir, "agent", "agents"), true] as const],
    [join(root, FOLDER), false] as const,
  ];
  for (const [folder, isUsers] of folders) {
    for (const name of await namesIn(folder)) await take(folder, name, isUsers);
  }
  return { modes: [...modes.values()], problems };
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
